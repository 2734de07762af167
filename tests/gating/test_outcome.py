"""What all rules come to."""

from __future__ import annotations

import pytest

from fairrec.gating.policy import GateResult
from tests.gating.judged_gate import gate_of, rule_of


@pytest.mark.parametrize(
    ("outcomes", "inconclusive", "outcome", "exit_code"),
    [
        (["passed", "passed"], None, "passed", 0),
        (["passed", "inconclusive"], None, "inconclusive", 3),
        (["failed", "inconclusive", "passed"], None, "failed", 1),
        (["inconclusive"], "fail", "inconclusive", 1),
        (["inconclusive"], "pass", "inconclusive", 0),
        (["failed", "inconclusive"], "pass", "failed", 1),
    ],
)
def test_what_fails_decides_before_what_is_open(outcomes, inconclusive, outcome, exit_code):
    gate = gate_of(*map(rule_of, outcomes), inconclusive=inconclusive)
    assert (gate.outcome, gate.exit_code) == (outcome, exit_code)
    assert gate.has_passed == (exit_code == 0)
    assert any(map(gate.counts_as_failed, gate.rules)) == (exit_code == 1)


@pytest.mark.parametrize("outcome", ["failed", "inconclusive"])
def test_a_warning_changes_nothing(outcome):
    gate = gate_of(rule_of("passed"), rule_of(outcome, "warn"), inconclusive="fail")
    assert (gate.outcome, gate.exit_code) == ("passed", 0)
    assert not any(map(gate.counts_as_failed, gate.rules))


def test_it_comes_back_from_json():
    gate = gate_of(rule_of("failed"))
    again = GateResult.model_validate_json(gate.model_dump_json())
    assert again.rules == gate.rules and again.exit_code == 1
