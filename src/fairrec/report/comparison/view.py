"""A comparison ready to lay out: its words and tables."""

from __future__ import annotations

from dataclasses import dataclass

from fairrec.core.errors import plain
from fairrec.core.units import USERS, Unit
from fairrec.report.comparison.dots import ChangedGroup, group_cells
from fairrec.report.comparison.words import about, headline, how, said_of, status_of, tone_of
from fairrec.report.text.p_values import p_of_gap
from fairrec.report.text.status import Status
from fairrec.report.text.table_view import TableView
from fairrec.report.text.verdict import Tone
from fairrec.report.text.view import LONGEST_LINE
from fairrec.report.words import (
    confidence,
    group_label,
    is_nothing,
    number,
    numbers,
    signed_interval,
    with_sign,
)
from fairrec.result.comparison_schema import (
    ComparisonSummary,
    GroupComparison,
    MetricComparison,
)
from fairrec.result.metric_schema import Chance
from fairrec.statistics.outcome import position_of

GROUPS_SHOWN = 20
"""Groups of each table, over all metrics."""


@dataclass(frozen=True, slots=True)
class MetricSaid:
    """One metric in words."""

    metric: str
    status: Status
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """A comparison, ready to lay out.

    Parameters
    ----------
    about : what was compared with what
    how : whose values, and what the intervals hold for
    changed : groups in metrics of which neither end is better
    """

    headline: str
    tone: Tone
    about: str
    how: str
    metrics: tuple[MetricSaid, ...]
    everyone: TableView
    worse: TableView
    changed: TableView
    improved: TableView
    differences: TableView
    notes: tuple[str, ...]
    reproduce: str
    unit: Unit = USERS

    @property
    def tables(self) -> tuple[TableView, ...]:
        """Those with rows, in order."""
        named = (self.worse, self.changed, self.improved, self.everyone, self.differences)
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
        worse=_groups("Groups that became worse", summary, _with_an_end(metrics), "worse"),
        changed=_groups(
            "Groups that changed, where neither end is better",
            summary,
            {name: metric for name, metric in metrics.items() if metric.higher_is_better is None},
            "worse",
        ),
        improved=_groups("Groups that improved", summary, _with_an_end(metrics), "improved"),
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
    interval = f"{confidence(summary.alpha)} interval, all at once"
    return ("group", summary.unit.many, "before", "after", "change", interval, "verdict")


GROUP_NUMERIC = (False, True, True, True, True, True, False)


def _with_an_end(metrics: dict[str, MetricComparison]) -> dict[str, MetricComparison]:
    """Those in which a group can be worse."""
    return {name: one for name, one in metrics.items() if one.higher_is_better is not None}


def _groups(
    title: str, summary: ComparisonSummary, metrics: dict[str, MetricComparison], which: str
) -> TableView:
    found: list[tuple[str, MetricComparison, GroupComparison]] = [
        (name, metric, group)
        for name, metric in metrics.items()
        for group in getattr(metric, which)
    ]
    # those by more than matters first, whatever the metric
    found.sort(key=lambda one: position_of(one[2].outcome))
    counts = {"worse": ("n_worse_by_more", "n_worse"), "improved": ("n_improved",)}[which]
    n_all = sum(getattr(metric, n) for metric in metrics.values() for n in counts)
    rows = tuple(
        (plain(name), *group_cells(_changed(group), metric))
        for name, metric, group in found[:GROUPS_SHOWN]
    )
    more = f"and {n_all - len(rows):,} more in changes.parquet" if n_all > len(rows) else ""
    return TableView(
        title=title,
        columns=("metric", *group_columns(summary)),
        numeric=(False, *GROUP_NUMERIC),
        rows=rows,
        note=more,
        spare=("before", "after"),
    )


def _changed(group: GroupComparison) -> ChangedGroup:
    return ChangedGroup(
        label=group_label(group.group),
        support=group.support,
        before=group.before,
        after=group.after,
        change=group.change,
        low=group.simultaneous[0],
        high=group.simultaneous[1],
        is_beyond_chance=True,
        outcome=group.outcome,
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
        note=f"Intervals of all {many} are for one metric at a time; p of a gap: against chance.",
        spare=(many, "before", "after"),
    )


def _chance(chance: Chance | None) -> str:
    return "" if chance is None else f" ({p_of_gap(chance)})"
