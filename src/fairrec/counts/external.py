"""Counts that another tool has made: what their columns tell.

Such a table has no metadata, so that families, metrics and attributes are read from its columns,
and what cannot be meant is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from fairrec.core.errors import FairRecError, InputError, plain, unknown_name
from fairrec.core.options import spell
from fairrec.core.version import __version__
from fairrec.counts.levels import steps_between
from fairrec.counts.table import (
    FAMILY,
    LEVEL,
    SHARE,
    USERS,
    AttributeInfo,
    Counts,
    CountsInfo,
    MetricInfo,
    OutcomeInfo,
    ValueKind,
    squares_column,
)
from fairrec.metrics import MetricAtK
from fairrec.metrics.parsing import parse_metric

_ROUNDING = 1e-9
"""A mean may be beyond a bound by so much."""


def with_info(counts: Counts, better: Mapping[str, bool]) -> Counts:
    """The same with what its columns tell, where another tool has made it.

    Parameters
    ----------
    better : which end is better of a metric that nobody knows, or that has no better end
    """
    if counts.info is not None:
        return counts
    rows, keys = counts.rows, counts.keys
    if not keys:
        raise InputError(
            f"{counts.where}: has no attribute, so there are no groups. Give each a column."
        )
    families = {name: tuple(name.split(",")) for name in rows[FAMILY].unique(maintain_order=True)}
    metrics: dict[str, MetricInfo] = {}
    levels: dict[str, tuple[float, ...]] = {}
    missing: dict[str, OutcomeInfo] = {}
    who_is_missing = []
    for family, names in families.items():
        mine = rows.filter(pl.col(FAMILY) == family)
        for name in names:
            if name not in counts.values:
                raise InputError(
                    f"{counts.where}: the family '{plain(family)}' has no column "
                    f"'{plain(name)}' with the sums over its users and "
                    f"'{plain(squares_column(name))}' with the squares."
                )
            if name in metrics:
                raise InputError(f"{counts.where}: '{plain(name)}' is in two families.")
            n_users = float(mine[USERS].sum())
            n_undefined = float(mine.filter(pl.col(name).is_null())[USERS].sum())
            metrics[name] = _metric_info(name, better, n_users, n_undefined)
            outcome = f"undefined: {name}"
            missing[outcome] = OutcomeInfo(kind="undefined", metrics=(name,))
            who_is_missing.append(_undefined(mine, name, outcome, keys))
            _refuse_beyond(mine, name, metrics[name].bounds, counts.where)
        if len(names) == 1 and (steps := _steps_of(mine, family, metrics[family].bounds)):
            levels[family] = steps
    _refuse_aside(counts, metrics, better)
    attributes = {name: AttributeInfo(kind=_kind(rows.schema[name])) for name in keys}
    info = CountsInfo(
        fairrec_version=__version__,
        by=tuple(attributes),
        attributes=attributes,
        families=tuple(families.values()),
        metrics=metrics,
        levels=levels,
        missing=missing,
    )
    rows = pl.concat([rows, *who_is_missing], how="diagonal_relaxed")
    return replace(counts, rows=rows, info=info)


def _refuse_aside(counts: Counts, metrics: Iterable[str], better: Mapping[str, bool]) -> None:
    """Refuse what would be left aside: sums of no family, and ends of metrics that are known."""
    for name in counts.rows.columns:
        of = name.removesuffix("^2")
        if of != name and of not in counts.rows.columns:
            raise InputError(f"{counts.where}: '{plain(name)}' has no column '{plain(of)}'.")
        if name in counts.values and name not in metrics:
            raise InputError(
                f"{counts.where}: '{plain(name)}' is in no family, so its sums would be left out. "
                "Give it rows of its own, or drop the column."
            )
        if name in counts.keys and _metric_called(name) is not None:
            raise InputError(
                f"{counts.where}: '{plain(name)}' has no column '{plain(squares_column(name))}' "
                "with the squares of each user's value. Add it, or drop the column."
            )
    for name in better:
        if name not in metrics:
            raise unknown_name("metric in these counts", name, metrics)
        known = _metric_called(name)
        if known is not None and known.metric.higher_is_better is not None:
            raise InputError(
                f"{spell('better')}: which end of {plain(name)} is better is known. Leave it out."
            )


def _refuse_beyond(
    rows: pl.DataFrame, name: str, bounds: tuple[float, float] | None, where: str
) -> None:
    """Sums that cannot be of the metric they are called."""
    low, high = bounds or (-np.inf, np.inf)
    mean = pl.col(name) / pl.col(USERS)
    beyond = rows.select(mean.alias("mean")).filter(
        (pl.col("mean") < low - _ROUNDING) | (pl.col("mean") > high + _ROUNDING)
    )
    if beyond.height:
        raise InputError(
            f"{where}: '{plain(name)}' lies between {low:g} and {high:g}, and has the mean "
            f"{beyond['mean'][0]:g} in a row ({beyond.height:,} such rows). Give the sum over its "
            "users, or another name to another metric."
        )


def _steps_of(
    rows: pl.DataFrame, name: str, bounds: tuple[float, float] | None
) -> tuple[float, ...] | None:
    """The edges between levels that are those of `fairrec count`; None where they are others."""
    known = rows.filter(pl.col(name).is_not_null())
    if bounds is None or not np.isfinite(bounds).all():
        return None
    if not known[LEVEL].fill_null("").str.contains(r"^\d{1,6}$").all():
        return None
    edges = steps_between(*bounds)
    ends = np.array([-np.inf, *edges, np.inf])
    level = known[LEVEL].cast(pl.Int64).to_numpy()
    mean = known[name].to_numpy() / known[USERS].to_numpy()
    if not len(level) or level.max() > len(edges):
        return None
    is_there = (ends[level] - _ROUNDING <= mean) & (mean <= ends[level + 1] + _ROUNDING)
    return tuple(edges.tolist()) if is_there.all() else None


def _undefined(rows: pl.DataFrame, name: str, outcome: str, keys: list[str]) -> pl.DataFrame:
    """Who has no value of a metric, as an outcome of its own."""
    is_undefined = pl.col(name).is_null().cast(pl.Int64)
    total = (pl.col(USERS) * is_undefined).cast(pl.Float64)
    return rows.select(
        pl.lit(outcome).alias(FAMILY),
        *keys,
        is_undefined.cast(pl.String).alias(LEVEL),
        USERS,
        total.alias(SHARE),
        total.alias(squares_column(SHARE)),
    )


def _metric_called(name: str) -> MetricAtK | None:
    """The metric that FairRec knows by this name, or None."""
    try:
        return parse_metric(name)
    except FairRecError:
        return None


def _metric_info(
    name: str, better: Mapping[str, bool], n_users: float, n_undefined: float
) -> MetricInfo:
    known = _metric_called(name)
    if known is None:
        return MetricInfo(
            definition=f"Column {name} of the counts.",
            higher_is_better=better.get(name),
            n_expected=n_users,
            n_undefined=n_undefined,
        )
    about = known.metric
    return MetricInfo(
        definition=about.definition,
        called=known.called,
        higher_is_better=better.get(name, about.higher_is_better),
        bounds=about.bounds,
        ratio_scale=about.ratio_scale,
        n_expected=n_users,
        n_undefined=n_undefined,
    )


def _kind(dtype: pl.DataType) -> ValueKind:
    if dtype == pl.Boolean:
        return "true or false"
    if dtype.is_integer():
        return "whole number"
    return "number" if dtype.is_float() else "text"
