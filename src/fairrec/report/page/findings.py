"""The findings of the page: a card for each group that differs by more than chance."""

from __future__ import annotations

from fairrec.core.errors import plain
from fairrec.metrics.direction import harm
from fairrec.report.page.groups import PageGroups
from fairrec.report.page.view import FindingCard, PageLimits, Served
from fairrec.report.text.circumstances import explained
from fairrec.report.text.interaction import carried_by, neighbour_rows
from fairrec.report.text.p_values import p_adjusted
from fairrec.report.text.unknown import unknown_of
from fairrec.report.text.verdict import (
    Verdict,
    difference_of,
    one_at_a_time,
    simultaneous_interval,
    users_known,
)
from fairrec.report.words import number, numbers, percent, plural
from fairrec.result.schema import Finding, MetricResult


def finding_cards(groups: PageGroups, limits: PageLimits) -> tuple[tuple[FindingCard, ...], str]:
    """The first findings of each metric, and how many more there are."""
    metrics = groups.summary.metrics
    each = max(1, limits.findings // max(1, len(metrics)))
    cards = [
        _finding(name, result, finding, groups)
        for name, result in metrics.items()
        for finding in result.findings[:each]
    ]
    n_more = sum(max(0, len(result.findings) - each) for result in metrics.values())
    return tuple(cards), f"and {n_more:,} more in result.json" if n_more else ""


def no_findings(verdicts: tuple[Verdict, ...]) -> str:
    """What is said where there are no findings."""
    if all(verdict.status == "not tested" for verdict in verdicts):
        return "Nothing was tested against chance, so nothing could be found."
    if any(verdict.status == "inconclusive" for verdict in verdicts):
        return "None. The verdicts above say what is not ruled out: that is no all-clear."
    return "None. The verdicts above say what can be ruled out."


def _finding(
    metric: str, result: MetricResult, finding: Finding, groups: PageGroups
) -> FindingCard:
    key = groups.frame.key(finding.group)
    served = _served(finding.difference, result.higher_is_better)
    carried, distances = carried_by(finding, groups.summary)
    return FindingCard(
        metric=plain(metric),
        group=groups.number(key),
        label=groups.label(key),
        served=served,
        users=f"{users_known(finding)} {'user' if finding.n_users == 1 else 'users'}",
        difference=difference_of(finding),
        sentence=_sentence(metric, result, finding, groups.summary.given is not None),
        interval=simultaneous_interval(finding) or one_at_a_time(finding),
        interval_holds="all at once" if finding.simultaneous else "one at a time",
        p_adjusted=p_adjusted(finding.p_adjusted, finding.p_value, groups.summary),
        carried_by=carried,
        distances=distances,
        neighbours=neighbour_rows(finding, groups.summary),
        explained=explained(finding, groups.summary),
        unknown=unknown_of(finding, result, groups.summary),
        folded=(
            f"{plural(finding.n_folded, 'overlapping group')} add"
            f"{'s' if finding.n_folded == 1 else ''} nothing to it"
            if finding.n_folded
            else ""
        ),
    )


def _served(difference: float, higher_is_better: bool | None) -> Served:
    if higher_is_better is None:
        return "differs"
    return "worse" if harm(difference, higher_is_better) > 0 else "better"


def _sentence(metric: str, result: MetricResult, finding: Finding, is_adjusted: bool) -> str:
    """How much worse or better, in words."""
    # values are of all users, whatever their circumstances
    raw = finding.difference if finding.raw_difference is None else finding.raw_difference
    others = finding.value - raw
    lower = "lower" if raw < 0 else "higher"
    how_much = number(abs(raw))
    if result.is_ratio_scale and others > 0:
        how_much = percent(abs(raw / others))
    here, there = numbers(finding.value, others)
    whatever = "Whatever the circumstances, " if is_adjusted else ""
    return (
        f"{whatever}{plain(metric)} is {here} for them and {there} for all others, {how_much} "
        f"{lower}."
    )
