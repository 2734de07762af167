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
from fairrec.report.words import group_label
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
    harm : how much worse than all others; NaN where neither end of the metric is better
    error : standard error of that, at least that of a random group of as many
    error_by_users : the same as other users would change it, where items are compared; of users as
        `error`
    """

    metrics: list[str]
    groups: list[dict[str, str]]
    points: list[list[TrendPoint | None]]
    harm: FloatArray
    error: FloatArray
    error_by_users: FloatArray

    @property
    def is_known(self) -> BoolArray:
        """Whether a release has a line's harm and its error."""
        return np.isfinite(self.error) & np.isfinite(self.harm)

    def conditions(self, line: int) -> Conditions:
        """The group of a line."""
        return frozenset(self.groups[line].items())


def build_lines(
    releases: Sequence[Release],
    directions: Mapping[str, bool | None],
    groups: Sequence[Conditions],
) -> Lines:
    """The lines of some metrics: of these groups, or of all where none are named.

    Parameters
    ----------
    directions : whether higher is better, by metric
    """
    attributes = [*dict.fromkeys(name for one in releases for name in one.summary.attributes)]
    tables = []
    for look, release in enumerate(releases):
        there = [name for name in ("metric", *attributes) if name in release.groups.columns]
        table = release.groups.filter(pl.col("metric").is_in([*directions]))
        table = table.select(*there, pl.col(NUMBERS).cast(pl.Float64), "outcome")
        tables.append(table.with_columns(look=pl.lit(look)))
    rows = pl.concat(tables, how="diagonal_relaxed")
    if groups:
        rows = _select_groups(rows, attributes, groups)
    keys = rows.select("metric", *attributes)
    lines = keys.unique(maintain_order=True).with_row_index("line")
    at = rows.join(
        lines, on=keys.columns, how="left", nulls_equal=True, maintain_order="left"
    ).select("line", "look")
    places = at["line"].to_numpy(), at["look"].to_numpy()
    shape = lines.height, len(releases)

    def spread(values: FloatArray) -> FloatArray:
        found = np.full(shape, math.nan)
        found[places] = values
        return found

    points: list[list[TrendPoint | None]] = [[None] * shape[1] for _ in range(shape[0])]
    for line, look, row in zip(*places, rows.iter_rows(named=True), strict=True):
        points[line][look] = _point(row, directions[row["metric"]])
    sign = {True: -1.0, False: 1.0, None: math.nan}
    signs = np.array([sign[directions[name]] for name in lines["metric"]])
    return Lines(
        lines["metric"].to_list(),
        [row_group(row) for row in lines.select(attributes).iter_rows(named=True)],
        points,
        signs[:, None] * spread(rows["difference"].fill_null(math.nan).to_numpy()),
        spread(_errors(releases, rows)),
        spread(_errors(releases, rows, is_by_users=True)),
    )


def _point(row: Mapping[str, Any], higher_is_better: bool | None) -> TrendPoint | None:
    """A group in a release; None where it has no value."""
    if row["value"] is None or not math.isfinite(row["value"]):
        return None
    difference, ends = row["difference"], []
    for name in ("difference", "simultaneous"):
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        interval = Interval(
            np.array(-math.inf if low is None else low),
            np.array(math.inf if high is None else high),
        )
        least, most = harm_interval(interval, higher_is_better)
        ends.append((finite_or_none(float(least)), finite_or_none(float(most))))
    return TrendPoint(
        value=row["value"],
        support=int(row["support"] or 0),
        harm=None if difference is None else harm(difference, higher_is_better),
        interval=ends[0],
        simultaneous=ends[1],
        outcome=row["outcome"],
    )


def _select_groups(
    rows: pl.DataFrame, attributes: Sequence[str], groups: Sequence[Conditions]
) -> pl.DataFrame:
    """The rows of some groups; an error that names one that no release has."""
    parts = []
    for group in groups:
        wanted = dict(sorted(group))
        for name in wanted:
            if name not in attributes:
                raise unknown_name("attribute in these audits", name, attributes)
        part = rows.filter(pl.col(name).eq_missing(wanted.get(name)) for name in attributes)
        if part.is_empty():
            values = "; ".join(
                f"{plain(name)} has {listed(rows[name].drop_nulls().unique().sort())}"
                for name in wanted
            )
            raise InputError(
                f"No release has the group {group_label(wanted)}. It may be too small, or its "
                f"values may be other ones: {values}."
            )
        parts.append(part)
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
