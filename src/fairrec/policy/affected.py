"""Rules about the share of users whom a counterfactual affects, all groups together.

Groups that are all affected alike differ in nothing, so that no limit on their differences tells
how many are.
"""

from __future__ import annotations

from fairrec.core.errors import InputError, plain
from fairrec.policy.outcome import Passing, RuleOutcome
from fairrec.policy.rules import Rule
from fairrec.report.words import percent, plural
from fairrec.result.counterfactual_schema import Affected


def judge_affected(rule: Rule, affected: Affected | None, place: int) -> RuleOutcome:
    """The outcome of a rule with max_affected, by the confidence interval of the share.

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
    outcome: Passing = "inconclusive"
    if affected.low > limit:
        outcome = "failed"
    elif affected.high < limit:
        outcome = "passed"
    to_pass = f"the interval would have to end below {percent(limit)}"
    if outcome == "inconclusive":
        to_pass += ": more users would have to be scored, or fewer be affected"
    return RuleOutcome(
        number=place,
        kind="max_affected",
        metric=rule.metric,
        severity=rule.severity,
        outcome=outcome,
        limit=limit,
        what=f"{plain(rule.metric)}: at most {percent(limit)} of users are affected",
        measured=(
            f"{percent(affected.share)} of {plural(affected.n, 'user')} are "
            f"({percent(affected.low)} to {percent(affected.high)})"
        ),
        explanation="passes" if outcome == "passed" else to_pass,
        decided_by=None,
        n_failed=0,
        n_open=0,
        n_ruled_out=0,
    )
