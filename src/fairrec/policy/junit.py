"""The outcome of a gate as JUnit XML, which every build server shows."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from fairrec.policy.outcome import GateResult, RuleOutcome
from fairrec.policy.words import headline

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
        "testcase", {"classname": "fairrec.gate", "name": _text(name), "time": "0"}
    )
    if rule.outcome == "passed":
        ElementTree.SubElement(case, "system-out").text = _text(rule.measured)
    elif gate.counts_as_failed(rule):
        found = {"message": _text(rule.measured), "type": rule.outcome}
        failure = ElementTree.SubElement(case, "failure", found)
        failure.text = _text(f"{rule.what}\n{rule.measured}\nto pass: {rule.explanation}")
    else:
        warns = "warning only: " if rule.severity == "warn" else ""
        message = _text(f"{warns}{rule.outcome}: {rule.measured}")
        ElementTree.SubElement(case, "skipped", {"message": message})
    return case


def _text(text: str) -> str:
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)
