"""A table of counts: its columns, what it says of itself, and its file.

One row is all users of one combination of attributes and circumstances who are on one level of a
family of metrics: how many they are, and the sums of their values and of the squares of these.
Rows of a family hold every user once, so that families stand below one another.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, model_validator

from fairrec.core.atomic_io import atomic_file, errors_of_polars
from fairrec.core.errors import InputError, plain
from fairrec.core.files import errors_of_reading, open_file
from fairrec.core.saved_files import checked_json, damaged
from fairrec.inputs.audit_inputs import MeasuredBy
from fairrec.inputs.order import TiedLists
from fairrec.statistics.missing import MissingKind

KEY = "fairrec"
"""Under which it stands in the metadata of the file."""
ValueKind = Literal["text", "whole number", "number", "true or false"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="constants")


class AttributeInfo(_Part):
    """An attribute or a circumstance."""

    kind: ValueKind = "text"
    binning: str | None = None


class MetricInfo(_Part):
    """A metric, as the audit it was counted for knew it."""

    definition: str = ""
    called: str = ""
    higher_is_better: bool | None = None
    bounds: tuple[float, float] | None = None
    ratio_scale: bool | None = None
    n_expected: float = Field(
        ge=0, allow_inf_nan=False, description="users for whom a value is expected"
    )
    n_undefined: float = Field(ge=0, allow_inf_nan=False, description="those of them who have none")

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        if self.bounds is not None and not self.bounds[0] < self.bounds[1]:
            raise ValueError("bounds that hold nothing")
        return self


class OutcomeInfo(_Part):
    """A way to be missing, which is a family of its own."""

    kind: MissingKind
    metrics: tuple[str, ...]
    counts_as_zero: bool = False
    is_no_fault: bool = False


class CountsInfo(_Part):
    """What stands in the file beside its rows.

    Parts are whose counts these are; counts of the same part are of the same users.
    """

    schema_version: Literal["1"] = "1"
    fairrec_version: str
    parts: tuple[str, ...] = ()
    by: tuple[str, ...]
    given: tuple[str, ...] = ()
    attributes: dict[str, AttributeInfo]
    circumstances: dict[str, AttributeInfo] = Field(default_factory=dict)
    families: tuple[tuple[str, ...], ...] = Field(description="metrics that were counted together")
    metrics: dict[str, MetricInfo]
    levels: dict[str, tuple[float, ...]] = Field(
        default_factory=dict, description="edges between levels, of metrics counted by themselves"
    )
    missing: dict[str, OutcomeInfo] = Field(default_factory=dict)
    measured_by: MeasuredBy | None = None
    relevant: str | None = None
    gain: str | None = None
    missing_lists: Literal["zero", "drop"] = "zero"
    columns: dict[str, str] = Field(default_factory=dict)
    n_candidates: int = Field(default=0, ge=0)
    ties: TiedLists | None = Field(default=None, description="lists with equal scores")
    min_shown: int | None = Field(default=None, ge=1)
    n_merged: int = Field(
        default=0, ge=0, description="users in cells that were too small to be shown"
    )
    warnings: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        counted = [name for family in self.families for name in family]
        if not counted or sorted(counted) != sorted(self.metrics):
            raise ValueError("families that are not of its metrics")
        if not self.attributes or {*self.attributes} & {*self.circumstances}:
            raise ValueError("attributes that define no groups")
        named = {name for one in self.missing.values() for name in one.metrics}
        if not (named | {*self.levels}) <= {*self.metrics}:
            raise ValueError("metrics that were not counted")
        return self


FAMILY, LEVEL, USERS = "family", "level", "users"
SHARE = "missing"
"""The value that is counted where it is about who is missing."""
_MOST_USERS = 2**53
"""Up to here every number of users is exact, however it is added."""
_ROUNDING = 1e-9
"""Sums of many values may be off by so much."""


def squares_column(name: str) -> str:
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
    values = [name for name in rows.columns if squares_column(name) in rows.columns]
    if not values:
        raise InputError(
            f"{where}: has no sums of a metric: a column such as 'ndcg@10', and 'ndcg@10^2' with "
            "the squares."
        )
    sums = [n for name in values for n in (name, squares_column(name))]
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
        total, squares = pl.col(name), pl.col(squares_column(name))
        if rows.filter(total.is_null() != squares.is_null()).height:
            raise InputError(
                f"{where}: '{plain(name)}' and '{plain(squares_column(name))}' must be empty in "
                "the same rows, those of users without a value."
            )
        # a mean of squares is never below the square of the mean
        less = rows.filter(squares * pl.col(USERS) < total**2 * (1 - _ROUNDING))
        if less.height:
            n, sum_, squared = less.select(USERS, total, squares).row(0)
            raise InputError(
                f"{where}: no {n:,} users have the sum {sum_:g} in '{plain(name)}' and only "
                f"{squared:g} in '{plain(squares_column(name))}', the sum of their squares "
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
    sums = [n for name in info.metrics for n in (name, squares_column(name))]
    for name in (*info.attributes, *info.circumstances, *sums):
        if name not in rows.columns:
            raise InputError(f"{where}: has no column '{plain(name)}'. Count again.")


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
    def about(self) -> CountsInfo:
        """What the table says of itself, where it does."""
        assert self.info is not None
        return self.info

    @property
    def keys(self) -> list[str]:
        """Attributes and circumstances."""
        if self.info is not None:
            return [*self.info.attributes, *self.info.circumstances]
        return [name for name in self.rows.columns if self._is_key(name)]

    def _is_key(self, name: str) -> bool:
        squared = name.removesuffix("^2")
        is_value = squares_column(squared) in self.rows.columns
        return (
            name not in (FAMILY, LEVEL, USERS, SHARE)
            and squares_column(SHARE) != name
            and not is_value
        )

    @property
    def values(self) -> list[str]:
        """The columns with sums."""
        return [
            name
            for name in self.rows.columns
            if name != SHARE and squares_column(name) in self.rows.columns
        ]

    def summed(self) -> Counts:
        """The same with one row for users who are alike, in an order of their own."""
        numbers = [
            USERS,
            *(n for name in (*self.values, SHARE) for n in (name, squares_column(name))),
        ]
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
    said = counts.about.model_dump_json(exclude_defaults=False)
    with atomic_file(file) as path, errors_of_polars():
        counts.rows.write_parquet(path, metadata={KEY: said})


def read_counts(file: Path) -> Counts:
    """The counts in a file, by `fairrec count` or by any engine that wrote these columns."""
    where = plain(file, 300)
    fix = "Give a file that fairrec count has written."
    with open_file(file, fix) as stream, errors_of_reading(file, fix):
        content = stream.read()
        with damaged(file, fix):
            metadata = pl.read_parquet_metadata(io.BytesIO(content))
            rows = pl.read_parquet(content)
    info = None
    if KEY in metadata:
        try:
            info = checked_json(metadata[KEY], CountsInfo, has_infinity=True)
        except ValueError as error:
            raise InputError(
                f"{where}: is no table of counts of this version of FairRec "
                f"({plain(error, 300)}). Count again."
            ) from error
    return Counts(checked_rows(rows, where), info, where)
