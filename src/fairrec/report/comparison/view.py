"""A comparison ready to lay out: its words and tables."""

from __future__ import annotations

from dataclasses import dataclass

from fairrec.core.errors import plain
from fairrec.core.units import USERS, Unit
from fairrec.report.comparison.dots import ChangedGroup, group_cells
from fairrec.report.comparison.words import about, headline, how, said_of, status_of, tone_of
from fairrec.report.text.metric_words import p_of_gap
from fairrec.report.text.verdict import Tone
from fairrec.report.text.view import LONGEST_LINE
from fairrec.report.words import (
    TableView,
    confidence,
    group_label,
    is_nothing,
    number,
    numbers,
    signed_interval,
    with_sign,
)
from fairrec.result.comparison import (
    ComparisonSummary,
    GroupComparison,
    MetricComparison,
)
from fairrec.result.metric_schema import Chance
from fairrec.statistics.compared import LOSSES

GROUPS_SHOWN = 8
"""Groups in the table, over all metrics."""


@dataclass(frozen=True, slots=True)
class MetricSaid:
    """One metric in words."""

    metric: str
    status: str
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """A comparison, ready to lay out.

    Parameters
    ----------
    about : what was compared with what
    how : whose values, and what the intervals hold for
    everyone : how the means changed
    groups : those shown to have lost, gained, or changed otherwise than all others
    """

    headline: str
    tone: Tone
    about: str
    how: str
    metrics: tuple[MetricSaid, ...]
    everyone: TableView
    groups: TableView
    differences: TableView
    notes: tuple[str, ...]
    reproduce: str
    unit: Unit = USERS

    @property
    def tables(self) -> tuple[TableView, ...]:
        """Those with rows, in order."""
        named = (self.everyone, self.groups, self.differences)
        return tuple(table for table in named if table.rows)


def build_comparison_view(summary: ComparisonSummary) -> ComparisonView:
    """The view of a comparison."""
    metrics = summary.metrics
    return ComparisonView(
        unit=summary.unit,
        headline=headline(summary),
        tone=tone_of(summary),
        about=about(summary),
        how=how(summary),
        metrics=tuple(
            MetricSaid(plain(name), status_of(metric), said_of(name, summary))
            for name, metric in metrics.items()
        ),
        everyone=_everyone(summary),
        groups=_groups(summary),
        differences=TableView(
            title="What else differs",
            columns=("what", "base", "candidate"),
            numeric=(False, False, False),
            rows=tuple(
                tuple(plain(part) or "-" for part in (one.what, one.base, one.candidate))
                for one in summary.differences
            ),
        ),
        notes=tuple(plain(note, LONGEST_LINE) for note in summary.notes),
        reproduce=(
            f"{plain(summary.command, LONGEST_LINE)}  (FairRec {plain(summary.fairrec_version)})"
        ),
    )


def group_columns(summary: ComparisonSummary) -> tuple[str, ...]:
    """What `group_cells` fills."""
    return (
        *("group", summary.unit.many, "before", "after", "change", "interval of it"),
        *("against others", "interval of that", "verdict"),
    )


GROUP_NUMERIC = (False, *(True,) * 7, False)


def _groups(summary: ComparisonSummary) -> TableView:
    """Groups of which something is shown, those behind all others and those that lost first."""
    found: list[tuple[str, MetricComparison, GroupComparison]] = []
    n_all = 0
    for name, metric in summary.metrics.items():
        only_behind = [group for group in metric.behind if group not in metric.lost + metric.gained]
        groups = [*metric.lost, *only_behind, *metric.gained]
        found += [(name, metric, group) for group in groups]
        n_all += metric.n_lost + metric.n_gained + len(only_behind)
    found.sort(
        key=lambda one: (
            one[1].higher_is_better is None,
            not one[2].is_behind,
            LOSSES.index(one[2].outcome),
        )
    )
    rows = tuple(
        (plain(name), *group_cells(_changed(group), metric))
        for name, metric, group in found[:GROUPS_SHOWN]
    )
    return TableView(
        title="Groups that changed",
        columns=("metric", *group_columns(summary)),
        numeric=(False, *GROUP_NUMERIC),
        rows=rows,
        note=f"and {n_all - len(rows):,} more in changes.parquet" if n_all > len(rows) else "",
        spare=("interval of that", "before", "after"),
    )


def _changed(group: GroupComparison) -> ChangedGroup:
    ends = group.difference_simultaneous or (None, None)
    return ChangedGroup(
        label=group_label(group.group),
        support=group.support,
        before=group.before,
        after=group.after,
        change=group.change,
        low=group.simultaneous[0],
        high=group.simultaneous[1],
        difference=group.difference,
        difference_low=ends[0],
        difference_high=ends[1],
        outcome=group.outcome,
        is_behind=group.is_behind,
    )


def _everyone(summary: ComparisonSummary) -> TableView:
    rows = []
    for name, metric in summary.metrics.items():
        change, gap = metric.everyone, metric.gap
        means: tuple[str, ...] = ("-",) * 5
        if change is not None and change.change is not None:
            ends = change.interval or ()
            interval = signed_interval(*change.interval, change.change) if change.interval else "-"
            by = with_sign(numbers(change.change, *ends)[0])
            if is_nothing(change.change, change.before or 0.0):
                by = "0"  # items share the places of lists, so that their mean stays
            n_users = f"{change.n_users:,}"
            means = (n_users, *numbers(change.before, change.after), by, interval)
        gaps = (
            f"{number(size)}{_chance(chance)}"
            for size, chance in (
                (gap.before, gap.chance_before),
                (gap.after, gap.chance_after),
            )
        )
        rows.append((plain(name), *means, *gaps, status_of(metric)))
    interval = f"{confidence(summary.alpha)} interval"
    many = summary.unit.many
    return TableView(
        title=f"All {many}, and the gap between {summary.unit.ends} intersection",
        columns=(
            *("metric", many, "before", "after", "change", interval),
            *("gap before", "gap after", "verdict on groups"),
        ),
        numeric=(False, *(True,) * 7, False),
        rows=tuple(rows),
        note="Intervals hold for all metrics at once.",
        spare=(many, "gap before", "gap after"),
    )


def _chance(chance: Chance | None) -> str:
    return "" if chance is None else f" ({p_of_gap(chance)})"
