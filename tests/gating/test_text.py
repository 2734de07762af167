"""The outcome of a gate in lines."""

from __future__ import annotations

from fairrec.gating.formats import to_text
from tests.gating.judged_gate import gate_of, rule_of


def test_one_line_a_rule_and_one_for_all():
    gate = gate_of(rule_of("failed"), rule_of("passed"), rule_of("inconclusive", "warn"), look="x")
    assert to_text(gate).split("\n") == [
        "FAIL  hits: what measured | measured",
        "PASS  hits: what measured | measured",
        "OPEN  hits: what measured (warning only) | measured",
        "Failed: 1 of 2 checks. Look deeper: x",
    ]


def test_what_would_have_to_be_true_is_said_of_what_does_not_pass():
    lines = to_text(gate_of(rule_of("failed"), rule_of("passed")), explain=True).split("\n")
    assert lines[1] == "      to pass: explained measured"
    assert len(lines) == 4
