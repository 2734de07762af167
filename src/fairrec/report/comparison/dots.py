"""The changes of groups as dots with their intervals, a plot for each metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import polars as pl

from fairrec.core.errors import plain
from fairrec.report.comparison.words import status_of
from fairrec.report.page.dot_plot import ticks
from fairrec.report.text.metric_words import direction
from fairrec.report.words import group_label, number, numbers, signed_interval, tick, with_sign
from fairrec.result.comparison import ComparisonSummary, MetricComparison
from fairrec.result.comparison_parts import NUMBERS
from fairrec.result.tables import group_in
from fairrec.statistics.compared import Loss

Moved = Literal["worse", "better", "changed", "within"]
"""What a mark says; changed where no end is better, within where nothing is shown."""
ROWS_SHOWN = 24
"""Groups in the plot of a metric."""
_PADDING = 0.04
_LOST = ("lost by more", "changed by more", "lost", "changed")


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
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    outcome: Loss
    is_behind: bool

    @property
    def moved(self) -> Moved:
        """Which way, where that is shown."""
        if self.outcome in ("changed", "changed by more"):
            return "changed"
        return (
            "worse" if self.outcome in _LOST else "better" if self.outcome == "gained" else "within"
        )


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A group as words, and as places on the scale in percent."""

    cells: tuple[str, ...]
    moved: Moved
    at: float | None
    span: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class ChangePlot:
    """The groups of one metric: those shown to have lost first, then gained ones, then large ones.

    Parameters
    ----------
    matters : where the smallest harm worth acting on is; None where it is not on the scale
    """

    metric: str
    called: str
    direction: str
    status: str
    ticks: tuple[tuple[float, str], ...]
    zero: float
    matters: float | None
    rows: tuple[ChangeRow, ...]


def change_plots(summary: ComparisonSummary, changes: pl.DataFrame) -> tuple[ChangePlot, ...]:
    """A plot for each metric, those with groups that lost first."""
    metrics = summary.metrics

    def is_later(name: str) -> bool:
        return not metrics[name].lost or metrics[name].higher_is_better is None

    order = sorted(metrics, key=is_later)
    return tuple(
        _plot(name, metrics[name], changed_groups(name, summary, changes, ROWS_SHOWN))
        for name in order
    )


def changed_groups(
    name: str, summary: ComparisonSummary, changes: pl.DataFrame, most: int
) -> list[ChangedGroup]:
    """Some groups of a metric: those that lost, that gained, and the largest of few attributes."""
    mine = changes.filter(pl.col("metric") == name)
    is_lost = pl.col("outcome").is_in(_LOST) | pl.col("is_behind")
    is_gained = (pl.col("outcome") == "gained") & ~pl.col("is_behind")
    lost, gained = mine.filter(is_lost), mine.filter(is_gained).reverse()
    others = mine.filter(~is_lost & ~is_gained)
    others = others.sort("depth", "support", descending=[False, True], maintain_order=True)
    # where many lost, there is still room for some that gained
    first = lost.head(most - min(gained.height, most // 4))
    then = gained.head(most - first.height)
    axes = [*summary.attributes]
    rows = pl.concat([first, then, others]).head(most)
    columns = ("support", *NUMBERS, "outcome", "is_behind")
    return [
        ChangedGroup(
            group_label(group_in(dict(zip(axes, row, strict=False)))),
            *row[len(axes) :],
        )
        for row in rows.select(*axes, *columns).iter_rows()
    ]


def group_cells(group: ChangedGroup, metric: MetricComparison) -> tuple[str, ...]:
    """Label, users, before, after, change, interval, difference, interval and verdict as text."""
    behind = ", behind others" if metric.higher_is_better is not None else ", unlike others"
    return (
        group.label,
        f"{group.support:,}",
        *numbers(group.before, group.after),
        *_with_interval(group.change, group.low, group.high),
        *_with_interval(group.difference, group.difference_low, group.difference_high),
        f"{group.outcome}{behind if group.is_behind else ''}",
    )


def _with_interval(value: float | None, low: float | None, high: float | None) -> tuple[str, str]:
    if low is None or high is None or value is None:
        return with_sign(number(value)), "-"
    return with_sign(numbers(value, low, high)[0]), signed_interval(low, high, value)


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
        moved=group.moved,
        at=None if group.change is None else place(group.change),
        span=span,
    )
