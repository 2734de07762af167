"""The changes of groups as dots with their intervals, a plot for each metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import polars as pl

from fairrec.core.errors import plain
from fairrec.metrics.direction import harm
from fairrec.report.comparison.words import status_of
from fairrec.report.page.dot_plot import ticks
from fairrec.report.text.ends import direction
from fairrec.report.text.status import Status, status_words
from fairrec.report.words import group_label, numbers, signed_interval, tick, with_sign
from fairrec.result.comparison_schema import ComparisonSummary, MetricComparison
from fairrec.result.group_table import group_in
from fairrec.statistics.outcome import WORSE, Outcome, outcome_names

Moved = Literal["worse", "better", "changed", "within"]
"""What a mark says; changed where no end is better, within where nothing is shown."""
ROWS_SHOWN = 24
"""Groups in the plot of a metric."""
_PADDING = 0.04


@dataclass(frozen=True, slots=True)
class ChangedGroup:
    """A group of one metric in both audits; None for what is not known."""

    label: str
    support: int
    before: float | None
    after: float | None
    change: float | None
    low: float | None
    high: float | None
    is_beyond_chance: bool
    outcome: Outcome

    def moved(self, higher_is_better: bool | None) -> Moved:
        """Which way, where that is shown."""
        if not self.is_beyond_chance or self.change is None:
            return "within"
        if higher_is_better is None:
            return "changed"
        return "worse" if harm(self.change, higher_is_better) > 0 else "better"


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A group as words, and as places on the scale in percent."""

    cells: tuple[str, ...]
    moved: Moved
    at: float | None
    span: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class ChangePlot:
    """The groups of one metric: those shown to be worse first, then improved ones, then large ones.

    Parameters
    ----------
    matters : where the smallest harm worth acting on is; None where it is not on the scale
    """

    metric: str
    called: str
    direction: str
    status: Status
    ticks: tuple[tuple[float, str], ...]
    zero: float
    matters: float | None
    rows: tuple[ChangeRow, ...]


def change_plots(summary: ComparisonSummary, changes: pl.DataFrame) -> tuple[ChangePlot, ...]:
    """A plot for each metric, those with groups that became worse first."""
    metrics = summary.metrics

    def is_later(name: str) -> bool:
        return not metrics[name].worse or metrics[name].higher_is_better is None

    order = sorted(metrics, key=is_later)
    return tuple(
        _plot(name, metrics[name], changed_groups(name, summary, changes, ROWS_SHOWN))
        for name in order
    )


def changed_groups(
    name: str, summary: ComparisonSummary, changes: pl.DataFrame, most: int
) -> list[ChangedGroup]:
    """Some groups of a metric: worse ones, improved ones, and the largest of few attributes."""
    mine = changes.filter(pl.col("metric") == name)
    names = outcome_names(summary.metrics[name].higher_is_better)
    is_worse = pl.col("is_beyond_chance") & pl.col("outcome").is_in(names[: WORSE + 1])
    worse = mine.filter(is_worse)
    better = mine.filter(pl.col("is_beyond_chance") & ~is_worse).reverse()
    others = mine.filter(~pl.col("is_beyond_chance"))
    others = others.sort("depth", "support", descending=[False, True], maintain_order=True)
    # where many became worse, there is still room for some that improved
    first = worse.head(most - min(better.height, most // 4))
    then = better.head(most - first.height)
    axes = [*summary.attributes]
    rows = pl.concat([first, then, others]).head(most)
    columns = ("support", "before", "after", "change", "simultaneous_low", "simultaneous_high")
    return [
        ChangedGroup(
            group_label(group_in(dict(zip(axes, row, strict=False)))),
            *row[len(axes) :],
        )
        for row in rows.select(*axes, *columns, "is_beyond_chance", "outcome").iter_rows()
    ]


def group_cells(group: ChangedGroup, metric: MetricComparison) -> tuple[str, ...]:
    """Label, users, before, after, change, interval and verdict as text."""
    ends = [end for end in (group.low, group.high) if end is not None]
    known = "-"
    if group.low is not None and group.high is not None and group.change is not None:
        known = signed_interval(group.low, group.high, group.change)
    return (
        group.label,
        f"{group.support:,}",
        *numbers(group.before, group.after),
        with_sign(numbers(group.change, *ends)[0]),
        known,
        _verdict(group, metric),
    )


def _verdict(group: ChangedGroup, metric: MetricComparison) -> str:
    if group.moved(metric.higher_is_better) == "better":
        return "improved"
    return status_words(group.outcome, metric.matters is not None)


def _plot(name: str, metric: MetricComparison, groups: list[ChangedGroup]) -> ChangePlot:
    ends = [end for group in groups for end in (group.change, group.low, group.high)]
    known = [0.0, *(end for end in ends if end is not None)]
    low, high = min(known), max(known)
    padding = _PADDING * (high - low) or 1.0
    low, high = low - padding, high + padding

    def place(value: float) -> float:
        return round(100 * (value - low) / (high - low), 2)

    limit = None
    if metric.matters is not None and metric.higher_is_better is not None:
        limit = -metric.matters if metric.higher_is_better else metric.matters
    return ChangePlot(
        metric=plain(name),
        called=plain(metric.called),
        direction=direction(metric),
        status=status_of(metric),
        ticks=tuple((place(at), tick(at)) for at in ticks(low, high)),
        zero=place(0.0),
        matters=place(limit) if limit is not None and low < limit < high else None,
        rows=tuple(_row(group, metric, place) for group in groups),
    )


def _row(
    group: ChangedGroup, metric: MetricComparison, place: Callable[[float], float]
) -> ChangeRow:
    span = None
    if group.low is not None and group.high is not None:
        span = place(group.low), place(group.high)
    return ChangeRow(
        cells=group_cells(group, metric),
        moved=group.moved(metric.higher_is_better),
        at=None if group.change is None else place(group.change),
        span=span,
    )
