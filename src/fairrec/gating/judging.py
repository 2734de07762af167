"""A rule and what was measured -> failed, passed or inconclusive.

A rule fails where a group is shown to be worse by more than the limit, and passes where that is
ruled out for every group that has to be. Both rest on intervals that hold for all groups at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray
from fairrec.core.errors import InputError, plain, unknown_name
from fairrec.core.options import Blank, spelled
from fairrec.counterfactuals.result import Affected
from fairrec.gating import words
from fairrec.gating.harms import GroupHarms, difference_harms, ratio_harms
from fairrec.gating.policy import JudgedGroup, Passing, Policy, Require, Rule, RuleOutcome
from fairrec.gating.release_rules import Trends, judge_over_releases
from fairrec.report.words import numbers, percent, plural
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.statistics.verdict import BY_MORE, RULED_OUT, WORSE, ruled_out_from


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
    )


_MOST_PERCENT = 100
Changes = Callable[[str], GroupHarms]
"""Metric -> how much worse each group is than in the baseline."""


@dataclass(frozen=True, slots=True)
class Measurements:
    """All that rules are judged by.

    Parameters
    ----------
    groups : the table of groups
    changes : None without a baseline
    trends : of this and earlier releases; None without any
    affected : the share of users whom a counterfactual affects; None where it is none
    """

    summary: AuditSummary
    groups: pl.DataFrame
    changes: Changes | None = None
    trends: Trends | None = None
    affected: Affected | None = None

    def about(self, metric: str) -> MetricResult:
        """The result of a metric; an error where the audit has no such one."""
        metrics = self.summary.metrics
        if metric not in metrics:
            raise unknown_name("metric in this audit", metric, metrics)
        return metrics[metric]

    def harms(self, rule: Rule) -> GroupHarms:
        """The harms that a rule limits."""
        if rule.kind == "min_ratio":
            return ratio_harms(self.groups, self.summary, rule.metric)
        if rule.kind == "baseline":
            if self.changes is None:
                raise InputError(no_baseline())
            self._refuse_no_better_end(rule.metric)
            return self.changes(rule.metric)
        either_way = rule.kind == "max_difference"
        if not either_way:
            self._refuse_no_better_end(rule.metric)
        return difference_harms(
            self.groups,
            self.summary,
            rule.metric,
            either_way=either_way,
            is_at_worst=rule.unknown == "worst",
        )

    def _refuse_no_better_end(self, metric: str) -> None:
        if self.about(metric).higher_is_better is None:
            raise InputError(
                f"neither end of {plain(metric)} is better, so no group is worse in it. Limit the "
                "difference instead: max_difference"
            )


def no_baseline() -> str:
    """What is said of a rule with baseline where none was given."""
    return f"has baseline, and none was given. Name one: {spelled('baseline', Blank('AUDIT'))}"


def judge_policy(policy: Policy, measured: Measurements, where: str) -> tuple[RuleOutcome, ...]:
    """The outcome of every rule, and of what is required.

    Parameters
    ----------
    where : the policy, for errors
    """
    found = []
    for number, rule in enumerate(policy.rule, start=1):
        try:
            found.append(judge(rule, policy.require, measured, number))
        except (InputError, ValueError) as error:
            raise InputError(f"{where}: rule {number}: {error}") from error
    return (*found, *_required(policy, measured))


def judge(rule: Rule, require: Require, measured: Measurements, number: int) -> RuleOutcome:
    """The outcome of one rule."""
    about = measured.about(rule.metric)
    if rule.kind == "max_affected":
        return judge_affected(rule, measured.affected, number)
    if rule.kind == "trend":
        # a group that no audit has would never be worse, and so pass
        named = difference_harms(measured.groups, measured.summary, rule.metric)
        for group in rule.groups:
            named.position(group)
        return judge_over_releases(rule, measured.trends, number, is_conclusive=about.is_conclusive)
    limit = _limit(rule, about)
    harms = measured.harms(rule)
    outcomes = harms.outcomes(limit)
    looked_at, must_pass = _scope(rule, require, harms, measured.summary)
    is_failed = looked_at & (outcomes == BY_MORE)
    is_open = must_pass & (outcomes != RULED_OUT)
    outcome: Passing = "passed"
    if is_failed.any():
        outcome = "failed"
    elif is_open.any() or not must_pass.any():
        outcome = "inconclusive"
    is_worse = is_open & (outcomes == WORSE)
    decided = _decided_by(harms, outcome, is_failed, is_worse, is_open, must_pass)
    n_failed, n_open = int(is_failed.sum()), int(is_open.sum())
    n_ruled_out = int((must_pass & ~is_open).sum())
    judged = None if decided is None else _judged_group(harms, decided)
    said = words.Said(
        rule=rule,
        limit=limit,
        about=about,
        summary=measured.summary,
        certify_from=require.certify_from,
        outcome=outcome,
        decided_by=judged,
        n_failed=n_failed,
        n_open=n_open,
        n_must_pass=int(must_pass.sum()),
        is_conclusive=harms.is_conclusive,
        # of what is open, the limit with which it would not be
        least_limit=float(harms.interval.high[must_pass].max(initial=0.0)),
        # what is shown worse, but may be within the limit, is not ruled out either
        ruled_out_from=ruled_out_from(outcomes[looked_at] != RULED_OUT, harms.support[looked_at]),
        at_worst=_beyond_at_worst(harms, must_pass, limit),
    )
    return RuleOutcome(
        number=number,
        kind=rule.kind,
        metric=rule.metric,
        severity=rule.severity,
        outcome=outcome,
        limit=limit if rule.min_ratio is None else rule.min_ratio,
        what=said.what,
        measured=said.measured,
        explanation=said.explanation,
        decided_by=judged if judged is None or rule.min_ratio is None else _as_ratio(judged),
        n_failed=n_failed,
        n_open=n_open,
        n_ruled_out=n_ruled_out,
    )


def _beyond_at_worst(
    harms: GroupHarms, must_pass: BoolArray, limit: float
) -> tuple[str, float] | None:
    """The group that may be furthest beyond the limit if unknown attributes were known."""
    at = _largest(harms.at_worst, must_pass & (harms.at_worst > limit))
    return None if at is None else (harms.label(at), float(harms.at_worst[at]))


def _as_ratio(lacking: JudgedGroup) -> JudgedGroup:
    """The share that a group has instead of what it lacks."""
    low, high = (None if end is None else 1 - end for end in reversed(lacking.interval))
    size = None if lacking.measured is None else 1 - lacking.measured
    return lacking.model_copy(update={"measured": size, "interval": (low, high)})


def _limit(rule: Rule, about: MetricResult) -> float:
    """In the units of what is judged."""
    if rule.min_ratio is not None:
        return 1 - rule.min_ratio
    if rule.limit is not None:
        if rule.limit.is_share and not about.is_ratio_scale:
            raise InputError(
                f"{plain(rule.metric)} has no share of its mean that says anything, as its values "
                f"have no zero that means none of it. Give {rule.kind} as a number"
            )
        limit = rule.limit.of(about.mean)
        _refuse_unfit(rule, limit, about)
        return limit
    if about.verdict is None or about.verdict.tolerance is None:
        name = "tolerance" if rule.kind == "baseline" else "max_worse"
        raise InputError(
            f"has no limit, and nothing was said to matter in the audit. Add {name} = 0.03, or "
            f"audit with {spelled('tolerance', 0.03)}"
        )
    return about.verdict.tolerance


def _refuse_unfit(rule: Rule, limit: float, about: MetricResult) -> None:
    """An error for a limit that nothing could be beyond, which everything would pass."""
    low, high = about.bounds or (None, None)
    if low is None or high is None or limit < high - low:
        return
    name = "tolerance" if rule.kind == "baseline" else rule.kind
    meant = f' Was "{rule.limit}%" of the mean meant?' if limit <= _MOST_PERCENT else ""
    raise InputError(
        f"{name} = {rule.limit}: {plain(rule.metric)} runs from {low:g} to {high:g}, so nothing "
        f"can be beyond. Give a limit below {high - low:g}.{meant}"
    )


def _scope(
    rule: Rule, require: Require, harms: GroupHarms, summary: AuditSummary
) -> tuple[BoolArray, BoolArray]:
    """(n_groups,), the groups that a rule is about, and those that must be ruled out."""
    everyone = np.ones(len(harms), dtype=np.bool_)
    if rule.groups:
        named = np.zeros(len(harms), dtype=np.bool_)
        for group in rule.groups:
            named[harms.position(group)] = True
        return named, named
    if require.certify_from is None:
        # with depth=full there is none of one attribute
        return everyone, harms.depth == min(harms.depth.tolist(), default=1)
    least = summary.coverage.min_users
    if require.certify_from < least:
        raise InputError(
            f"certify_from is {require.certify_from:,}, but the audit looked at groups of "
            f"{least:,} {summary.unit.many} or more, so that smaller ones are not known. Raise "
            f"certify_from, or audit with a lower {spelled('min_support')}"
        )
    return everyone, harms.support >= require.certify_from


def _decided_by(
    harms: GroupHarms,
    outcome: Passing,
    is_failed: BoolArray,
    is_worse: BoolArray,
    is_open: BoolArray,
    must_pass: BoolArray,
) -> int | None:
    """The group that decides: the one surely worst, or the one that may be.

    One that is shown worse, if perhaps within the limit, comes before one of which little is known.
    """
    if outcome == "failed" or is_worse.any():
        return _largest(harms.interval.low, is_failed if outcome == "failed" else is_worse)
    return _largest(harms.interval.high, is_open if is_open.any() else must_pass)


def _largest(ends: np.ndarray, among: BoolArray) -> int | None:
    at = np.flatnonzero(among)
    return int(at[np.argmax(ends[at])]) if len(at) else None


def _judged_group(harms: GroupHarms, at: int) -> JudgedGroup:
    low, high, size = (float(part[at]) for part in (*harms.interval, harms.size))
    return JudgedGroup(
        group={**harms.group(at)},
        label=harms.label(at),
        support=int(harms.support[at]),
        measured=size if np.isfinite(size) else None,
        interval=(low if np.isfinite(low) else None, high if np.isfinite(high) else None),
    )


def _required(policy: Policy, measured: Measurements) -> list[RuleOutcome]:
    """What is required of the data behind every metric that a rule is about."""
    most = policy.require.max_undefined
    if most is None:
        return []
    found = []
    for metric in dict.fromkeys(rule.metric for rule in policy.rule):
        share = measured.about(metric).undefined_share
        is_too_much, many = share > most, measured.summary.unit.many
        severities = [rule.severity for rule in policy.rule if rule.metric == metric]
        found.append(
            RuleOutcome(
                number=0,
                kind="max_undefined",
                metric=metric,
                severity="fail" if "fail" in severities else "warn",
                outcome="failed" if is_too_much else "passed",
                limit=most,
                what=f"{plain(metric)}: at most {percent(most)} of {many} without a value",
                measured=f"{percent(share)} of {many} have none",
                explanation=f"{percent(most)} or less" if is_too_much else "passes",
            )
        )
    return found
