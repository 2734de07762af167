"""The outcome of a gate as text, Markdown, JUnit XML and annotations of GitHub."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from xml.etree import ElementTree

from fairrec.gating.policy import GateResult, RuleOutcome
from fairrec.gating.words import MARKS, headline, line_of
from fairrec.report.text.markdown import escape


def to_text(gate: GateResult, *, explain: bool = False) -> str:
    """One line a rule, then the outcome of all.

    Parameters
    ----------
    explain : whether to say what would have to be true for rules to pass that do not
    """
    lines = []
    for rule in gate.rules:
        lines.append(f"{MARKS[rule.outcome]}  {line_of(rule)}")
        if explain and rule.outcome != "passed":
            lines.append(f"      to pass: {rule.explanation}")
    look = f" Look deeper: {gate.look}" if gate.look and gate.outcome != "passed" else ""
    return "\n".join([*lines, f"{headline(gate)}{look}"])


def to_markdown(gate: GateResult, *, explain: bool = False) -> str:
    """A table with one row a rule.

    Parameters
    ----------
    explain : whether to say what would have to be true for rules to pass that do not
    """
    about = " · ".join(filter(None, (gate.title, gate.model)))
    heads = ["", "rule", "measured", *(["to pass"] if explain else [])]
    lines = [
        f"### FairRec: {headline(gate)}",
        "",
        *([escape(about), ""] if about else []),
        f"| {' | '.join(heads)} |",
        "|---" * len(heads) + "|",
    ]
    for rule in gate.rules:
        warns = " (warning only)" if rule.severity == "warn" else ""
        cells = [MARKS[rule.outcome], escape(rule.what + warns), escape(rule.measured)]
        if explain:
            cells.append("" if rule.outcome == "passed" else escape(rule.explanation))
        lines.append(f"| {' | '.join(cells)} |")
    if gate.look:
        lines += ["", f"Look deeper: {escape(gate.look)}"]
    return "\n".join(lines) + "\n"


_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML 1.0 may hold, not even escaped."""


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
    case = ElementTree.Element(
        "testcase", {"classname": "fairrec.gate", "name": _xml_text(name), "time": "0"}
    )
    if rule.outcome == "passed":
        ElementTree.SubElement(case, "system-out").text = _xml_text(rule.measured)
    elif gate.counts_as_failed(rule):
        found = {"message": _xml_text(rule.measured), "type": rule.outcome}
        failure = ElementTree.SubElement(case, "failure", found)
        failure.text = _xml_text(f"{rule.what}\n{rule.measured}\nto pass: {rule.explanation}")
    else:
        warns = "warning only: " if rule.severity == "warn" else ""
        message = _xml_text(f"{warns}{rule.outcome}: {rule.measured}")
        ElementTree.SubElement(case, "skipped", {"message": message})
    return case


def _xml_text(text: str) -> str:
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def to_annotations(gate: GateResult) -> str:
    """One workflow command for each rule that does not pass; nothing where all do."""
    return "".join(
        f"::{'error' if gate.counts_as_failed(rule) else 'warning'} "
        f"title={_property(f'FairRec {rule.outcome}')}::"
        f"{_data(f'{rule.what}: {rule.measured}')}\n"
        for rule in gate.rules
        if rule.outcome != "passed"
    )


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


def as_json_text(document: str) -> str:
    """A JSON document that says the same, in which GitHub sees no command of the old style."""
    return document.replace("##[", "#\\u0023[")


def _data(text: str) -> str:
    """Text that cannot end the command or begin another one."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
