"""A rule and what was measured -> failed, passed or inconclusive.

A rule fails where a group is shown to be worse by more than the limit, and passes where that is
ruled out for every group that has to be. Both rest on intervals that hold for all groups at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, finite_or_none
from fairrec.core.errors import InputError, keep_spellings, listed, plain, unknown_name
from fairrec.core.options import Blank, spell
from fairrec.counterfactuals.result import Affected
from fairrec.gating.harms import GroupHarms, difference_harms, ratio_harms
from fairrec.gating.policy import JudgedGroup, Passing, Policy, Require, Rule, RuleOutcome
from fairrec.gating.reports import RuleWords, describe_groups
from fairrec.report.words import group_label, number, numbers, percent, plural
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.statistics.verdict import BEYOND, WITHIN, WORSE, ruled_out_from
from fairrec.trends.result import TrendLine, TrendSummary


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
            f"the interval would have to end at {100 * limit:g}% or below: score more "
            "users, by a smaller margin or a larger budget"
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
    return f"has baseline, and none was given. Name one: {spell('baseline', Blank('AUDIT'))}"


def judge_policy(policy: Policy, measured: Measurements, where: str) -> tuple[RuleOutcome, ...]:
    """The outcome of every rule, and of what is required.

    Parameters
    ----------
    where : the policy, for errors
    """
    found = []
    for place, rule in enumerate(policy.rule, start=1):
        try:
            found.append(judge(rule, policy.require, measured, place))
        except (InputError, ValueError) as error:
            raise InputError(f"{where}: rule {place}: {keep_spellings(error)}") from error
    return (*found, *_required(policy, measured))


def judge(rule: Rule, require: Require, measured: Measurements, place: int) -> RuleOutcome:
    """The outcome of one rule."""
    about = measured.about(rule.metric)
    if rule.kind == "max_affected":
        return judge_affected(rule, measured.affected, place)
    if rule.kind == "trend":
        # a group that no audit has would never be worse, and so pass
        named = difference_harms(measured.groups, measured.summary, rule.metric)
        for group in rule.groups:
            named.position(group)
        return judge_trend(rule, measured.trends, place, is_conclusive=about.is_conclusive)
    limit = _limit(rule, about)
    harms = measured.harms(rule)
    outcomes = harms.outcomes(limit)
    looked_at, must_pass = _scope(rule, require, harms, measured.summary)
    is_failed = looked_at & (outcomes == BEYOND)
    is_open = must_pass & (outcomes != WITHIN)
    outcome: Passing = "passed"
    if is_failed.any():
        outcome = "failed"
    elif is_open.any() or not must_pass.any():
        outcome = "inconclusive"
    # the group that is surely worst decides, or the one that may be; one that is shown worse, if
    # perhaps within the limit, comes before one of which little is known
    is_worse = is_open & (outcomes == WORSE)
    surely = is_failed if outcome == "failed" else is_worse
    if surely.any():
        decided = _largest(harms.interval.low, surely)
    else:
        decided = _largest(harms.interval.high, is_open if is_open.any() else must_pass)
    n_failed, n_open = int(is_failed.sum()), int(is_open.sum())
    judged = None if decided is None else _judged_group(harms, decided)
    worst = _largest(harms.at_worst, must_pass & (harms.at_worst > limit))
    said = RuleWords(
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
        ruled_out_from=ruled_out_from(outcomes[looked_at] != WITHIN, harms.support[looked_at]),
        at_worst=None if worst is None else (harms.label(worst), float(harms.at_worst[worst])),
    )
    return RuleOutcome(
        number=place,
        kind=rule.kind,
        metric=rule.metric,
        severity=rule.severity,
        outcome=outcome,
        limit=limit if rule.min_ratio is None else rule.min_ratio,
        what=said.what,
        measured=said.measured,
        explanation=said.explanation,
        decided_by=judged if judged is None or rule.min_ratio is None else judged.as_ratio,
        n_failed=n_failed,
        n_open=n_open,
        n_ruled_out=int((must_pass & ~is_open).sum()),
    )


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
        limit = rule.limit.in_units(about.mean)
        _refuse_unfit(rule, limit, about)
        return limit
    if about.verdict is None or about.verdict.tolerance is None:
        name = "tolerance" if rule.kind == "baseline" else "max_worse"
        raise InputError(
            f"has no limit, and the audit has no tolerance. Add {name} = 0.03, or "
            f"audit with {spell('tolerance', 0.03)}"
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
            f"certify_from, or audit with a lower {spell('min_support')}"
        )
    return everyone, harms.support >= require.certify_from


def _largest(ends: FloatArray, among: BoolArray) -> int | None:
    at = np.flatnonzero(among)
    return int(at[np.argmax(ends[at])]) if len(at) else None


def _judged_group(harms: GroupHarms, at: int) -> JudgedGroup:
    low, high, size = (finite_or_none(part[at]) for part in (*harms.interval, harms.size))
    return JudgedGroup(
        group=harms.group(at),
        label=harms.label(at),
        support=int(harms.support[at]),
        measured=size,
        interval=(low, high),
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


Trends = Callable[[Rule], TrendSummary]
"""A rule -> the releases, in the metrics and groups that share its level."""


def judge_trend(
    rule: Rule, trends: Trends | None, place: int, *, is_conclusive: bool
) -> RuleOutcome:
    """The outcome of a rule with trend.

    Parameters
    ----------
    trends : None where no earlier releases were given
    place : of the rule in its policy
    is_conclusive : whether the users with a value speak for all in the newest release
    """
    if trends is None:
        raise InputError(
            "has trend, and no earlier releases were given. Name the folder they are in: "
            f"{spell('releases', Blank('FOLDER'))}"
        )
    trend = trends(rule)
    if hidden := [release.name for release in trend.releases if release.n_hidden]:
        raise InputError(
            f"small groups are hidden in {listed(hidden)}, so that one that became worse would not "
            f"be seen. Keep whole audits for {spell('releases')}; {spell('min_shown')} is for "
            "what is passed on"
        )
    if rule.metric not in trend.metrics:
        raise InputError(
            f"{plain(rule.metric)} is in no two releases, so there is no trend of it. Name one "
            "that is, or add releases that have it"
        )
    worse = [line for line in trend.worse if line.metric == rule.metric]
    # known in two releases at least
    is_seen = any(
        sum(point is not None and point.harm is not None for point in line.points) > 1
        for line in trend.lines
        if line.metric == rule.metric
    )
    many, releases = trend.unit.many, plural(len(trend.releases), "release")
    if worse:
        outcome: Passing = "failed"
        found, to_pass = _growth_words(worse), "that its harm is again what it was before"
    elif is_seen and is_conclusive:
        outcome = "passed"
        found, to_pass = "shown of no group, which rules nothing out", "passes"
    else:
        outcome = "inconclusive"
        found = f"no group can be followed, or too many {many} have no value"
        to_pass = f"two releases with the same groups, and few {many} without a value"
    return RuleOutcome(
        number=place,
        kind="trend",
        metric=rule.metric,
        severity=rule.severity,
        outcome=outcome,
        limit=0.0,
        what=f"{plain(rule.metric)}: {describe_groups(rule)} has become worse over {releases}",
        measured=found,
        explanation=to_pass,
        decided_by=_newest(worse[0]) if worse else None,
        n_failed=len(worse),
    )


def _growth_words(worse: list[TrendLine]) -> str:
    line, n_others = worse[0], len(worse) - 1
    since = line.worse_since
    assert since is not None
    more = f"; {plural(n_others, 'other group')} too" if n_others else ""
    growth = f"worse by {number(since.growth)} since {plain(since.release)}"
    p_value = number(since.p_adjusted)
    return f"{group_label(line.group)} is {growth} (adjusted p {p_value}){more}"


def _newest(line: TrendLine) -> JudgedGroup | None:
    """The group in the newest release that has it."""
    known = [point for point in line.points if point is not None and point.harm is not None]
    if not known:
        return None
    newest = known[-1]
    assert newest.harm is not None
    return JudgedGroup(
        group=line.group,
        label=group_label(line.group),
        support=newest.support,
        measured=newest.harm,
        interval=newest.simultaneous,
    )
