"""Metrics that were counted together, taken apart: each by itself, on levels of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray
from fairrec.core.errors import InputError, plain
from fairrec.counts.families import exact_label, values_of
from fairrec.counts.levels import level_of, steps_between
from fairrec.counts.table import FAMILY, LEVEL, USERS, Counts, family_name, squares_of

_ROUNDING = 1e-9
"""A mean of users with one value may be off by so much."""


def split_families(counts: Counts, edges: Mapping[str, Sequence[float]] | None = None) -> Counts:
    """The same with a family for each metric.

    Users of a level of several metrics have the same values, which tell their levels in each.

    Parameters
    ----------
    edges : between the levels of metrics that are counted by their values here, and not elsewhere
    """
    info = counts.info
    assert info is not None
    asked = edges or {}
    frames = [counts.rows.filter(pl.col(FAMILY).is_in([*info.missing]))]
    levels: dict[str, tuple[float, ...]] = {}
    for family in info.families:
        rows = counts.rows.filter(pl.col(FAMILY) == family_name(family))
        for name in family:
            cuts = asked.get(name, info.levels.get(name))
            bounds = info.metrics[name].bounds
            if cuts is None and bounds is not None and np.isfinite(bounds).all():
                cuts = steps_between(*bounds).tolist()
            value = None
            if name not in info.levels:
                value = _value_of_level(rows, name, family)
            if value is not None:
                frames.append(_alone(rows, name, family, value, cuts))
            elif len(family) > 1 or (cuts is not None and _is_other(name, cuts, counts, asked)):
                raise InputError(
                    f"{counts.where}: users of one level differ in '{plain(name)}', so they cannot "
                    "be put on other levels. Count all parts on the same levels."
                )
            else:
                frames.append(rows)
                cuts = info.levels.get(name)
            if cuts is not None:
                levels[name] = tuple(cuts)
    parted = pl.concat(frames, how="diagonal_relaxed").select(counts.rows.columns)
    families = tuple((name,) for family in info.families for name in family)
    said = info.model_copy(update={"families": families, "levels": levels})
    return replace(counts, rows=parted, info=said).summed()


def _is_other(
    name: str, cuts: Sequence[float], counts: Counts, asked: Mapping[str, Sequence[float]]
) -> bool:
    """Whether levels are asked for that are not those of the counts."""
    assert counts.info is not None
    return name in asked and tuple(cuts) != counts.info.levels.get(name)


def _alone(
    rows: pl.DataFrame,
    name: str,
    family: tuple[str, ...],
    value: FloatArray,
    cuts: Sequence[float] | None,
) -> pl.DataFrame:
    """The rows of one metric of a family.

    Parameters
    ----------
    value : (n_rows,), of the users of each row
    """
    if cuts is None:
        labels = [exact_label(np.array([one])) for one in value]
    else:
        level = level_of(np.nan_to_num(value), np.array(cuts))
        labels = [None if np.isnan(v) else str(at) for v, at in zip(value, level, strict=True)]
    others = [n for one in family if one != name for n in (one, squares_of(one))]
    return rows.with_columns(
        pl.lit(name).alias(FAMILY),
        pl.Series(LEVEL, labels, pl.String),
        *(pl.lit(None, pl.Float64).alias(other) for other in others),
    )


def _value_of_level(rows: pl.DataFrame, name: str, family: tuple[str, ...]) -> FloatArray | None:
    """(n_rows,), the value of all users on a row's level, NaN where undefined.

    By its label where that says it, and else by the sums: another tool may call levels anything.
    None where users on one level differ.
    """
    names = (USERS, name, squares_of(name))
    sums = rows.select(pl.col(one).sum().over(LEVEL) for one in names)
    n, total, squares = (sums[one].to_numpy().astype(np.float64) for one in names)
    mean = np.where(rows[name].is_not_null().to_numpy(), total / n, np.nan)
    if (squares - total * mean > _ROUNDING * squares).any():
        return None
    said = values_of(rows[LEVEL], family.index(name))
    return np.where(np.abs(said - mean) <= _ROUNDING * np.abs(mean), said, mean)
