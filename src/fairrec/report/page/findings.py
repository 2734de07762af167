"""The findings of the page: a card for each group, with all metrics in which it differs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from fairrec.core.errors import plain
from fairrec.core.units import EndWords
from fairrec.report.page.groups import PageGroups
from fairrec.report.page.view import FindingCard, GroupCard, HistogramBar, PageLimits
from fairrec.report.text.circumstances import explained
from fairrec.report.text.ends import end_words
from fairrec.report.text.finding import (
    because_of,
    difference_of,
    one_at_a_time,
    random_sets_of,
    simultaneous_interval,
    users_known,
    value_of_others,
)
from fairrec.report.text.found_groups import FoundGroup, Served, found_groups, served_in
from fairrec.report.text.interaction import carried_by, neighbour_rows
from fairrec.report.text.p_values import p_adjusted
from fairrec.report.text.status import outcome_words
from fairrec.report.text.unknown import unknown_of
from fairrec.report.text.verdict import Verdict
from fairrec.report.words import interval, number, numbers, percent, plural
from fairrec.result.metric_schema import Finding, MetricResult
from fairrec.statistics.distribution import N_BINS

MOST_VALUES = 5
"""Of more values only the outer ones fit below the bars."""
WIDE = 1.5
"""An outer bin so many times as wide as the others holds a tail."""
MANY_TIMES = 3
"""From here on a value is so many times another, not so many percent higher."""


def group_cards(groups: PageGroups, limits: PageLimits) -> tuple[tuple[GroupCard, ...], str]:
    """The groups that differ, worst first, and how many more there are."""
    found = found_groups(groups.summary)
    cards = tuple(_group_card(group, groups) for group in found[: limits.findings])
    n_more = len(found) - len(cards)
    return cards, f"and {plural(n_more, 'more group')} in result.json" if n_more else ""


def _group_card(found: FoundGroup, groups: PageGroups) -> GroupCard:
    key = groups.frame.key(found.group)
    name, first = found.first
    edges = groups.summary.metrics[name].bins
    bars = _bars(first, edges)
    share = percent(first.n_users / groups.summary.n_users)
    return GroupCard(
        group=groups.number(key),
        label=groups.label(key),
        served=found.served,
        tag=_tag(found.served, end_words(name, groups.summary.unit)),
        users=f"{users_known(first)} {groups.summary.unit.noun(first.n_users)} ({share})",
        findings=tuple(
            _finding(metric, groups.summary.metrics[metric], finding, groups)
            for metric, finding in found.findings
        ),
        bars=bars,
        scale=_scale(edges) if bars else (),
    )


def _tag(served: Served, words: EndWords) -> str:
    return {"worse": words.worse, "better": words.better, "differs": "differs"}[served]


def _bars(finding: Finding, edges: Sequence[float]) -> tuple[HistogramBar, ...]:
    """How the values of the group are spread, beside those of all others."""
    own, others = finding.counts, finding.counts_of_others
    if not edges or not sum(own) or not sum(others):
        return ()
    shares = [[n / sum(counts) for n in counts] for counts in (own, others)]
    tallest = max(map(max, shares))
    values = _values(edges) or [interval(low, high) for low, high in pairwise(edges)]
    return tuple(
        HistogramBar(
            own=round(100 * mine / tallest, 1),
            others=round(100 * theirs / tallest, 1),
            text=f"{value}: {percent(mine)} of them, {percent(theirs)} of all others",
        )
        for value, mine, theirs in zip(values, *shares, strict=True)
    )


def _values(edges: Sequence[float]) -> list[str]:
    """The value in the middle of each bin; none where bins hold more than one."""
    if len(edges) > N_BINS:
        return []
    values = [(edges[0] + edges[1]) / 2]
    for edge in edges[1:-1]:
        values.append(2 * edge - values[-1])
    return [number(value, edges[-1] - edges[0]) for value in values]


def _scale(edges: Sequence[float]) -> tuple[str, ...]:
    """What stands below the bars: both ends, or the value of each bar, of many the outer ones."""
    if values := _values(edges):
        is_between = len(values) > MOST_VALUES
        return (values[0], *("" if is_between else v for v in values[1:-1]), values[-1])
    width = edges[2] - edges[1]
    low, high = number(edges[0]), number(edges[-1])
    if edges[1] - edges[0] > WIDE * width:
        low = f"below {number(edges[1])}"
    if edges[-1] - edges[-2] > WIDE * width:
        high = f"{number(edges[-2])} and more"
    return low, high


def no_findings(verdicts: tuple[Verdict, ...]) -> str:
    """What is said where there are no findings."""
    if all(verdict.status == "not tested" for verdict in verdicts):
        return "Nothing was tested against chance, so nothing could be found."
    if any(verdict.status == "inconclusive" for verdict in verdicts):
        return "None. The verdicts below say what is not ruled out: that is no all-clear."
    return "None. The verdicts below say what can be ruled out."


def _finding(
    metric: str, result: MetricResult, finding: Finding, groups: PageGroups
) -> FindingCard:
    carried, distances = carried_by(finding, groups.summary)
    value, others = numbers(finding.value, value_of_others(finding))
    served, words = served_in(finding, result), end_words(metric, groups.summary.unit)
    return FindingCard(
        metric=plain(metric),
        served=served,
        # a result from before there were verdicts has none
        verdict=outcome_words(finding, result, words, groups.summary) or _tag(served, words),
        value=value,
        others=others,
        difference=difference_of(finding),
        shrunken=difference_of(finding, finding.shrunken_difference),
        sentence=_sentence(metric, result, finding, groups.summary.given is not None),
        # only results from before there were simultaneous ones have no other
        interval=simultaneous_interval(finding) or f"{one_at_a_time(finding)} (one at a time)",
        p_adjusted=p_adjusted(finding.p_adjusted, groups.summary),
        carried_by=carried,
        distances=distances,
        neighbours=neighbour_rows(finding, groups.summary),
        explained=explained(finding, groups.summary)
        or random_sets_of(finding, groups.summary.unit),
        unknown=unknown_of(finding, result, groups.summary),
        folded=(
            f"{plural(finding.n_folded, 'overlapping group')} add"
            f"{'s' if finding.n_folded == 1 else ''} nothing to it"
            if finding.n_folded
            else ""
        ),
        because=because_of(finding, result, words),
    )


def _sentence(metric: str, result: MetricResult, finding: Finding, is_adjusted: bool) -> str:
    """How much worse or better, in words."""
    others = value_of_others(finding)
    raw = finding.value - others
    lower = "lower" if raw < 0 else "higher"
    how_much = number(abs(raw))
    if result.is_ratio_scale and others > 0:
        how_much = percent(abs(raw / others))
        if finding.value >= MANY_TIMES * others:
            how_much, lower = f"{finding.value / others:.2g} times", "as high"
    here, there = numbers(finding.value, others)
    whatever = "Whatever the circumstances, " if is_adjusted else ""
    return (
        f"{whatever}{plain(metric)} is {here} for them and {there} for all others, {how_much} "
        f"{lower}."
    )
