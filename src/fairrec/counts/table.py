"""A table of counts: its columns, and its file.

One row is all users of one combination of attributes and circumstances who are on one level of a
family of metrics: how many they are, and the sums of their values and of the squares of these.
Rows of a family hold every user once, so that families stand below one another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
from pydantic import ValidationError

from fairrec.core.errors import InputError, plain
from fairrec.core.files import errors_of_reading, open_file, whole_file
from fairrec.counts.info import KEY, CountsInfo

FAMILY, LEVEL, USERS = "family", "level", "users"
SHARE = "missing"
"""The value that is counted where it is about who is missing."""
OWN = (FAMILY, LEVEL, USERS, SHARE)
_ROUNDING = 1e-9
"""Sums of many values may be off by so much."""


def squares_of(name: str) -> str:
    """The column with the squares of a metric."""
    return f"{name}^2"


def family_name(metrics: tuple[str, ...]) -> str:
    """As the column of families has it."""
    return ",".join(metrics)


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of users.

    Parameters
    ----------
    info : None where another tool has made the table
    where : the file, for messages
    """

    rows: pl.DataFrame
    info: CountsInfo | None
    where: str = "the counts"

    @property
    def keys(self) -> list[str]:
        """Attributes and circumstances."""
        if self.info is not None:
            return [*self.info.attributes, *self.info.circumstances]
        return [name for name in self.rows.columns if self._is_key(name)]

    def _is_key(self, name: str) -> bool:
        squared = name.removesuffix("^2")
        is_value = squares_of(squared) in self.rows.columns
        return name not in OWN and squares_of(SHARE) != name and not is_value

    @property
    def values(self) -> list[str]:
        """The columns with sums."""
        return [
            name
            for name in self.rows.columns
            if name != SHARE and squares_of(name) in self.rows.columns
        ]

    def summed(self) -> Counts:
        """The same with one row for users who are alike, in an order of their own."""
        numbers = [USERS, *(n for name in (*self.values, SHARE) for n in (name, squares_of(name)))]
        numbers = [name for name in numbers if name in self.rows.columns]
        keys = [FAMILY, *self.keys, LEVEL]
        rows = (
            self.rows.group_by(keys)
            .agg(_sum_or_null(name) for name in numbers)
            .sort(keys, nulls_last=True)
            .select(*keys, *numbers)
        )
        return replace(self, rows=rows)


def _sum_or_null(name: str) -> pl.Expr:
    """The sum, and null where none has a value."""
    column = pl.col(name)
    return pl.when(column.count() > 0).then(column.sum()).otherwise(None).alias(name)


def write_counts(counts: Counts, file: Path) -> None:
    """Write counts whole or not at all."""
    assert counts.info is not None
    with whole_file(file) as path, path.open("wb") as stream:
        try:
            counts.rows.write_parquet(
                stream, metadata={KEY: counts.info.model_dump_json(exclude_defaults=False)}
            )
        except pl.exceptions.ComputeError as error:  # a full disk, in the words of Polars
            raise OSError(str(error)) from error


def read_counts(file: Path) -> Counts:
    """The counts in a file, by `fairrec count` or by any engine that wrote these columns."""
    where = plain(file, 300)
    fix = "Give a file that fairrec count has written."
    with open_file(file, fix) as stream, errors_of_reading(file, fix):
        try:
            metadata = pl.read_parquet_metadata(stream)
            stream.seek(0)
            rows = pl.read_parquet(stream)
        except pl.exceptions.PolarsError as error:
            raise InputError(f"{where}: is no Parquet file ({plain(error, 200)}). {fix}") from error
    info = None
    if KEY in metadata:
        try:
            info = CountsInfo.model_validate_json(metadata[KEY])
        except ValidationError as error:
            first = ".".join(map(str, error.errors()[0]["loc"]))
            raise InputError(
                f"{where}: is no table of counts of this version of FairRec (see {plain(first)}). "
                "Count again."
            ) from error
    return Counts(_checked(rows, where), info, where)


def _checked(rows: pl.DataFrame, where: str) -> pl.DataFrame:
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
    if rows[FAMILY].null_count():
        raise InputError(f"{where}: {rows[FAMILY].null_count():,} rows have no family.")
    rows = rows.filter(pl.col(USERS) > 0).with_columns(pl.col(FAMILY, LEVEL).cast(pl.String))
    if not rows.height:
        raise InputError(f"{where}: has no users.")
    values = [name for name in rows.columns if squares_of(name) in rows.columns]
    if not values:
        raise InputError(
            f"{where}: has no sums of a metric: a column such as 'ndcg@10', and 'ndcg@10^2' with "
            "the squares."
        )
    sums = [n for name in values for n in (name, squares_of(name))]
    for name in sums:
        if not rows.schema[name].is_numeric():
            raise InputError(f"{where}: '{plain(name)}' must be numbers: sums over users.")
    rows = rows.with_columns(pl.col(USERS).cast(pl.Int64), pl.col(sums).cast(pl.Float64))
    for name in sums:
        if (rows[name].is_infinite() | rows[name].is_nan()).any():
            raise InputError(f"{where}: '{plain(name)}' has sums that are no finite numbers.")
    _refuse_impossible(rows, values, where)
    return rows


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
