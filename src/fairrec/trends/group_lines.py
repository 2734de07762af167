"""Tables of groups of several releases -> lines: a group in one metric, release after release."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, finite_or_none
from fairrec.core.errors import InputError, listed, plain, unknown_name
from fairrec.core.options import spell
from fairrec.metrics.direction import harm
from fairrec.result.tables import row_group
from fairrec.statistics.intervals import Interval
from fairrec.statistics.verdict import harm_interval
from fairrec.trends.e_process import standard_errors
from fairrec.trends.options import Conditions
from fairrec.trends.releases import Release
from fairrec.trends.result import TrendPoint

NUMBERS = (
    *("value", "support", "difference", "difference_low", "difference_high"),
    *("simultaneous_low", "simultaneous_high"),
)


@dataclass(frozen=True, slots=True)
class Lines:
    """All lines; arrays are (n_lines, n_releases), NaN where a release has no such number.

    Parameters
    ----------
    groups : conditions of each line
    points : of each line and release, as they are shown; None for a gap
    error : standard error of the difference, at least that of a random group of as many
    error_by_users : the same as users drawn again tell it, where items are compared; of users as
        `error`
    """

    metrics: list[str]
    groups: list[dict[str, str]]
    points: list[list[TrendPoint | None]]
    difference: FloatArray
    error: FloatArray
    error_by_users: FloatArray
    directions: Mapping[str, bool | None]

    @property
    def is_known(self) -> BoolArray:
        """Whether a release says how far a line's group is from all others, and how surely."""
        return np.isfinite(self.error) & np.isfinite(self.difference)

    def conditions(self, line: int) -> Conditions:
        """The group of a line."""
        return frozenset(self.groups[line].items())


def build_lines(
    releases: Sequence[Release], metrics: Sequence[str], groups: Sequence[Conditions]
) -> Lines:
    """The lines of some metrics: of these groups, or of all where none are named."""
    directions = metric_directions(releases, metrics)
    attributes = [*dict.fromkeys(name for one in releases for name in one.summary.attributes)]
    keys = ["metric", *attributes]
    tables = []
    for look, release in enumerate(releases):
        there = [name for name in keys if name in release.groups.columns]
        table = release.groups.filter(pl.col("metric").is_in(list(metrics)))
        table = table.select(*there, pl.col(NUMBERS).cast(pl.Float64), "outcome")
        tables.append(table.with_columns(pl.lit(look).alias("look")))
    frame = pl.concat(tables, how="diagonal_relaxed")
    if groups:
        frame = _select_groups(frame, attributes, groups)
    by_line = frame.group_by(keys, maintain_order=True).agg("look", *NUMBERS, "outcome")
    rows = by_line.with_row_index("line").explode("look", *NUMBERS, "outcome")
    at = rows["line"].to_numpy(), rows["look"].to_numpy()
    shape = by_line.height, len(releases)

    def spread(values: FloatArray) -> FloatArray:
        found = np.full(shape, math.nan)
        found[at] = values
        return found

    points: list[list[TrendPoint | None]] = [[None] * shape[1] for _ in range(shape[0])]
    for row in rows.iter_rows(named=True):
        points[row["line"]][row["look"]] = _point(row, directions[row["metric"]])
    return Lines(
        by_line["metric"].to_list(),
        [row_group(row) for row in by_line.select(attributes).iter_rows(named=True)],
        points,
        spread(rows["difference"].fill_null(math.nan).to_numpy()),
        spread(_errors(releases, rows)),
        spread(_errors(releases, rows, is_by_users=True)),
        directions,
    )


def _point(row: Mapping[str, Any], higher_is_better: bool | None) -> TrendPoint | None:
    if row["value"] is None or not math.isfinite(row["value"]):
        return None
    difference = finite_or_none(math.nan if row["difference"] is None else row["difference"])
    return TrendPoint(
        value=row["value"],
        support=int(row["support"] or 0),
        difference=difference,
        harm=None if difference is None else harm(difference, higher_is_better),
        interval=_harms(row["difference_low"], row["difference_high"], higher_is_better),
        simultaneous=_harms(row["simultaneous_low"], row["simultaneous_high"], higher_is_better),
        outcome=row["outcome"],
    )


def _harms(
    low: float | None, high: float | None, higher_is_better: bool | None
) -> tuple[float | None, float | None]:
    """The interval of a difference as that of a harm; None: no limit."""
    ends = Interval(
        np.array(-math.inf if low is None else low), np.array(math.inf if high is None else high)
    )
    least, most = harm_interval(ends, higher_is_better)
    return finite_or_none(float(least)), finite_or_none(float(most))


def _select_groups(
    frame: pl.DataFrame, attributes: Sequence[str], groups: Sequence[Conditions]
) -> pl.DataFrame:
    """The rows of some groups; an error that names one that no release has."""
    parts = []
    for group in groups:
        wanted = dict(group)
        for name in wanted:
            if name not in attributes:
                raise unknown_name("attribute in these audits", name, attributes)
        rows = frame.filter(pl.col(name).eq_missing(wanted.get(name)) for name in attributes)
        if rows.is_empty():
            label = ", ".join(f"{plain(name)}={plain(value)}" for name, value in sorted(group))
            values = "; ".join(
                f"{plain(name)} has {listed(frame[name].drop_nulls().unique().sort())}"
                for name in wanted
            )
            raise InputError(
                f"No release has the group {label}. It may be too small, or its values may be "
                f"other ones: {values}."
            )
        parts.append(rows)
    return pl.concat(parts)


def metric_directions(
    releases: Sequence[Release], metrics: Sequence[str]
) -> dict[str, bool | None]:
    """Which end of each metric is better; an error where releases do not agree."""
    directions = {}
    for metric in metrics:
        there = [one.summary.metrics[metric] for one in releases if metric in one.summary.metrics]
        found = {about.higher_is_better for about in there}
        if len(found) > 1:
            raise InputError(
                f"{plain(metric)}: its better end is not the same in all releases, so harms cannot "
                f"be compared. Follow other metrics with {spell('metric')}."
            )
        (directions[metric],) = found
    return directions


def _errors(
    releases: Sequence[Release], rows: pl.DataFrame, is_by_users: bool = False
) -> FloatArray:
    """(n_rows,), standard errors of differences."""
    n_all, sd, alpha = np.full((3, rows.height), math.nan)
    looks, metrics = rows["look"].to_numpy(), rows["metric"]
    for look, release in enumerate(releases):
        alpha[looks == look] = release.summary.alpha
        for name, about in release.summary.metrics.items():
            if about.sd is not None and (release.summary.unit.is_users or not is_by_users):
                mine = (looks == look) & (metrics == name).to_numpy()
                n_all[mine], sd[mine] = about.n_compared or about.n_defined, about.sd
    low, high, n = (
        rows[name].fill_null(math.nan).to_numpy()
        for name in ("difference_low", "difference_high", "support")
    )
    return standard_errors(low, high, alpha, n, n_all, sd)
