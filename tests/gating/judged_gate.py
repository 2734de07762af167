"""Outcomes of gates that tests write themselves."""

from __future__ import annotations

from fairrec.gating.policy import GateResult, JudgedGroup, RuleOutcome, outcome_of_rules
from tests.gating.judged_world import policy_of

HOSTILE = "a|b <i>&\"'\x0b\n::error::x, 50%"


def rule_of(outcome: str, severity: str = "fail", text: str = "measured") -> RuleOutcome:
    """A rule that came out so."""
    return RuleOutcome(
        number=1,
        kind="max_worse",
        metric="hits",
        severity=severity,
        outcome=outcome,
        limit=0.03,
        what=f"hits: what {text}",
        measured=text,
        explanation=f"explained {text}",
        decided_by=JudgedGroup(
            group={"g": "F"}, label="g=F", support=7, measured=0.1, interval=(0.05, None)
        ),
        n_failed=0,
        n_open=0,
        n_ruled_out=0,
    )


def gate_of(*rules: RuleOutcome, inconclusive=None, title: str = "", look: str = "") -> GateResult:
    """The outcome of a gate with these rules."""
    outcome, exit_code = outcome_of_rules(rules, inconclusive)
    return GateResult(
        title=title,
        model="",
        baseline=None,
        inconclusive=inconclusive,
        outcome=outcome,
        exit_code=exit_code,
        look=look,
        policy=policy_of({"metric": "hits", "max_worse": 0.03}),
        rules=rules,
    )
