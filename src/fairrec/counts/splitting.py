"""Metrics that were counted together, taken apart: each by itself, on levels of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from fairrec.core.errors import InputError, plain
from fairrec.counts.families import exact_label, values_of
from fairrec.counts.levels import level_of, steps_between
from fairrec.counts.table import FAMILY, LEVEL, Counts, family_name, squares_of


def split_families(counts: Counts, edges: Mapping[str, Sequence[float]] | None = None) -> Counts:
    """The same with a family for each metric.

    Users of a level of several metrics have the same values, which tell their levels in each.

    Parameters
    ----------
    edges : between the levels of metrics that are counted by their values here, and not elsewhere
    """
    info = counts.info
    assert info is not None
    edges = {**info.levels, **(edges or {})}
    frames = [counts.rows.filter(pl.col(FAMILY).is_in([*info.missing]))]
    levels: dict[str, tuple[float, ...]] = {}
    for family in info.families:
        rows = counts.rows.filter(pl.col(FAMILY) == family_name(family))
        for name in family:
            cuts = edges.get(name)
            bounds = info.metrics[name].bounds
            if cuts is None and bounds is not None and np.isfinite(bounds).all():
                cuts = steps_between(*bounds).tolist()
            if cuts is not None:
                levels[name] = tuple(cuts)
            is_cut = name in info.levels
            if is_cut and tuple(cuts or ()) != info.levels[name]:
                raise InputError(f"{counts.where}: '{plain(name)}' cannot be cut again.")
            frames.append(rows if is_cut else _alone(rows, name, family, cuts))
    parted = pl.concat(frames, how="diagonal_relaxed").select(counts.rows.columns)
    families = tuple((name,) for family in info.families for name in family)
    said = info.model_copy(update={"families": families, "levels": levels})
    return replace(counts, rows=parted, info=said).summed()


def _alone(
    rows: pl.DataFrame, name: str, family: tuple[str, ...], cuts: Sequence[float] | None
) -> pl.DataFrame:
    """The rows of one metric of a family."""
    value = values_of(rows[LEVEL], family.index(name))
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
