"""Rules about the share of users whom a counterfactual affects, all groups together.

Groups that are all affected alike differ in nothing, so that no limit on their differences tells
how many are.
"""

from __future__ import annotations

from fairrec.core.errors import InputError, plain
from fairrec.core.options import spelled
from fairrec.policy.outcome import Passing, RuleOutcome
from fairrec.policy.rules import Rule
from fairrec.report.words import numbers, plural
from fairrec.result.counterfactual import Affected


def judge_affected(rule: Rule, affected: Affected | None, place: int) -> RuleOutcome:
    """The outcome of a rule with max_affected, by the interval of the share among all users.

    Parameters
    ----------
    affected : None where the result is no counterfactual
    place : of the rule in its policy
    """
    if affected is None:
        raise InputError(
            "has max_affected, which is about a counterfactual: the share of users for whom "
            "another attribute alone changes the list. Name the folder that fairrec counterfactual "
            "wrote"
        )
    if rule.metric != affected.metric:
        raise InputError(
            f"has max_affected for {plain(rule.metric)}, and the share of users affected is that "
            f'of {plain(affected.metric)}. Write metric = "{plain(affected.metric)}"'
        )
    assert rule.max_affected is not None
    limit = rule.max_affected
    share, low, high, _ = (
        f"{text}%"
        for text in numbers(
            *(100 * x for x in (affected.share, affected.low, affected.high, limit))
        )
    )
    outcome: Passing = "inconclusive"
    if affected.low > limit:
        outcome = "failed"
    elif affected.high <= limit:
        outcome = "passed"
    # without an interval everybody was scored
    is_exact = affected.low == affected.high
    to_pass = f"fewer users would have to be affected: at most {100 * limit:g}%"
    if outcome == "inconclusive":
        to_pass = (
            f"the interval would have to end at {100 * limit:g}% or below: score more users, by a "
            f"smaller {spelled('margin')} or a larger {spelled('budget_users')}"
        )
    return RuleOutcome(
        number=place,
        kind="max_affected",
        metric=rule.metric,
        severity=rule.severity,
        outcome=outcome,
        limit=limit,
        what=f"{plain(rule.metric)}: at most {100 * limit:g}% of users are affected",
        measured=f"{share} of {plural(affected.n, 'user')} are"
        + (", and all were scored" if is_exact else f" ({low} to {high} of all)"),
        explanation="passes" if outcome == "passed" else to_pass,
        decided_by=None,
        n_failed=0,
        n_open=0,
        n_ruled_out=0,
    )
