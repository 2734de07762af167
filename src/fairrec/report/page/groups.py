"""The groups of a result on the page: their rows and names, and a plot of them beside chance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray
from fairrec.core.errors import InputError, plain
from fairrec.inputs.users import Value
from fairrec.report.answer import Served
from fairrec.report.audit_answer import by_importance, headline_metric
from fairrec.report.findings import Mark, finding_marks, found_groups
from fairrec.report.group_rows import (
    MOST_VALUES,
    describe_outcome,
    read_groups,
    served_direction,
    served_least,
    single_attribute_groups,
)
from fairrec.report.metric_words import direction, end_names
from fairrec.report.page.view import DotPlot, DotRow, PageLimits, Role
from fairrec.report.words import group_label, number, signed_with_interval, tick
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.result.tables import ADJUSTED, BOUNDED, FACTS, NUMBERS, row_group

Key = tuple[str | None, ...]
"""One text an attribute; None where any value counts."""
_KNOWN = {*FACTS, *NUMBERS}


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group and its numbers for one metric."""

    key: Key
    depth: int
    support: int
    is_fully_scored: bool
    value: float
    value_low: float | None
    value_high: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    shrunken_difference: float | None
    simultaneous_low: float | None
    simultaneous_high: float | None
    p_value: float | None
    p_adjusted: float | None


class PageGroups:
    """The groups of a result: their rows, what they are called, and a number for each on the page.

    A group has the same number in every metric, so that choosing it in one chart marks it in all.
    Columns are named by position, as outside names could be anything.
    """

    def __init__(self, groups: pl.DataFrame, summary: AuditSummary) -> None:
        self.summary, self.table = summary, groups
        self.found = found_groups(summary)
        self.names = [*summary.attributes]
        n = len(self.names) + 1
        first, after = groups.columns[:n], groups.columns[n:]
        beside = {*ADJUSTED, *BOUNDED}
        if first != ["metric", *self.names] or {*after} - beside != _KNOWN:
            raise InputError(
                "groups.parquet does not belong to this result. Audit again, or put back the "
                "file that was written beside result.json."
            )
        self.axes = [f"a{i}" for i in range(len(self.names))]
        renamed = groups.clone()
        renamed.columns = ["metric", *self.axes, *after]
        self.of_metric = {
            name: renamed.filter(pl.col("metric") == name).with_row_index("at")
            for name in summary.metrics
        }
        self._numbers: dict[Key, int] = {}
        self._labels: dict[Key, str] = {}

    def key(self, group: Mapping[str, Value]) -> Key:
        """The key of a group as the result names it."""
        return tuple(str(group[name]) if name in group else None for name in self.names)

    def number(self, key: Key) -> int:
        """The number of a group on the page."""
        return self._numbers.setdefault(key, len(self._numbers))

    def label(self, key: Key) -> str:
        """The conditions of a group on one line."""
        if key not in self._labels:
            self._labels[key] = group_label(row_group(dict(zip(self.names, key, strict=True))))
        return self._labels[key]

    def roles(self, metric: str) -> dict[Key, Role]:
        """The groups of a metric that are more than one among many."""
        result = self.summary.metrics[metric]
        return {
            **{self.key(end.group): "best end" for end in result.most_advantaged},
            **{self.key(end.group): "worst end" for end in result.most_disadvantaged},
            **{self.key(finding.group): "finding" for finding in result.findings},
        }

    def rows(self, frame: pl.DataFrame) -> list[GroupRow]:
        """The rows of a part of the table."""
        n_axes = len(self.axes)
        chosen = frame.select(
            *self.axes,
            *("depth", "support", "is_fully_scored", "value", "value_low", "value_high"),
            *("difference", "difference_low", "difference_high"),
            *("shrunken_difference", "simultaneous_low", "simultaneous_high"),
            *("p_value", "p_adjusted"),
        )
        return [GroupRow(row[:n_axes], *row[n_axes:]) for row in chosen.iter_rows()]

    def shown(self, metric: str, named: Iterable[Key], most: int) -> pl.DataFrame:
        """At most so many rows of a metric, in their order, those named among them.

        Half of the others are the least likely under chance, the rest the largest and the most
        extreme ones.
        """
        frame = self.of_metric[metric]
        if frame.height <= most:
            return frame
        keys = pl.DataFrame(
            [*named], schema=dict.fromkeys(self.axes, pl.String), orient="row"
        ).unique()
        must = frame.join(keys, on=self.axes, how="semi", nulls_equal=True)["at"]
        each = max(1, (most - len(must)) // 4)
        chosen = [
            must,
            frame["at"].head(2 * each),
            frame.top_k(each, by="support")["at"],
            frame.top_k(each // 2, by="value")["at"],
            frame.bottom_k(each // 2, by="value")["at"],
        ]
        at = pl.concat(chosen).unique(maintain_order=True).head(most)
        return frame.join(at.to_frame(), on="at", how="semi", maintain_order="left")

    def pairs(self, metric: str) -> dict[tuple[int, int], pl.DataFrame]:
        """The groups of two attributes, by the positions of the two."""
        frame = self.of_metric[metric].filter(pl.col("depth") == 2)
        if not frame.height:
            return {}
        where = [pl.when(pl.col(axis).is_not_null()).then(i) for i, axis in enumerate(self.axes)]
        parts = frame.with_columns(
            first=pl.coalesce(where), second=pl.coalesce(where[::-1])
        ).partition_by("first", "second", as_dict=True)
        return {(int(first), int(second)): part for (first, second), part in parts.items()}

    def full_values(self, metrics: Sequence[str]) -> FloatArray:
        """(n_metrics, n_groups), values of the fully scored full intersections; NaN elsewhere."""
        full = pl.concat(
            frame.filter((pl.col("depth") == len(self.axes)) & pl.col("is_fully_scored")).select(
                pl.lit(i).alias("metric"), *self.axes, "value"
            )
            for i, frame in enumerate(self.of_metric[name] for name in metrics)
        )
        at = full.select(
            "metric", "value", group=pl.struct(self.axes).rank("dense").cast(pl.Int64) - 1
        )
        values = np.full((len(metrics), int(at["group"].max() or 0) + 1), np.nan)  # type: ignore[arg-type]
        values[at["metric"].to_numpy(), at["group"].to_numpy()] = at["value"].to_numpy()
        return values


ROUNDED = 6


def mark(role: Role, result: MetricResult) -> str:
    """A role in words; nothing for most groups."""
    low, high = end_names(result)
    words = {"group": "", "finding": "finding", "best end": high, "worst end": low}
    return words[role]


def short(value: float) -> float:
    """Digits enough for a drawing."""
    return float(f"{value:.{ROUNDED}g}")


def chance_band(
    result: MetricResult, n: FloatArray, n_others: FloatArray, depth: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """The lowest and the highest difference; 0 where nothing was tested or nobody is left.

    Parameters
    ----------
    n, n_others : users of the groups, and of all others they are compared with
    depth : their number of attributes; None for the widest band of any
    """
    tails = result.critical_tails or {}
    ends = [*tails.values()] if depth is None else [tails[depth]] if depth in tails else []
    above, below = np.max(ends, axis=0, initial=0.0) if ends else (0.0, 0.0)
    with np.errstate(divide="ignore"):
        error = (result.sd or 0.0) * np.sqrt(1 / n + 1 / n_others)
    error = np.where((n > 0) & (n_others > 0), error, 0.0)
    return -below * error, above * error


def others_of_fully_scored(
    result: MetricResult, summary: AuditSummary, n: FloatArray
) -> FloatArray:
    """Whom fully scored groups are compared with: after a search, the random sample without them.

    It holds their share of it, not all of their users.
    """
    search = summary.search
    share = 1.0
    if search.users_scored < search.users_total:
        share = result.n_compared / summary.n_users
    return np.asarray(result.n_compared - share * n)


def drawn_metrics(summary: AuditSummary, limits: PageLimits) -> tuple[str, ...]:
    """The metrics that are drawn, in their order; those of the worst findings go first."""
    if len(summary.metrics) <= limits.metrics:
        return tuple(summary.metrics)
    told = (name for found in found_groups(summary) for name, _ in found.findings)
    chosen = {*[*dict.fromkeys((*told, *summary.metrics))][: limits.metrics]}
    return tuple(name for name in summary.metrics if name in chosen)


def about_drawn(summary: AuditSummary, limits: PageLimits) -> str:
    """How many metrics have charts, where not all have."""
    n_drawn, n_all = limits.metrics, len(summary.metrics)
    if n_all <= n_drawn:
        return ""
    return f"Charts are drawn for {n_drawn:,} of {n_all:,} metrics, those with findings first."


MOST_METRICS = 12
"""Plots on a page; the table has the other metrics."""
MOST_OF_ATTRIBUTE = 60
SHOWN = 10
"""Groups of several attributes that are not folded."""
_TICKS = 5
_PADDING = 0.04


class _OfGroup(NamedTuple):
    """A group in a metric: its numbers, its verdict and what chance shows at its size."""

    support: int
    value: float | None
    difference: float | None
    low: float | None
    high: float | None
    served: Served | None
    verdict: str
    chance: tuple[float, float] | None


def dot_plots(groups: PageGroups, limits: PageLimits) -> tuple[DotPlot, ...]:
    """A plot a metric, that of the answer first; every one has the same groups.

    The rows are those of the answer: each value of an attribute, then findings by several
    attributes. Values of an attribute with many of them are folded unless they are significant.
    """
    summary = groups.summary
    first = headline_metric(summary, groups.found)
    metrics = [name for name in by_importance(summary) if summary.metrics[name].is_tested]
    metrics.sort(key=lambda name: name != first)
    if not metrics:
        return ()
    marks = {groups.key(one.group): finding_marks(one, summary) for one in groups.found}
    keys: dict[Key, bool] = {}
    for ones in single_attribute_groups(groups.table, summary, metrics[0]).values():
        for one in ones[:MOST_OF_ATTRIBUTE]:
            key = groups.key(one.group)
            keys[key] = len(ones) > MOST_VALUES and key not in marks
    deeper = [groups.key(one.group) for one in groups.found if len(one.group) > 1]
    if keys and not deeper and all(keys.values()):
        result = summary.metrics[metrics[0]]
        for ones in single_attribute_groups(groups.table, summary, metrics[0]).values():
            keys |= {groups.key(one.group): False for one in served_least(ones, result)}
    keys |= {key: at >= SHOWN for at, key in enumerate(deeper[: limits.findings])}
    return tuple(
        _plot(name, keys, marks, groups)
        for name in metrics[:MOST_METRICS]
        if keys and summary.metrics[name].sd
    )


def _plot(
    metric: str,
    keys: Mapping[Key, bool],
    marks: Mapping[Key, tuple[Mark, ...]],
    groups: PageGroups,
) -> DotPlot:
    """The plot of a metric; `keys` says of each group whether it is folded."""
    result = groups.summary.metrics[metric]
    at = _numbers_of_rows(metric, keys, groups)
    ends = [
        end
        for one in at.values()
        for end in (one.difference, one.low, one.high)
        if end is not None and math.isfinite(end)
    ]
    # the bands too, but those of small groups not beyond what the intervals reach
    most = max(map(abs, ends), default=0.0)
    ends += [min(most, max(-most, end)) for one in at.values() for end in one.chance or ()]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    padding = _PADDING * (high - low) or 1.0
    low, high = low - padding, high + padding

    def place(value: float) -> float:
        return round(100 * min(1.0, max(0.0, (value - low) / (high - low))), 2)

    rows = []
    for key, is_folded in keys.items():
        one = at.get(key, _NO_VALUE)
        size, lower, upper = one.difference, one.low, one.high
        difference, interval = signed_with_interval(size, lower, upper)
        span = None
        if size is not None:
            span = place(low if lower is None else lower), place(high if upper is None else upper)
        rows.append(
            DotRow(
                group=groups.number(key),
                label=groups.label(key),
                users=f"{one.support:,}" if one.support else "-",
                value=number(one.value, result.mean),
                served=one.served or "",
                difference=difference,
                interval="" if interval == "-" else interval,
                at=None if size is None else place(size),
                span=span,
                chance=None if one.chance is None else (place(one.chance[0]), place(one.chance[1])),
                verdict=one.verdict,
                marks=tuple(mark for mark in marks.get(key, ()) if mark.metric != plain(metric)),
                is_folded=is_folded,
                is_finding=key in marks,
            )
        )
    return DotPlot(
        metric=plain(metric),
        called=plain(result.called),
        direction=direction(result.higher_is_better),
        ticks=tuple((place(at), tick(at)) for at in ticks(low, high)),
        zero=place(0.0),
        rows=tuple(rows),
    )


_NO_VALUE = _OfGroup(0, None, None, None, None, None, "", None)


def _numbers_of_rows(metric: str, keys: Iterable[Key], groups: PageGroups) -> dict[Key, _OfGroup]:
    """What is shown of each group that has a value."""
    summary, frame = groups.summary, groups.of_metric[metric]
    result = summary.metrics[metric]
    wanted = pl.DataFrame(
        [*keys], schema=dict.fromkeys(groups.axes, pl.String), orient="row"
    ).unique()
    part = frame.join(wanted, on=groups.axes, how="semi", nulls_equal=True).drop("at")
    fully = part["is_fully_scored"].to_list()
    shown = {}
    for one, is_fully_scored in zip(read_groups(part, summary), fully, strict=True):
        chance = _chance(result, summary, one.support, is_fully_scored, len(one.group))
        numbers_of = (one.value, one.difference, one.low, one.high)
        served = served_direction(one, result)
        verdict = describe_outcome(one, served)
        shown[groups.key(one.group)] = _OfGroup(one.support, *numbers_of, served, verdict, chance)
    return shown


def _chance(
    result: MetricResult, summary: AuditSummary, n: int, is_fully_scored: bool, depth: int
) -> tuple[float, float] | None:
    """Where a random group of `n` users by so many attributes would be.

    None among users with equal covariates, where it takes more than its size to tell.
    """
    if summary.adjustment is not None or result.critical_tails is None:
        return None
    size = np.array(float(n))
    others = result.n_compared - size
    if is_fully_scored:
        others = others_of_fully_scored(result, summary, size)
    if others <= 0:
        return None
    low, high = chance_band(result, size, others, depth)
    return float(low), float(high)


def ticks(low: float, high: float) -> tuple[float, ...]:
    """Round numbers in a range, 0 among them.

    >>> ticks(-0.41, 0.12)
    (-0.4, -0.3, -0.2, -0.1, 0.0, 0.1)
    """
    rough = (high - low) / _TICKS
    step = 10 ** math.floor(math.log10(rough))
    step *= next(times for times in (1, 2, 5, 10) if times * step >= 0.9 * rough)
    first, last = math.ceil(low / step), math.floor(high / step)
    return tuple(float(f"{at * step:.12g}") for at in range(first, last + 1))


def about_rows(groups: PageGroups, n_shown: int) -> str:
    """What the rows are, in a sentence, and what the intervals of items allow for."""
    unit, n_deeper = groups.summary.unit, sum(len(one.group) > 1 for one in groups.found)
    beside = ""
    if not unit.is_users:
        beside = f" Intervals allow for another sample of users; the {unit.many} stay as they are."
    more = ""
    if n_deeper:
        more = ", then intersections that differ significantly, worst first"
    if n_deeper > n_shown:
        more += f" ({n_deeper - n_shown:,} more in result.json)"
    return f"Each value of one attribute{more}.{beside}"
