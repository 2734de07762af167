"""Parquet files of ours, read back: what is damaged or of other columns is told in one line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import polars as pl

from fairrec.core.errors import InputError, is_panic, plain
from fairrec.core.files import errors_of_reading, open_file

Kind: TypeAlias = Callable[[pl.DataType], bool]
"""Whether a type is the one that a column must have."""


def is_id(kind: pl.DataType) -> bool:
    """Whether values can be ids."""
    return kind.is_integer() or isinstance(kind, pl.String | pl.Categorical | pl.Enum)


def is_value(kind: pl.DataType) -> bool:
    """Whether values can be those of an attribute."""
    return is_id(kind) or kind.is_numeric() or isinstance(kind, pl.Boolean)


def is_number(kind: pl.DataType) -> bool:
    """Whether values can be reckoned with."""
    return kind.is_numeric() or isinstance(kind, pl.Boolean)


def is_time(kind: pl.DataType) -> bool:
    """Whether values can be put in order of time; nothing may be known of it."""
    return kind.is_numeric() or kind.is_temporal() or isinstance(kind, pl.Null)


def lists_of(inner: Kind) -> Kind:
    """Whether values are lists of values of a kind."""
    return lambda kind: isinstance(kind, pl.List) and inner(kind.inner)  # type: ignore[arg-type]


def read_parquet(
    file: Path,
    fix: str,
    columns: Mapping[str, Kind] | None = None,
    key: str | None = None,
    optional: Collection[str] = (),
) -> pl.DataFrame:
    """The table in a file that FairRec wrote.

    Parameters
    ----------
    fix : what to do where it is damaged
    columns : those it must have, and of what kind
    key : the column whose values are there once each
    optional : columns that may be missing
    """
    # opened here, because Polars takes no path that is not Unicode
    with open_file(file, fix) as stream, errors_of_reading(file, fix), damaged(file, fix):
        table = pl.read_parquet(stream)
    for name, is_right in (columns or {}).items():
        if name in optional and name not in table.columns:
            continue
        if name not in table.columns or not is_right(table.schema[name]):
            found = f"{plain(table.schema[name])} there" if name in table.columns else "not there"
            raise InputError(
                f"{plain(file, 300)}: the column {plain(repr(name))} is {found}, so this table is "
                f"not as it was written. {fix}"
            )
    if key is not None and (table[key].null_count() or table[key].n_unique() < table.height):
        raise InputError(f"{plain(file, 300)}: {key} is empty or there twice in some rows. {fix}")
    return table


@contextmanager
def damaged(file: Path, fix: str) -> Iterator[None]:
    """Errors of Polars in words; some damage makes it panic, which is no `Exception`."""
    try:
        yield
    except BaseException as error:
        if not (is_panic(error) or isinstance(error, pl.exceptions.PolarsError)):
            raise
        raise InputError(
            f"{plain(file, 300)}: cannot be read as Parquet ({plain(error, 200)}). {fix}"
        ) from error
