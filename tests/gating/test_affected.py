"""How many users a counterfactual may affect."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.counterfactuals.result import Affected
from fairrec.gating.judging import judge_affected
from fairrec.gating.policy import Rule
from tests.comparison.two_sides import audit_users
from tests.counterfactuals.flipped_world import blind, flipped
from tests.end_to_end.command_line import run_here


def share(low: float, high: float) -> Affected:
    middle = (low + high) / 2
    return Affected(
        metric="affected@3",
        n=100,
        n_affected=round(100 * middle),
        share=middle,
        low=low,
        high=high,
        margin_wanted=None,
    )


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (0.06, 0.1, "failed"),
        (0.05, 0.1, "inconclusive"),
        (0.01, 0.0501, "inconclusive"),
        (0.01, 0.05, "passed"),
        (0.05, 0.05, "passed"),
        (0.0501, 0.0501, "failed"),
    ],
)
def test_the_bounds_of_the_share_decide(low: float, high: float, outcome: str):
    rule = Rule(metric="affected@3", max_affected=0.05, severity="warn")
    found = judge_affected(rule, share(low, high), 2)
    assert (found.outcome, found.number, found.severity) == (outcome, 2, "warn")
    assert found.what == "affected@3: at most 5% of users are affected"
    assert ("users are, and all were scored" in found.measured) == (low == high)
    assert (found.explanation == "passes") == (outcome == "passed")
    assert ("score more users" in found.explanation) == (outcome == "inconclusive")


def test_digits_that_decide_are_shown():
    found = judge_affected(Rule(metric="affected@3", max_affected=0.05), share(0.01, 0.0501), 1)
    assert found.measured.endswith("of 100 users are (1.000% to 5.010% of all)")


def everybody(user_ids, item_ids, gender, town, age=0) -> np.ndarray:
    """Another order for everyone once gender is another."""
    return np.where(gender == "F", item_ids, -item_ids)


def test_all_groups_affected_alike_pass_limits_on_groups_and_fail_this_one(tmp_path: Path):
    found = flipped(everybody, tolerance={"affected@3": 0.05})
    assert found.summary.affected.share == 1
    alike = {"metric": "affected@3", "max_worse": 0.05}
    many = {"metric": "affected@3", "max_affected": 0.05}
    assert fairrec.gate(found, {"rule": [alike]}).outcome != "failed"
    assert fairrec.gate(found, {"rule": [alike, many]}).outcome == "failed"
    folder = found.save(tmp_path / "flipped", report=False)
    saved = fairrec.gate(folder, {"rule": [many]})
    assert saved.rules == fairrec.gate(found, {"rule": [many]}).rules
    assert fairrec.gate(flipped(blind), {"rule": [many]}).outcome == "passed"
    (tmp_path / "policy.toml").write_text(
        '[[rule]]\nmetric = "affected@3"\nmax_affected = 0.05\n', encoding="utf-8"
    )
    ran = run_here("gate", str(folder), "--policy", str(tmp_path / "policy.toml"), "--explain")
    assert ran.code == 1
    said = "affected@3: at most 5% of users are affected | 100% of 600 users are, and all were"
    assert f"FAIL  {said} scored" in ran.stdout
    assert "to pass: fewer users would have to be affected: at most 5%" in ran.stdout


def test_some_users_leave_a_doubt_that_scoring_all_of_them_ends():
    def twentieth(user_ids, item_ids, gender, town):
        return np.where((gender == "F") & (user_ids % 20 == 0), item_ids, -item_ids)

    rule = {"rule": [{"metric": "affected@3", "max_affected": 0.055}]}
    some = fairrec.gate(flipped(twentieth, budget_users=300, permutations=0), rule)
    assert some.outcome == "inconclusive"
    assert "to end at 5.5% or below: score more users" in some.rules[0].explanation
    everyone = fairrec.gate(flipped(twentieth, permutations=0), rule)
    assert everyone.outcome == "passed"
    assert everyone.rules[0].measured == "5.00% of 600 users are, and all were scored"


def test_only_a_counterfactual_and_its_own_metric_are_judged_so():
    users = audit_users(permutations=0)
    with pytest.raises(InputError, match="rule 1: has max_affected, which is about a counterf"):
        fairrec.gate(users, {"rule": [{"metric": "mrr@5", "max_affected": 0.1}]})
    found = flipped(blind, permutations=0)
    with pytest.raises(InputError, match='Write metric = "affected@3"'):
        fairrec.gate(found, {"rule": [{"metric": "changed@3", "max_affected": 0.1}]})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"max_affected": -0.1}, "max_affected must be a number from 0, below 1"),
        ({"max_affected": 1}, "max_affected must be"),
        ({"max_affected": 5}, "max_affected must be"),
        ({"max_affected": 0.1, "max_worse": 0.1}, "max_worse and max_affected"),
        ({"max_affected": 0.1, "groups": ["gender=F"]}, "about all users, and names groups"),
    ],
)
def test_what_such_a_rule_cannot_be_is_said(given, said):
    with pytest.raises(InputError, match=said):
        fairrec.gate(audit_users(permutations=0), {"rule": [{"metric": "mrr@5", **given}]})


def test_a_policy_may_ask_that_nobody_is_affected():
    nobody = Rule(metric="affected@3", max_affected=0)
    assert judge_affected(nobody, share(0.0, 0.0), 1).outcome == "passed"
    assert judge_affected(nobody, share(0.0, 0.01), 1).outcome == "inconclusive"
    assert judge_affected(nobody, share(0.001, 0.001), 1).outcome == "failed"
