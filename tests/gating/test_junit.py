"""JUnit XML, as a parser reads it."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from fairrec.gating.formats import to_junit
from tests.gating.judged_gate import HOSTILE, gate_of, rule_of


def read(gate):
    suite = ElementTree.fromstring(to_junit(gate)).find("testsuite")
    kinds = []
    for case in suite.iter("testcase"):
        kinds.append(next((part.tag for part in case if part.tag != "system-out"), "passed"))
    return suite, kinds


def test_a_test_case_a_rule():
    rules = ["failed", "inconclusive", "passed"]
    suite, kinds = read(gate_of(*map(rule_of, rules), rule_of("failed", "warn")))
    assert kinds == ["failure", "skipped", "passed", "skipped"]
    counts = [suite.get(name) for name in ("tests", "failures", "errors", "skipped")]
    assert counts == ["4", "1", "0", "2"]
    assert "explained" in suite.find("testcase/failure").text


@pytest.mark.parametrize(
    ("inconclusive", "kind"), [(None, "skipped"), ("fail", "failure"), ("pass", "skipped")]
)
def test_what_is_inconclusive_is_as_it_counts(inconclusive, kind):
    assert read(gate_of(rule_of("inconclusive"), inconclusive=inconclusive))[1] == [kind]


def test_outside_text_cannot_break_it():
    suite, _ = read(gate_of(rule_of("failed", text=HOSTILE)))
    assert "<i>&" in suite.find("testcase/failure").get("message")
    assert "\x0b" not in suite.find("testcase/failure").get("message")
