"""The outcome of a gate as text, Markdown, JUnit XML and annotations of GitHub."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from xml.etree import ElementTree

from fairrec.gating.policy import GateResult, RuleOutcome
from fairrec.report.answer import Answer, Tone
from fairrec.report.text import escape
from fairrec.report.words import plural

MARKS = {"failed": "FAIL", "inconclusive": "OPEN", "passed": "PASS"}


def headline(gate: GateResult) -> str:
    """The outcome of all rules in one sentence."""
    deciding = [rule for rule in gate.rules if rule.severity == "fail"]
    n = sum(rule.outcome == gate.outcome for rule in deciding)
    checks = plural(len(deciding), "check")
    text = {
        "failed": f"Failed: {n:,} of {checks}",
        "inconclusive": f"Inconclusive: {n:,} of {checks}; none failed",
        "passed": f"Passed: {checks}",
    }[gate.outcome]
    if gate.outcome == "inconclusive" and gate.inconclusive is not None:
        counts_as = "failure" if gate.inconclusive == "fail" else "pass"
        text = f"Inconclusive, which counts as a {counts_as}: {n:,} of {checks}"
    warned = sum(rule.outcome == "failed" for rule in gate.rules if rule.severity == "warn")
    return f"{text}; {plural(warned, 'warning')}." if warned else f"{text}."


def _what(rule: RuleOutcome) -> str:
    is_warning = rule.severity == "warn" and rule.outcome != "passed"
    return f"{rule.what} (warning only)" if is_warning else rule.what


def _lines(rules: Iterable[RuleOutcome], explain: bool, indent: str = "") -> list[str]:
    """A line for each rule, and one for what it takes to pass."""
    lines = []
    for rule in rules:
        lines.append(f"{MARKS[rule.outcome]}  {_what(rule)} | {rule.measured}")
        if explain and rule.outcome != "passed":
            lines.append(f"{indent}to pass: {rule.explanation}")
    return lines


def gate_answer(gate: GateResult, *, explain: bool = False) -> Answer:
    """The outcome of all rules, then a line for each, those that do not pass first.

    Parameters
    ----------
    explain : whether to say what would have to be true for rules to pass that do not
    """
    rules = sorted(gate.rules, key=lambda rule: [*MARKS].index(rule.outcome))
    look = gate.look if gate.look and gate.outcome != "passed" else ""
    tones: dict[str, Tone] = {"failed": "found", "passed": "clear"}
    return Answer(
        tone=tones.get(gate.outcome, "open"),
        headline=headline(gate),
        others=tuple(_lines(rules, explain)),
        next_steps=(f"look deeper: {look}",) if look else (),
    )


def to_text(gate: GateResult, *, explain: bool = False) -> str:
    """One line a rule, then the outcome of all."""
    look = f" Look deeper: {gate.look}" if gate.look and gate.outcome != "passed" else ""
    return "\n".join([*_lines(gate.rules, explain, " " * 6), f"{headline(gate)}{look}"])


def to_markdown(gate: GateResult, *, explain: bool = False) -> str:
    """A table with one row a rule."""
    heads = ["", "rule", "measured", *(["to pass"] if explain else [])]
    about = " · ".join(filter(None, (gate.title, gate.model)))
    rows = [heads, ["---"] * len(heads)]
    for rule in gate.rules:
        to_pass = "" if rule.outcome == "passed" else rule.explanation
        cells = [MARKS[rule.outcome], _what(rule), rule.measured, to_pass]
        rows.append([*map(escape, cells[: len(heads)])])
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    look = f"Look deeper: {escape(gate.look)}" if gate.look else ""
    parts = (f"### FairRec: {headline(gate)}", escape(about), table, look)
    return "\n\n".join(filter(None, parts)) + "\n"


def to_junit(gate: GateResult) -> str:
    """One test suite with one test case a rule.

    What is inconclusive is skipped, unless it counts as failed; warnings are skipped too.
    """
    cases = [_case(rule, gate) for rule in gate.rules]
    counts = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "errors": 0,
        "skipped": sum(case.find("skipped") is not None for case in cases),
    }
    numbers = {name: str(n) for name, n in counts.items()}
    suites = ElementTree.Element("testsuites", {"name": "fairrec", **numbers})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "fairrec gate", **numbers})
    suite.extend(cases)
    ElementTree.SubElement(suite, "system-out").text = headline(gate)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _case(rule: RuleOutcome, gate: GateResult) -> ElementTree.Element:
    name = f"{rule.number}. {rule.what}" if rule.number else rule.what
    case = ElementTree.Element("testcase", {"classname": "fairrec.gate", "name": name, "time": "0"})
    if rule.outcome == "passed":
        ElementTree.SubElement(case, "system-out").text = rule.measured
    elif gate.counts_as_failed(rule):
        found = {"message": rule.measured, "type": rule.outcome}
        failure = ElementTree.SubElement(case, "failure", found)
        failure.text = f"{rule.what}\n{rule.measured}\nto pass: {rule.explanation}"
    else:
        warns = "warning only: " if rule.severity == "warn" else ""
        message = f"{warns}{rule.outcome}: {rule.measured}"
        ElementTree.SubElement(case, "skipped", {"message": message})
    return case


def to_annotations(gate: GateResult) -> str:
    """One workflow command for each rule that does not pass; nothing where all do."""
    lines = []
    for rule in gate.rules:
        if rule.outcome != "passed":
            level = "error" if gate.counts_as_failed(rule) else "warning"
            # text that cannot end the command or begin another one
            text = f"{rule.what}: {rule.measured}".replace("%", "%25").replace("\n", "%0A")
            lines.append(f"::{level} title=FairRec {rule.outcome}::{text}\n")
    return "".join(lines)


@contextmanager
def as_text(echo: Callable[[str], None]) -> Iterator[None]:
    """Let GitHub see no command in what is printed meanwhile, which may hold outside text.

    Parameters
    ----------
    echo : prints a line
    """
    token = secrets.token_hex(16)
    echo(f"::stop-commands::{token}")
    try:
        yield
    finally:
        echo(f"::{token}::")
