"""Rules about what became of groups over releases.

Unlike a limit on one audit, such a rule is an alarm: it passes where no group is shown to have
become worse, which rules nothing out.
"""

from __future__ import annotations

from collections.abc import Callable

from fairrec.core.errors import InputError, listed, plain
from fairrec.core.options import Blank, spelled
from fairrec.core.units import Unit
from fairrec.gating.policy import JudgedGroup, Passing, Rule, RuleOutcome
from fairrec.gating.words import who_is_asked
from fairrec.report.words import group_label, number, plural
from fairrec.trends.result import TrendLine, TrendSummary

Trends = Callable[[Rule], TrendSummary]
"""A rule -> the releases, in the metrics and groups that share its level."""


def judge_over_releases(
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
            f"{spelled('releases', Blank('FOLDER'))}"
        )
    trend = trends(rule)
    if hidden := [release.name for release in trend.releases if release.n_hidden]:
        raise InputError(
            f"small groups are hidden in {listed(hidden)}, so that one that became worse would not "
            f"be seen. Keep whole audits for {spelled('releases')}; {spelled('min_shown')} is for "
            "what is passed on"
        )
    if rule.metric not in trend.metrics:
        raise InputError(
            f"{plain(rule.metric)} is in no two releases, so there is no trend of it. Name one "
            "that is, or add releases that have it"
        )
    worse = [line for line in trend.worse if line.metric == rule.metric]
    is_seen = any(_is_followed(line) for line in trend.lines if line.metric == rule.metric)
    outcome: Passing = "passed" if is_seen and is_conclusive else "inconclusive"
    releases = plural(len(trend.releases), "release")
    return RuleOutcome(
        number=place,
        kind="trend",
        metric=rule.metric,
        severity=rule.severity,
        outcome="failed" if worse else outcome,
        limit=0.0,
        what=f"{plain(rule.metric)}: {who_is_asked(rule)} has become worse over {releases}",
        measured=_said(worse) if worse else _not_shown(outcome, trend.unit),
        explanation="that its harm is again what it was before"
        if worse
        else _to_pass(outcome, trend.unit),
        decided_by=_judged(worse[0]) if worse else None,
        n_failed=len(worse),
    )


def _not_shown(outcome: Passing, unit: Unit) -> str:
    if outcome == "passed":
        return "shown of no group, which rules nothing out"
    return f"no group can be followed, or too many {unit.many} have no value"


def _to_pass(outcome: Passing, unit: Unit) -> str:
    if outcome == "passed":
        return "passes"
    return f"two releases with the same groups, and few {unit.many} without a value"


def _is_followed(line: TrendLine) -> bool:
    """Whether a group is known in two releases at least."""
    return sum(point is not None and point.harm is not None for point in line.points) > 1


def _said(worse: list[TrendLine]) -> str:
    line, n_others = worse[0], len(worse) - 1
    since = line.worse_since
    assert since is not None
    more = f"; {plural(n_others, 'other group')} too" if n_others else ""
    growth = f"worse by {number(since.growth)} since {plain(since.release)}"
    p_value = number(since.p_adjusted)
    return f"{group_label(line.group)} is {growth} (adjusted p {p_value}){more}"


def _judged(line: TrendLine) -> JudgedGroup | None:
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
