"""Counts that leave the house: small combinations become `(other)`, and nobody is dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from fairrec.counts.table import FAMILY, USERS, Counts, family_name
from fairrec.inputs.users import OTHER


def without_small_cells(counts: Counts, least: int | None) -> Counts:
    """The same with every combination of fewer users merged into larger ones.

    The attribute with most values is given up first, so that a group of few attributes loses few
    of its users. A user who is dropped would be missing from every group; one who is merged is
    missing from those of the attributes that were given up.
    """
    info = counts.info
    if least is None or info is None:
        return counts
    families = [family_name(one) for one in info.families]
    audited = counts.rows.filter(pl.col(FAMILY).is_in(families))
    everyone = audited.filter(pl.col(FAMILY) == families[0])
    rows, n_merged = _merged(audited, everyone, counts.keys, least)
    # who is missing is counted among others than the audited, each time
    missing = [
        _merged(mine, mine, [*info.attributes], least)[0]
        for name in info.missing
        if (mine := counts.rows.filter(pl.col(FAMILY) == name)).height
    ]
    note = (
        f"combinations of fewer than {least:,} users are merged into '{OTHER}': "
        f"{n_merged:,} users; a group of one of their values misses those of them who were merged"
    )
    said = info.model_copy(
        update={
            "min_shown": least,
            "n_merged": n_merged,
            "warnings": (*info.warnings, *([note] if n_merged else [])),
        }
    )
    return replace(counts, rows=pl.concat([rows, *missing]), info=said).summed()


def _merged(
    rows: pl.DataFrame, everyone: pl.DataFrame, keys: Sequence[str], least: int
) -> tuple[pl.DataFrame, int]:
    """The rows by merged combinations, and how many users were in those that were too small.

    Parameters
    ----------
    everyone : rows that hold each user once
    """
    shown = {f"{name} shown": name for name in keys}
    cells = everyone.group_by(keys).agg(pl.col(USERS).sum())
    cells = cells.with_columns(pl.col(name).alias(new) for new, name in shown.items())
    n_merged = int(cells.filter(pl.col(USERS) < least)[USERS].sum())
    finest = sorted(shown, key=lambda name: -cells[name].n_unique())
    is_small = pl.col(USERS).sum().over([*shown]) < least
    for name in finest:
        cells = cells.with_columns(_other_where(is_small, name))
    # what is left over takes the smallest of the others with it
    while True:
        sizes = cells.group_by([*shown]).agg(pl.col(USERS).sum()).sort(USERS, *shown)
        if sizes.height == 1 or sizes[USERS][0] >= least:
            break
        joined = sizes.head(2).select(pl.col([*shown]), pl.lit(True).alias("is_joined"))
        cells = cells.join(joined, on=[*shown], how="left", nulls_equal=True)
        is_joined = pl.col("is_joined").fill_null(False)
        cells = cells.with_columns(_other_where(is_joined, name) for name in shown)
        cells = cells.drop("is_joined")
    rows = rows.join(cells.drop(USERS), on=keys, how="left", nulls_equal=True)
    columns = [column for column in rows.columns if column not in shown]
    renamed = (pl.col(new).alias(name) for new, name in shown.items())
    return rows.with_columns(renamed).select(columns), n_merged


def _other_where(is_merged: pl.Expr, name: str) -> pl.Expr:
    return pl.when(is_merged).then(pl.lit(OTHER)).otherwise(pl.col(name)).alias(name)
