"""A rule and what was measured -> failed, passed or inconclusive, and the words for it.

A rule fails where a group is shown to be worse by more than the limit, and passes where that is
ruled out for every group that has to be. Both rest on intervals that hold for all groups at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from fairrec.auditing.harms import GroupHarms, difference_harms, ratio_harms
from fairrec.core.arrays import BoolArray, FloatArray, finite_or_none
from fairrec.core.errors import InputError, listed, plain, unknown_name
from fairrec.core.options import spell
from fairrec.counterfactuals.result import Affected
from fairrec.gating.policy import JudgedGroup, Passing, Policy, Require, Rule, RuleOutcome
from fairrec.report.words import group_label, interval, number, numbers, percent, plural
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.statistics.verdict import BEYOND, WITHIN, WORSE
from fairrec.trends.result import TrendLine, TrendPoint, TrendSummary

_MANY = 100
"""Times the users, beyond which more of them are no way out; also the most percent there are."""


_NONE = {False: "no group", True: "none of the named groups"}


@dataclass(frozen=True, slots=True)
class Measurements:
    """All that rules are judged by.

    Parameters
    ----------
    groups : the table of groups
    changes : metric -> how much worse each group is than in the baseline; None without one
    trend : rule -> the releases in its metric and groups; None without any
    affected : the share of users whom a counterfactual affects; None where it is none
    """

    summary: AuditSummary
    groups: pl.DataFrame
    changes: Callable[[str], GroupHarms] | None = None
    trend: Callable[[Rule], TrendSummary] | None = None
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
        either_way = rule.kind == "max_difference"
        if rule.kind == "baseline":
            if self.changes is None:
                raise InputError(not_given("baseline"))
            return self.changes(rule.metric)
        return difference_harms(
            self.groups,
            self.summary,
            rule.metric,
            either_way=either_way,
            is_at_worst=rule.unknown == "worst",
        )


def not_given(kind: str) -> str:
    """The error of a rule that needs other audits, where none were named."""
    option = {"baseline": "baseline", "trend": "releases"}[kind]
    return f"has {kind}, which needs {spell(option)}: name it, or leave the rule out"


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
        except ValueError as error:
            raise InputError(f"{where}: rule {place}: {error}") from error
    return (*found, *_required(policy, measured))


def judge(rule: Rule, require: Require, measured: Measurements, place: int) -> RuleOutcome:
    """The outcome of one rule.

    Parameters
    ----------
    place : of the rule in its policy
    """
    about = measured.about(rule.metric)
    if rule.kind == "max_affected":
        return judge_affected(rule, measured.affected, place)
    if about.higher_is_better is None and rule.kind not in ("max_difference", "min_ratio"):
        raise InputError(
            f"neither end of {plain(rule.metric)} is better, so no group is worse in it. Limit the "
            "difference instead: max_difference"
        )
    if rule.kind != "trend":
        return judge_groups(rule, require, measured, place)
    # a group that no audit has would never be worse, and so pass
    named = difference_harms(measured.groups, measured.summary, rule.metric)
    for group in rule.groups:
        named.position(group)
    if measured.trend is None:
        raise InputError(not_given("trend"))
    return judge_trend(rule, measured.trend(rule), place, is_conclusive=about.is_conclusive)


def _limit(rule: Rule, about: MetricResult) -> float:
    """In the units of what is judged."""
    if rule.min_ratio is not None:
        return 1 - rule.min_ratio
    name = "tolerance" if rule.kind == "baseline" else rule.kind
    if rule.limit is None:
        if about.verdict is None or about.verdict.tolerance is None:
            raise InputError(
                f"has no limit, and the audit has no tolerance. Add {name} = 0.03, or "
                f"audit with {spell('tolerance', 0.03)}"
            )
        return about.verdict.tolerance
    if rule.limit.is_share and not about.is_ratio_scale:
        raise InputError(
            f"{plain(rule.metric)} has no share of its mean, as its values "
            f"have no zero that means none of it. Give {rule.kind} as a number"
        )
    limit = rule.limit.in_units(about.mean)
    low, high = about.bounds or (None, None)
    if low is not None and high is not None and limit >= high - low:
        hint = f' Was "{rule.limit}%" of the mean meant?' if limit <= _MANY else ""
        raise InputError(
            f"{name} = {rule.limit}: {plain(rule.metric)} runs from {low:g} to {high:g}, so "
            f"nothing can be beyond. Give a limit below {high - low:g}.{hint}"
        )
    return limit


def _scope(
    rule: Rule, require: Require, harms: GroupHarms, summary: AuditSummary
) -> tuple[BoolArray, BoolArray, str]:
    """(n_groups,), the groups a rule is about, and those to rule out; what these are called."""
    everything = np.ones(len(harms), dtype=np.bool_)
    if rule.groups:
        named = np.isin(np.arange(len(harms)), [harms.position(group) for group in rule.groups])
        return named, named, "named"
    many, least = summary.unit.many, summary.coverage.min_users
    if require.certify_from is None:
        # with depth=full there is none of one attribute
        fewest = harms.depth == min(harms.depth.tolist(), default=1)
        is_full = summary.depth == "full"
        return everything, fewest, "of all attributes" if is_full else "of one attribute"
    if require.certify_from < least:
        raise InputError(
            f"certify_from is {require.certify_from:,}, but the audit looked at groups of "
            f"{least:,} {many} or more. Raise certify_from, or audit with a lower "
            f"{spell('min_support')}"
        )
    is_large = harms.support >= require.certify_from
    return everything, is_large, f"of {require.certify_from:,} {many} or more"


def judge_groups(rule: Rule, require: Require, measured: Measurements, place: int) -> RuleOutcome:
    """The outcome of a rule that limits the harms of groups, or their ratios."""
    about, summary = measured.about(rule.metric), measured.summary
    limit = _limit(rule, about)
    harms = measured.harms(rule)
    looked_at, must_pass, which = _scope(rule, require, harms, summary)
    outcomes = harms.outcomes(limit)
    is_failed = looked_at & (outcomes == BEYOND)
    is_open = must_pass & (outcomes != WITHIN)
    outcome: Passing = "failed" if is_failed.any() else "inconclusive"
    if outcome != "failed" and must_pass.any() and not is_open.any():
        outcome = "passed"
    # a group shown worse, if perhaps within the limit, comes before one of which little is known
    is_worse = is_failed if outcome == "failed" else is_open & (outcomes == WORSE)
    at = _largest(harms.interval.low, is_worse)
    if at is None:
        at = _largest(harms.interval.high, is_open if is_open.any() else must_pass)
    n_failed, n_open = int(is_failed.sum()), int(is_open.sum())
    many, scope = summary.unit.many, f"{plural(int(must_pass.sum()), 'group')} {which}"
    to_pass = "passes"
    if at is None:
        found = f"no group {which} has others to be compared with, so nothing is ruled out"
        to_pass = "a smaller certify_from, or an audit of at least two groups"
    elif outcome == "failed":
        more = f"; {plural(n_failed - 1, 'other group')} fail{'s' * (n_failed == 2)} too"
        found = _describe_group(rule, about, harms, at, summary) + more * (n_failed > 1)
        to_pass = _within(rule, limit, harms.label(at), n_failed)
    elif outcome == "passed":
        assumed = _if_like_others(rule, limit, harms, must_pass, many)
        closest = _describe_group(rule, about, harms, at, summary)
        n_others = int((looked_at & ~must_pass).sum())
        others = f" (not required of {plural(n_others, 'other group')})" if n_others else ""
        found = f"ruled out for {scope}{others}{assumed}; closest: {closest}"
    else:
        widest = _describe_group(rule, about, harms, at, summary)
        found = f"open for {n_open:,} of {scope}; {widest}"
        to_pass = "; or ".join(_ways_out(rule, limit, harms, at, n_open, many))
        if not harms.is_conclusive:
            found = f"too many {many} have no value to rule anything out; {widest}"
            share = percent(about.undefined_share)
            to_pass = f"fewer {many} without a value ({share} now), in all groups alike"
    return _report(
        rule,
        place,
        outcome=outcome,
        limit=limit if rule.min_ratio is None else rule.min_ratio,
        what=_describe_rule(rule, limit, about, many),
        measured=found,
        explanation=to_pass,
        decided_by=None if at is None else _judged_group(rule, harms, at),
        n_failed=n_failed,
        n_open=n_open,
        n_ruled_out=int(must_pass.sum()) - n_open,
    )


def _judged_group(rule: Rule, harms: GroupHarms, at: int) -> JudgedGroup:
    """A group in the units of the rule: a harm, or a ratio to all others."""
    low, size, high = harms.interval.low[at], harms.size[at], harms.interval.high[at]
    if rule.min_ratio is not None:
        low, size, high = 1 - high, 1 - size, 1 - low
    return JudgedGroup(
        group=harms.group(at),
        label=harms.label(at),
        support=int(harms.support[at]),
        measured=finite_or_none(size),
        interval=(finite_or_none(low), finite_or_none(high)),
    )


def _describe_rule(rule: Rule, limit: float, about: MetricResult, many: str) -> str:
    """What the rule asks for."""
    if rule.min_ratio is not None:
        asked = f"has less than {rule.min_ratio:g} {_of_others(about)}"
    else:
        verb = {"max_difference": "differs", "baseline": "is worse than in the baseline"}
        given = rule.limit
        amount = f"the tolerance, {limit:.6g}" if given is None else str(given)
        share = f" of the mean ({number(limit)})" if given is not None and given.is_share else ""
        asked = f"{verb.get(rule.kind, 'is worse')} by more than {amount}{share}"
    if rule.unknown == "worst":
        asked += f", whichever {many} of unknown attributes belong to it"
    return f"{plain(rule.metric)}: {_NONE[bool(rule.groups)]} {asked}"


def _of_others(about: MetricResult) -> str:
    return "of all others'" if about.higher_is_better else "as all others have, of its own"


def _describe_group(
    rule: Rule, about: MetricResult, harms: GroupHarms, at: int, summary: AuditSummary
) -> str:
    """What was measured of a group, with its interval."""
    group = _judged_group(rule, harms, at)
    who = f"{group.label} ({summary.unit.count(group.support)})"
    size, (low, high) = group.measured, group.interval
    if size is None:
        return f"{who} is not compared: it is in one audit only, or alone in its covariates"
    if rule.min_ratio is not None:
        return f"{who} has {number(size)} {_of_others(about)} ({_ends(low, high)})"
    verb = "differs" if rule.kind == "max_difference" else "is worse" if size >= 0 else "is better"
    if size < 0:
        low, size, high = (None if end is None else -end for end in (high, size, low))
    if rule.kind != "max_difference" and (low is None or low <= 0 or high is None):
        # the interval includes 0
        verb = verb.replace("is", "measured", 1)
    than = " than in the baseline" if rule.kind == "baseline" else ""
    worst = ", at worst" if rule.unknown == "worst" else ""
    return f"{who} {verb}{than} by {number(size)} ({_ends(low, high)}{worst})"


def _if_like_others(
    rule: Rule, limit: float, harms: GroupHarms, must_pass: BoolArray, many: str
) -> str:
    """On what it rests that a rule passes, where attributes are unknown."""
    at = _largest(harms.at_worst, must_pass & (harms.at_worst > limit))
    if at is None or rule.kind not in ("max_worse", "max_difference"):
        return ""
    return (
        f", if {many} of unknown attributes are like the others (at worst {harms.label(at)} by "
        f"{number(float(harms.at_worst[at]))})"
    )


def _within(rule: Rule, limit: float, label: str, n_groups: int) -> str:
    others = f" and of {plural(n_groups - 1, 'other group')}" if n_groups > 1 else ""
    amount = f"within {limit:.3g}" if rule.min_ratio is None else f"above {rule.min_ratio:.3g}"
    return f"the interval of {label}{others} would have to stay {amount}"


def _ways_out(
    rule: Rule, limit: float, harms: GroupHarms, at: int, n_open: int, many: str
) -> list[str]:
    """What an interval would have to be, or more users, for an open rule to pass.

    No other limit: one that is chosen by a result does not test it.
    """
    label, size, high = harms.label(at), float(harms.size[at]), float(harms.interval.high[at])
    if math.isnan(size):
        beside = "both audits" if rule.kind == "baseline" else "the covariates of others"
        return [f"{label} would have to have values in {beside}"]
    ways = [_within(rule, limit, label, n_open)]
    if not math.isfinite(high):
        ways = [f"more {many} in {label}, whose interval has no end"]
    size = max(0.0, size)
    if size < limit and math.isfinite(high) and rule.unknown is None:
        # the width of an interval falls with the root of the number of users
        times = ((high - size) / (limit - size)) ** 2
        if 1 < times <= _MANY:
            ways.append(f"about {number(times)} times as many {many}, were it no worse")
    return ways


def _largest(ends: FloatArray, among: BoolArray) -> int | None:
    at = np.flatnonzero(among)
    return int(at[np.argmax(ends[at])]) if len(at) else None


def _ends(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return interval(low, high)
    return " to ".join("no limit" if end is None else number(end) for end in (low, high))


def _required(policy: Policy, measured: Measurements) -> list[RuleOutcome]:
    """What is required of the data behind every metric that a rule is about."""
    most = policy.require.max_undefined
    if most is None:
        return []
    found = []
    for metric in dict.fromkeys(rule.metric for rule in policy.rule):
        share = measured.about(metric).undefined_share
        many = measured.summary.unit.many
        severities = [rule.severity for rule in policy.rule if rule.metric == metric]
        found.append(
            RuleOutcome(
                number=0,
                kind="max_undefined",
                metric=metric,
                severity="fail" if "fail" in severities else "warn",
                outcome="failed" if share > most else "passed",
                limit=most,
                what=f"{plain(metric)}: at most {percent(most)} of {many} without a value",
                measured=f"{percent(share)} of {many} have none",
                explanation=f"{percent(most)} or less" if share > most else "passes",
            )
        )
    return found


def judge_affected(rule: Rule, affected: Affected | None, place: int) -> RuleOutcome:
    """The outcome of a rule with max_affected, by the interval of the share among all users.

    Parameters
    ----------
    affected : None where the result is no counterfactual
    """
    if affected is None:
        raise InputError(
            "has max_affected, which is about a counterfactual. Name the folder that fairrec "
            "counterfactual wrote"
        )
    if rule.metric != affected.metric:
        metric = plain(affected.metric)
        raise InputError(f'has max_affected, which is about {metric}. Write metric = "{metric}"')
    limit = rule.max_affected or 0.0
    shares = affected.share, affected.low, affected.high, limit
    share, low, high, _ = (f"{text}%" for text in numbers(*(100 * share for share in shares)))
    outcome: Passing = "inconclusive"
    to_pass = f"the interval would have to end at {100 * limit:g}% or below: score more users"
    if affected.low > limit:
        outcome = "failed"
        to_pass = f"fewer users would have to be affected: at most {100 * limit:g}%"
    elif affected.high <= limit:
        outcome, to_pass = "passed", "passes"
    # without an interval all were scored
    is_exact = affected.low == affected.high
    of_all = ", and all were scored" if is_exact else f" ({low} to {high} of all)"
    return _report(
        rule,
        place,
        outcome=outcome,
        limit=limit,
        what=f"{plain(rule.metric)}: at most {100 * limit:g}% of users are affected",
        measured=f"{share} of {plural(affected.n, 'user')} are{of_all}",
        explanation=to_pass,
    )


def judge_trend(rule: Rule, trend: TrendSummary, place: int, *, is_conclusive: bool) -> RuleOutcome:
    """The outcome of a rule with trend.

    Parameters
    ----------
    trend : the releases, in the metric and groups of the rule
    is_conclusive : whether the users with a value speak for all in the newest release
    """
    if hidden := [release.name for release in trend.releases if release.n_hidden]:
        raise InputError(
            f"small groups are hidden in {listed(hidden)}. Keep whole audits for "
            f"{spell('releases')}; {spell('min_shown')} is for what is passed on"
        )
    worse = trend.worse
    followed = [line.group for line in trend.lines if len(_known_points(line)) > 1]
    is_followed = bool(followed) and all(group in followed for group in rule.groups)
    many, releases = trend.unit.many, plural(len(trend.releases), "release")
    outcome: Passing = "inconclusive"
    who = "not every named group" if rule.groups else "no group"
    found = f"{who} can be followed, or too many {many} have no value"
    to_pass = f"two releases with the same groups, and few {many} without a value"
    if worse:
        outcome, to_pass = "failed", "that its harm is again what it was before"
        since = worse[0].worse_since
        assert since is not None
        found = (
            f"{group_label(worse[0].group)} is worse by {number(since.growth)} since "
            f"{plain(since.release)} (adjusted p {number(since.p_adjusted)})"
        )
        found += f"; {plural(len(worse), 'group')} fail" if len(worse) > 1 else ""
    elif is_conclusive and is_followed:
        outcome, found, to_pass = "passed", "shown of no group, which rules nothing out", "passes"
    return _report(
        rule,
        place,
        outcome=outcome,
        limit=0.0,
        what=f"{plain(rule.metric)}: {_NONE[bool(rule.groups)]} has become worse over {releases}",
        measured=found,
        explanation=to_pass,
        decided_by=_newest(worse[0]) if worse else None,
        n_failed=len(worse),
    )


def _known_points(line: TrendLine) -> list[TrendPoint]:
    return [point for point in line.points if point is not None and point.harm is not None]


def _newest(line: TrendLine) -> JudgedGroup:
    """The group in the newest release that has it."""
    newest = _known_points(line)[-1]
    return JudgedGroup(
        group=line.group,
        label=group_label(line.group),
        support=newest.support,
        measured=newest.harm,
        interval=newest.simultaneous,
    )


def _report(rule: Rule, place: int, **found: Any) -> RuleOutcome:
    return RuleOutcome(
        number=place, kind=rule.kind, metric=rule.metric, severity=rule.severity, **found
    )
