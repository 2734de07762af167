"""Whether a table can be counts: what no users could add up to is refused."""

from __future__ import annotations

import polars as pl

from fairrec.core.errors import InputError, plain
from fairrec.counts.info import CountsInfo

FAMILY, LEVEL, USERS = "family", "level", "users"
SHARE = "missing"
"""The value that is counted where it is about who is missing."""
_MOST_USERS = 2**53
"""Up to here every number of users is exact, however it is added."""
_ROUNDING = 1e-9
"""Sums of many values may be off by so much."""


def squares_of(name: str) -> str:
    """The column with the squares of a metric."""
    return f"{name}^2"


def checked_rows(rows: pl.DataFrame, where: str) -> pl.DataFrame:
    """The rows, if they can be counts."""
    for name in (FAMILY, LEVEL, USERS):
        if name not in rows.columns:
            raise InputError(
                f"{where}: has no column '{name}', so it is no table of counts. Make it by "
                "fairrec count, or as docs/scale.md says."
            )
    if not rows.schema[USERS].is_integer() or rows[USERS].null_count() or (rows[USERS] < 0).any():
        raise InputError(
            f"{where}: '{USERS}' must be whole numbers, 0 or more: how many users a row is about."
        )
    if rows[USERS].cast(pl.Float64).sum() > _MOST_USERS:
        raise InputError(
            f"{where}: '{USERS}' adds up to more users than anybody has. Check how it was made."
        )
    if rows[FAMILY].null_count():
        raise InputError(
            f"{where}: {rows[FAMILY].null_count():,} rows have no family. Name the metrics that "
            "each row is about."
        )
    values = [name for name in rows.columns if squares_of(name) in rows.columns]
    if not values:
        raise InputError(
            f"{where}: has no sums of a metric: a column such as 'ndcg@10', and 'ndcg@10^2' with "
            "the squares."
        )
    sums = [n for name in values for n in (name, squares_of(name))]
    _refuse_types(rows, sums, where)
    rows = rows.filter(pl.col(USERS) > 0).with_columns(
        pl.col(FAMILY, LEVEL).cast(pl.String),
        pl.col(USERS).cast(pl.Int64),
        pl.col(sums).cast(pl.Float64),
    )
    if not rows.height:
        raise InputError(f"{where}: has no users.")
    for name in sums:
        if (rows[name].is_infinite() | rows[name].is_nan()).any():
            raise InputError(
                f"{where}: '{plain(name)}' has sums that are no finite numbers. Leave it empty "
                "where a value is undefined."
            )
    _refuse_impossible(rows, values, where)
    if rows.filter(
        pl.col(LEVEL).is_null() & pl.any_horizontal(pl.col(values).is_not_null())
    ).height:
        raise InputError(
            f"{where}: has values without a level, so nobody knows which users are alike. "
            f"'{LEVEL}' is empty only where nothing is defined."
        )
    # unknown, as text and as a number
    keys = [name for name in rows.columns if name not in (FAMILY, LEVEL, USERS, *sums)]
    return rows.with_columns(
        pl.col(name).fill_nan(None) if dtype.is_float() else _empty_as_null(name)
        for name, dtype in rows.select(keys).schema.items()
        if dtype.is_float() or dtype == pl.String
    )


def _empty_as_null(name: str) -> pl.Expr:
    return pl.when(pl.col(name) != "").then(pl.col(name)).alias(name)


def _refuse_types(rows: pl.DataFrame, sums: list[str], where: str) -> None:
    for name, dtype in rows.schema.items():
        if name in sums and not dtype.is_numeric():
            raise InputError(f"{where}: '{plain(name)}' must be numbers: sums over users.")
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
            raise InputError(
                f"{where}: '{plain(name)}' is {plain(dtype)}. Write attributes, families and "
                "levels as text."
            )
    if SHARE in rows.columns and SHARE not in sums:
        raise InputError(
            f"{where}: '{SHARE}' is the column of who is missing, and no attribute can be called "
            "so. Rename it."
        )


def _refuse_impossible(rows: pl.DataFrame, values: list[str], where: str) -> None:
    """Sums that no users have."""
    for name in values:
        total, squares = pl.col(name), pl.col(squares_of(name))
        if rows.filter(total.is_null() != squares.is_null()).height:
            raise InputError(
                f"{where}: '{plain(name)}' and '{plain(squares_of(name))}' must be empty in the "
                "same rows, those of users without a value."
            )
        # a mean of squares is never below the square of the mean
        less = rows.filter(squares * pl.col(USERS) < total**2 * (1 - _ROUNDING))
        if less.height:
            n, sum_, squared = less.select(USERS, total, squares).row(0)
            raise InputError(
                f"{where}: no {n:,} users have the sum {sum_:g} in '{plain(name)}' and only "
                f"{squared:g} in '{plain(squares_of(name))}', the sum of their squares "
                f"({less.height:,} such rows)."
            )
        mixed = (
            rows.group_by(FAMILY, LEVEL)
            .agg(total.is_null().any().alias("some"), total.is_null().all().alias("all"))
            .filter(pl.col("some") & ~pl.col("all"))
        )
        if mixed.height:
            raise InputError(
                f"{where}: the level '{plain(mixed[LEVEL][0])}' of '{plain(name)}' has users with "
                f"and without a value ({mixed.height:,} such levels). Leave the level of users "
                "without a value empty."
            )


def refuse_unlike(rows: pl.DataFrame, info: CountsInfo, where: str) -> None:
    """An error where rows are not what is said of them."""
    sums = [n for name in info.metrics for n in (name, squares_of(name))]
    for name in (*info.attributes, *info.circumstances, *sums):
        if name not in rows.columns:
            raise InputError(f"{where}: has no column '{plain(name)}'. Count again.")
