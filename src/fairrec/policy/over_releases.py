"""Rules about what became of groups over releases.

Unlike a limit on one audit, such a rule is an alarm: it passes where no group is shown to have
become worse, which rules nothing out.
"""

from __future__ import annotations

from fairrec.core.errors import InputError, listed, plain
from fairrec.core.options import Blank, spelled
from fairrec.policy.outcome import JudgedGroup, RuleOutcome
from fairrec.policy.rules import Rule
from fairrec.policy.words import who_is_asked
from fairrec.report.words import group_label, number, plural
from fairrec.result.trend_schema import TrendLine, TrendSummary


def judge_over_releases(rule: Rule, trend: TrendSummary | None, place: int) -> RuleOutcome:
    """The outcome of a rule with trend.

    Parameters
    ----------
    trend : None where no earlier releases were given
    place : of the rule in its policy
    """
    if trend is None:
        raise InputError(
            "has trend, and no earlier releases were given. Name the folder they are in: "
            f"{spelled('releases', Blank('FOLDER'))}"
        )
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
    worse = [line for line in trend.worse if line.metric == rule.metric and _is_asked(rule, line)]
    releases = plural(len(trend.releases), "release")
    return RuleOutcome(
        number=place,
        kind="trend",
        metric=rule.metric,
        severity=rule.severity,
        outcome="failed" if worse else "passed",
        limit=0.0,
        what=f"{plain(rule.metric)}: {who_is_asked(rule)} has become worse over {releases}",
        measured=_said(worse) if worse else "shown of no group, which rules nothing out",
        explanation="that its harm is again what it was before" if worse else "passes",
        decided_by=_judged(worse[0]) if worse else None,
        n_failed=len(worse),
        n_open=0,
        n_ruled_out=0,
    )


def _is_asked(rule: Rule, line: TrendLine) -> bool:
    group = {name: str(value) for name, value in line.group.items()}
    return not rule.groups or group in rule.groups


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
