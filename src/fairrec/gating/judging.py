"""A rule and what was measured -> failed, passed or inconclusive, and the words for it.

A rule fails where a group is shown to be worse by more than the limit, and passes where that is
ruled out for every group that has to be. Both rest on intervals that hold for all groups at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, IntArray, finite_or_none
from fairrec.core.errors import InputError, listed, plain, unknown_name
from fairrec.core.options import spell, spell_in
from fairrec.counterfactuals.result import Affected
from fairrec.gating.harms import GroupHarms, difference_harms, ratio_harms
from fairrec.gating.policy import JudgedGroup, Passing, Policy, Require, Rule, RuleOutcome
from fairrec.report.words import group_label, interval, number, numbers, percent, plural
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.statistics.verdict import BEYOND, WITHIN, WORSE, ruled_out_from
from fairrec.trends.result import TrendLine, TrendPoint, TrendSummary

_MANY = 100
"""Times the users, beyond which more of them are no way out; also the most percent there are."""


@dataclass(frozen=True, slots=True)
class Measurements:
    """All that rules are judged by.

    Parameters
    ----------
    groups : the table of groups
    changes : metric -> how much worse each group is than in the baseline; None without one
    trends : rule -> the releases, in the metrics and groups that share its level; None without any
    affected : the share of users whom a counterfactual affects; None where it is none
    """

    summary: AuditSummary
    groups: pl.DataFrame
    changes: Callable[[str], GroupHarms] | None = None
    trends: Callable[[Rule], TrendSummary] | None = None
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
        if not either_way and self.about(rule.metric).higher_is_better is None:
            raise InputError(
                f"neither end of {plain(rule.metric)} is better, so no group is worse in it. Limit "
                "the difference instead: max_difference"
            )
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
    """What is said of a rule that needs other audits, where none were named."""
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
    if rule.kind == "trend":
        # a group that no audit has would never be worse, and so pass
        named = difference_harms(measured.groups, measured.summary, rule.metric)
        for group in rule.groups:
            named.position(group)
        if measured.trends is None:
            raise InputError(not_given("trend"))
        return judge_trend(rule, measured.trends(rule), place, is_conclusive=about.is_conclusive)
    limit = _limit(rule, about)
    harms = measured.harms(rule)
    looked_at, must_pass = _scope(rule, require, harms, measured.summary)
    return _JudgedRule(
        rule=rule,
        require=require,
        about=about,
        summary=measured.summary,
        limit=limit,
        harms=harms,
        outcomes=harms.outcomes(limit),
        looked_at=looked_at,
        must_pass=must_pass,
    ).outcome_of(place)


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
            f"{plain(rule.metric)} has no share of its mean that says anything, as its values "
            f"have no zero that means none of it. Give {rule.kind} as a number"
        )
    limit = rule.limit.in_units(about.mean)
    low, high = about.bounds or (None, None)
    if low is not None and high is not None and limit >= high - low:
        meant = f' Was "{rule.limit}%" of the mean meant?' if limit <= _MANY else ""
        raise InputError(
            f"{name} = {rule.limit}: {plain(rule.metric)} runs from {low:g} to {high:g}, so "
            f"nothing can be beyond. Give a limit below {high - low:g}.{meant}"
        )
    return limit


def _scope(
    rule: Rule, require: Require, harms: GroupHarms, summary: AuditSummary
) -> tuple[BoolArray, BoolArray]:
    """(n_groups,), the groups that a rule is about, and those that must be ruled out."""
    everyone = np.ones(len(harms), dtype=np.bool_)
    if rule.groups:
        named = np.isin(np.arange(len(harms)), [harms.position(group) for group in rule.groups])
        return named, named
    if require.certify_from is None:
        # with depth=full there is none of one attribute
        return everyone, harms.depth == min(harms.depth.tolist(), default=1)
    least = summary.coverage.min_users
    if require.certify_from < least:
        raise InputError(
            f"certify_from is {require.certify_from:,}, but the audit looked at groups of "
            f"{least:,} {summary.unit.many} or more. Raise certify_from, or audit with a lower "
            f"{spell('min_support')}"
        )
    return everyone, harms.support >= require.certify_from


_OF_OTHERS = {True: "of all others'", False: "as all others have, of its own"}


@dataclass(frozen=True)
class _JudgedRule:
    """A rule about groups, judged, and the words for it; arrays are (n_groups,).

    Parameters
    ----------
    outcomes : of each group with the limit as tolerance
    looked_at, must_pass : groups that the rule is about, and those that must be ruled out
    """

    rule: Rule
    require: Require
    about: MetricResult
    summary: AuditSummary
    limit: float
    harms: GroupHarms
    outcomes: IntArray
    looked_at: BoolArray
    must_pass: BoolArray

    def outcome_of(self, place: int) -> RuleOutcome:
        """As the gate reports it."""
        rule, decided = self.rule, self.decided_by
        if decided is not None and rule.min_ratio is not None:
            low, high = (None if end is None else 1 - end for end in reversed(decided.interval))
            size = None if decided.measured is None else 1 - decided.measured
            decided = decided.model_copy(update={"measured": size, "interval": (low, high)})
        return _report(
            rule,
            place,
            outcome=self.outcome,
            limit=self.limit if rule.min_ratio is None else rule.min_ratio,
            what=self.what,
            measured=self.measured,
            explanation=self.explanation,
            decided_by=decided,
            n_failed=int(self.is_failed.sum()),
            n_open=int(self.is_open.sum()),
            n_ruled_out=int((self.must_pass & ~self.is_open).sum()),
        )

    @cached_property
    def is_failed(self) -> BoolArray:
        return np.asarray(self.looked_at & (self.outcomes == BEYOND))

    @cached_property
    def is_open(self) -> BoolArray:
        return np.asarray(self.must_pass & (self.outcomes != WITHIN))

    @cached_property
    def outcome(self) -> Passing:
        if self.is_failed.any():
            return "failed"
        is_known = self.must_pass.any() and not self.is_open.any()
        return "passed" if is_known else "inconclusive"

    @cached_property
    def decided_by(self) -> JudgedGroup | None:
        """The group that is surely worst, or may be; None where no group is looked at.

        One that is shown worse, if perhaps within the limit, comes before one of which little is
        known.
        """
        harms = self.harms
        is_worse = (
            self.is_failed if self.outcome == "failed" else self.is_open & (self.outcomes == WORSE)
        )
        if is_worse.any():
            at = _largest(harms.interval.low, is_worse)
        else:
            may_be = self.is_open if self.is_open.any() else self.must_pass
            at = _largest(harms.interval.high, may_be)
        if at is None:
            return None
        low, high, size = (finite_or_none(part[at]) for part in (*harms.interval, harms.size))
        return JudgedGroup(
            group=harms.group(at),
            label=harms.label(at),
            support=int(harms.support[at]),
            measured=size,
            interval=(low, high),
        )

    @property
    def what(self) -> str:
        """What the rule asks for."""
        rule, given, better = self.rule, self.rule.limit, self.about.higher_is_better
        limit = f"the tolerance, {self.limit:.6g}" if given is None else str(given)
        if given is not None and given.is_share:
            limit += f" of the mean ({number(self.limit)})"
        if rule.unknown == "worst":
            limit += f", whichever {self._many} of unknown attributes belong to it"
        asked = {
            "min_ratio": f"has less than {rule.min_ratio or 0:g} {_OF_OTHERS[bool(better)]}",
            "max_difference": f"differs by more than {limit}",
            "baseline": f"is worse than in the baseline by more than {limit}",
            "max_worse": f"is worse by more than {limit}",
        }[rule.kind]
        return f"{plain(rule.metric)}: {describe_groups(rule)} {asked}"

    @property
    def measured(self) -> str:
        """What was measured, of the group that decides."""
        group, many = self.decided_by, self._many
        if group is None:
            if self.require.certify_from is not None and not self.rule.groups:
                return f"no group has {self.require.certify_from:,} {many}, so nothing is ruled out"
            return "no group has others to be compared with"
        who = f"{group.label} ({self.summary.unit.count(group.support)})"
        found = f"{who} {self._is(group)}"
        if self.outcome == "failed":
            n_others = int(self.is_failed.sum()) - 1
            verb = "fails" if n_others == 1 else "fail"
            return f"{found}; {plural(n_others, 'other group')} {verb} too" if n_others else found
        if self.outcome == "passed":
            closest = f"closest is {who}, which {self._is(group)}"
            return f"ruled out for {self._scope}{self._if_like_others}; {closest}"
        if not self.harms.is_conclusive:
            return f"too many {many} have no value to rule anything out; {found}"
        return f"open for {int(self.is_open.sum()):,} of {self._scope}; {found}"

    @property
    def explanation(self) -> str:
        """What would have to be true for it to pass."""
        if self.outcome == "passed":
            return "passes"
        if self.decided_by is None:
            return "a smaller certify_from, or an audit of at least two groups"
        if self.outcome == "failed":
            return self._within(self.decided_by, int(self.is_failed.sum()))
        if not self.harms.is_conclusive:
            share = percent(self.about.undefined_share)
            return f"fewer {self._many} without a value ({share} now), in all groups alike"
        return "; or ".join(self._ways_out(self.decided_by))

    def _within(self, group: JudgedGroup, n_groups: int) -> str:
        limit = f"{self.rule.min_ratio or self.limit:.3g}"
        others = f" and of {plural(n_groups - 1, 'other group')}" if n_groups > 1 else ""
        return f"the interval of {group.label}{others} would have to stay within {limit}"

    def _ways_out(self, group: JudgedGroup) -> list[str]:
        rule, harms = self.rule, self.harms
        if self.summary.permutations == 0:
            permutations = spell_in(self.summary.command, "permutations", 1000)
            return [f"groups would have to be tested: audit with {permutations}"]
        if group.measured is None:
            beside = "both audits" if rule.kind == "baseline" else "covariates of others"
            return [f"{group.label} would have to have values in {beside}"]
        high = group.interval[1]
        if high is None:
            return [f"more {self._many} of {group.label}"]
        ways = [self._within(group, int(self.is_open.sum()))]
        size = max(0.0, group.measured)
        if rule.unknown is not None:
            ways.append(f"fewer {self._many} of unknown attributes")
        elif size < self.limit:
            # the width of an interval falls with the root of the number of users
            times = ((high - size) / (self.limit - size)) ** 2
            if 1 < times <= _MANY:
                ways.append(f"about {number(times)} times as many {self._many}, were it no worse")
        # the limit with which nothing would be open
        least = float(harms.interval.high[self.must_pass].max(initial=0.0))
        if self.limit < least < math.inf:
            name = "tolerance" if rule.kind == "baseline" else rule.kind
            ways.append(f"{name} = {_round_limit(least, is_ratio=rule.kind == 'min_ratio')}")
        # what is shown worse, but may be within the limit, is not ruled out either
        is_left = self.outcomes[self.looked_at] != WITHIN
        from_size = ruled_out_from(is_left, harms.support[self.looked_at])
        if self.require.certify_from is not None and from_size is not None:
            ways.append(f"certify_from = {from_size}")
        return ways

    @property
    def _many(self) -> str:
        return self.summary.unit.many

    @property
    def _if_like_others(self) -> str:
        """On what it rests that a rule passes, where attributes are unknown."""
        at_worst = self.harms.at_worst
        at = _largest(at_worst, self.must_pass & (at_worst > self.limit))
        if at is None or self.rule.kind not in ("max_worse", "max_difference"):
            return ""
        return (
            f", if {self._many} of unknown attributes are like the others (at worst "
            f"{self.harms.label(at)} by {number(float(at_worst[at]))})"
        )

    @property
    def _scope(self) -> str:
        groups = plural(int(self.must_pass.sum()), "group")
        if self.rule.groups:
            return f"{groups} named"
        if self.require.certify_from is not None:
            return f"{groups} of {self.require.certify_from:,} {self._many} or more"
        return (
            f"{groups} of {'all attributes' if self.summary.depth == 'full' else 'one attribute'}"
        )

    def _is(self, group: JudgedGroup) -> str:
        """What was measured of a group, with its interval."""
        kind, size, (low, high) = self.rule.kind, group.measured, group.interval
        if size is None:
            nobody = self.summary.unit.nobody
            return (
                "has values in only one of the two audits, so it is not compared"
                if kind == "baseline"
                else f"has {nobody} to be compared with, as too few others are in its covariates"
            )
        if kind == "min_ratio":
            ends = (None if end is None else 1 - end for end in (high, low))
            share = f"{number(1 - size)} {_OF_OTHERS[bool(self.about.higher_is_better)]}"
            return f"has {share} ({_ends(*ends)})"
        worst = ", at worst" if self.rule.unknown == "worst" else ""
        than = " than in the baseline" if kind == "baseline" else ""
        verb = "differs" if kind == "max_difference" else f"is worse{than}"
        if size < 0:
            verb, size = f"is better{than}", -size
            low, high = (None if end is None else -end for end in (high, low))
        return f"{verb} by {number(size)} ({_ends(low, high)}{worst})"


def describe_groups(rule: Rule) -> str:
    """The groups of a rule, as what it asks for begins."""
    n_named = len({tuple(sorted(group.items())) for group in rule.groups})
    return f"none of {plural(n_named, 'named group')}" if n_named else "no group"


def _largest(ends: FloatArray, among: BoolArray) -> int | None:
    at = np.flatnonzero(among)
    return int(at[np.argmax(ends[at])]) if len(at) else None


def _ends(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return interval(low, high)
    return " to ".join("no limit" if end is None else number(end) for end in (low, high))


def _round_limit(size: float, *, is_ratio: bool) -> str:
    """A limit in the rule's own terms, in three digits with which it still holds."""
    if is_ratio:
        return f"{math.floor(round((1 - size) * 1000, 6)) / 1000:g}"
    step = 10.0 ** (math.floor(math.log10(size)) - 2)
    return f"{math.ceil(round(size / step, 6)) * step:.12g}"


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
    to_pass = (
        f"the interval would have to end at {100 * limit:g}% or below: score more "
        "users, by a smaller margin or a larger budget"
    )
    if affected.low > limit:
        outcome = "failed"
        to_pass = f"fewer users would have to be affected: at most {100 * limit:g}%"
    elif affected.high <= limit:
        outcome, to_pass = "passed", "passes"
    # without an interval everybody was scored
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
    trend : the releases, in the metrics and groups that share its level
    is_conclusive : whether the users with a value speak for all in the newest release
    """
    if hidden := [release.name for release in trend.releases if release.n_hidden]:
        raise InputError(
            f"small groups are hidden in {listed(hidden)}. Keep whole audits for "
            f"{spell('releases')}; {spell('min_shown')} is for what is passed on"
        )
    lines = [line for line in trend.lines if line.metric == rule.metric]
    worse = [line for line in trend.worse if line.metric == rule.metric]
    # known in two releases at least
    is_seen = any(len(_known_points(line)) > 1 for line in lines)
    many, releases = trend.unit.many, plural(len(trend.releases), "release")
    outcome: Passing = "inconclusive"
    found = f"no group can be followed, or too many {many} have no value"
    to_pass = f"two releases with the same groups, and few {many} without a value"
    if worse:
        outcome = "failed"
        found, to_pass = _growth_words(worse), "that its harm is again what it was before"
    elif is_seen and is_conclusive:
        outcome, found, to_pass = "passed", "shown of no group, which rules nothing out", "passes"
    return _report(
        rule,
        place,
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
    return f"{group_label(line.group)} is {growth} (adjusted p {number(since.p_adjusted)}){more}"


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
