"""The groups of a result on the page: their rows and names, what chance shows, what is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray
from fairrec.core.errors import InputError
from fairrec.inputs.users import Value
from fairrec.report.findings import found_groups
from fairrec.report.metric_words import end_names
from fairrec.report.page.chart_view import Role
from fairrec.report.page.view import PageLimits
from fairrec.report.words import group_label
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.result.tables import ADJUSTED, BOUNDED, FACTS, NUMBERS, OF_ITEMS, row_group

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


class GroupFrame:
    """The table of groups with columns named by position: outside names could be anything."""

    def __init__(self, groups: pl.DataFrame, summary: AuditSummary) -> None:
        names = [*summary.attributes]
        first, after = groups.columns[: len(names) + 1], groups.columns[len(names) + 1 :]
        beside = {*ADJUSTED, *BOUNDED, *OF_ITEMS}
        if first != ["metric", *names] or {*after} - beside != _KNOWN:
            raise InputError(
                "groups.parquet does not belong to this result. Audit again, or put back the "
                "file that was written beside result.json."
            )
        self.names = names
        self.axes = [f"a{i}" for i in range(len(names))]
        renamed = groups.clone()
        renamed.columns = ["metric", *self.axes, *after]
        self.of_metric = {
            name: renamed.filter(pl.col("metric") == name).with_row_index("at")
            for name in summary.metrics
        }

    def key(self, group: Mapping[str, Value]) -> Key:
        """The key of a group as the result names it."""
        return tuple(str(group[name]) if name in group else None for name in self.names)

    def label(self, key: Key) -> str:
        """The conditions of a group on one line."""
        return group_label(row_group(dict(zip(self.names, key, strict=True))))

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
        """(n_metrics, n_groups), values of the fully scored full combinations; NaN elsewhere."""
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


@dataclass(slots=True)
class PageGroups:
    """The groups of a result: their rows, what they are called, and a number for each on the page.

    A group has the same number in every metric, so that choosing it in one chart marks it in all.
    """

    frame: GroupFrame
    summary: AuditSummary
    _numbers: dict[Key, int] = field(default_factory=dict)
    _labels: dict[Key, str] = field(default_factory=dict)

    def number(self, key: Key) -> int:
        """The number of a group on the page."""
        return self._numbers.setdefault(key, len(self._numbers))

    def label(self, key: Key) -> str:
        """What a group is called."""
        if key not in self._labels:
            self._labels[key] = self.frame.label(key)
        return self._labels[key]

    def roles(self, metric: str) -> dict[Key, Role]:
        """The groups of a metric that are more than one among many."""
        result = self.summary.metrics[metric]
        roles: dict[Key, Role] = {}
        for end in result.most_advantaged:
            roles[self.frame.key(end.group)] = "best end"
        for end in result.most_disadvantaged:
            roles[self.frame.key(end.group)] = "worst end"
        for finding in result.findings:
            roles[self.frame.key(finding.group)] = "finding"
        return roles


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
