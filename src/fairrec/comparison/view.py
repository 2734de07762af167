"""A comparison ready to lay out: its words and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from fairrec.comparison.losses import LOSSES, Loss
from fairrec.comparison.result import NUMBERS, ComparisonSummary, GroupComparison, MetricComparison
from fairrec.comparison.words import about, build_status, choose_tone, describe_parts, headline, how
from fairrec.core.audited_entity import USERS, Unit
from fairrec.core.errors import plain
from fairrec.core.options import spell_in
from fairrec.report.answer import Answer, AnswerTable, Block, Note, Row, Served
from fairrec.report.metric_words import direction, format_gap_p_value
from fairrec.report.page.groups import ticks
from fairrec.report.view import LONGEST_LINE
from fairrec.report.words import (
    TableView,
    confidence,
    group_label,
    is_nothing,
    number,
    numbers,
    signed_interval,
    tick,
    with_sign,
)
from fairrec.result.tables import row_group

Moved = Literal["worse", "better", "changed", "within"]
"""What a mark says; changed where no end is better, within where nothing is shown."""
ROWS_SHOWN = 24
"""Groups in the plot of a metric."""
_PADDING = 0.04
_LOST = ("lost beyond tolerance", "changed beyond tolerance", "lost", "changed")


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
        if self.outcome in ("changed", "changed beyond tolerance"):
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
    tolerance : where the smallest harm worth acting on is; None where it is not on the scale
    """

    metric: str
    called: str
    direction: str
    status: str
    ticks: tuple[tuple[float, str], ...]
    zero: float
    tolerance: float | None
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
            group_label(row_group(dict(zip(axes, row, strict=False)))),
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
    if metric.tolerance is not None and metric.higher_is_better is not None:
        limit = -metric.tolerance if metric.higher_is_better else metric.tolerance
    return ChangePlot(
        metric=plain(name),
        called=plain(metric.called),
        direction=direction(metric.higher_is_better),
        status=build_status(metric),
        ticks=tuple((place(at), tick(at)) for at in ticks(low, high)),
        zero=place(0.0),
        tolerance=place(limit) if limit is not None and low < limit < high else None,
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
    how : whose values, and what the intervals hold for
    everyone : how the means changed
    groups : those shown to have lost, gained, or changed otherwise than all others
    """

    answer: Answer
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
    differences = tuple(
        tuple(plain(part) or "-" for part in (one.what, one.base, one.candidate))
        for one in summary.differences
    )
    notes = tuple(plain(note, LONGEST_LINE) for note in summary.notes)
    also = [f"{what} ({base} → {candidate})" for what, base, candidate in differences]
    return ComparisonView(
        unit=summary.unit,
        answer=_answer(summary, [*(Note("note", text) for text in notes)], also),
        how=how(summary),
        metrics=tuple(
            MetricSaid(plain(name), build_status(metric), describe_parts(name, summary))
            for name, metric in summary.metrics.items()
        ),
        everyone=_everyone(summary),
        groups=_groups(summary),
        differences=TableView(
            title="What else differs",
            columns=("what", "base", "candidate"),
            numeric=(False, False, False),
            rows=differences,
        ),
        notes=notes,
        reproduce=(
            f"{plain(summary.command, LONGEST_LINE)}  (FairRec {plain(summary.fairrec_version)})"
        ),
    )


def _answer(summary: ComparisonSummary, notes: Sequence[Note], also: Sequence[str]) -> Answer:
    """The metric that lost most with its groups, then a line for each other metric."""
    metrics = summary.metrics
    names = sorted(
        metrics,
        key=lambda name: (
            metrics[name].higher_is_better is None,
            LOSSES.index(metrics[name].outcome),
        ),
    )
    first, *others = names
    metric = metrics[first]
    steps: tuple[str, ...] = ()
    if metric.tolerance is None and metric.outcome == "inconclusive":
        option = spell_in(summary.command, "tolerance", "5%")
        steps = (f"{option}: whether a loss by more than that is ruled out",)
    differs = [Note("differs", "; ".join(also))] if also else []
    return Answer(
        tone=choose_tone(summary),
        headline=headline(summary),
        about=(about(summary), how(summary)),
        notes=(*notes, *differs),
        table=_answer_table(first, metric, summary),
        sentences=describe_parts(first, summary)[:2],
        others=tuple(_other_metric(name, metrics[name]) for name in others),
        next_steps=steps,
    )


def _answer_table(name: str, metric: MetricComparison, summary: ComparisonSummary) -> AnswerTable:
    """The mean of all, and the groups shown to have changed."""
    _, rows = changed_rows(summary, {name: metric})
    # groups of few attributes first, which hold most of the others
    rows.sort(key=lambda one: (one[2].label.count("="), not one[2].is_behind))
    behind = "unlike others" if metric.higher_is_better is None else "behind"
    cells = [
        Row(
            one.label,
            (
                f"{one.support:,}",
                *numbers(one.before, one.after),
                *_with_interval(one.change, one.low, one.high),
                _BEHIND.get(one.outcome.split()[0], behind)
                if one.is_behind
                else one.outcome.split()[0],
            ),
            _SERVED.get(one.moved),
        )
        for _, _, one in rows
    ]
    everyone = []
    change = metric.everyone
    if change is not None and change.change is not None:
        interval = change.interval or (None, None)
        everyone = [
            Row(
                f"all {summary.unit.many}",
                (
                    f"{change.n_users:,}",
                    *numbers(change.before, change.after),
                    *_with_interval(change.change, *interval),
                    change.verdict,
                ),
            )
        ]
    columns = (
        *(plain(name), summary.unit.many, "before", "after", "change"),
        *(f"{confidence(summary.alpha)} interval (all)", "verdict"),
    )
    more = "more groups changed, on the page"
    blocks = (Block("", tuple(everyone), ""), Block("", tuple(cells), more, is_ranked=True))
    return AnswerTable(columns, (False, *(True,) * 5, False), blocks)


def _other_metric(name: str, metric: MetricComparison) -> str:
    change = metric.everyone
    said = f"{plain(name)}: {build_status(metric)}"
    if change is None or change.change is None:
        return said
    return f"{said}, on average {' → '.join(numbers(change.before, change.after))}"


_BEHIND = {"lost": "lost more", "gained": "gained less"}
"""Of groups that changed for the worse beside all others."""
_SERVED: dict[Moved, Served] = {"worse": "worse", "better": "better", "changed": "differs"}


def group_columns(summary: ComparisonSummary) -> tuple[str, ...]:
    """What `group_cells` fills."""
    return (
        *("group", summary.unit.many, "before", "after", "change", "interval of it"),
        *("against others", "interval of that", "verdict"),
    )


GROUP_NUMERIC = (False, *(True,) * 7, False)


def _groups(summary: ComparisonSummary) -> TableView:
    """Groups of which something is shown, those behind all others and those that lost first."""
    n_all, found = changed_rows(summary, summary.metrics)
    rows = tuple(
        (plain(name), *group_cells(group, metric)) for name, metric, group in found[:GROUPS_SHOWN]
    )
    return TableView(
        title="Groups that changed",
        columns=("metric", *group_columns(summary)),
        numeric=(False, *GROUP_NUMERIC),
        rows=rows,
        note=f"and {n_all - len(rows):,} more in changes.parquet" if n_all > len(rows) else "",
    )


def changed_rows(
    summary: ComparisonSummary, metrics: Mapping[str, MetricComparison]
) -> tuple[int, list[tuple[str, MetricComparison, ChangedGroup]]]:
    """How many groups of some metrics changed; some of them, the worst first."""
    found: list[tuple[str, MetricComparison, GroupComparison]] = []
    n_all = 0
    for name, metric in metrics.items():
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
    return n_all, [(name, metric, _changed(group)) for name, metric, group in found]


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
            number(size) if chance is None else f"{number(size)} ({format_gap_p_value(chance)})"
            for size, chance in (
                (gap.before, gap.chance_before),
                (gap.after, gap.chance_after),
            )
        )
        rows.append((plain(name), *means, *gaps, build_status(metric)))
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
    )
