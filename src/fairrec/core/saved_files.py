"""JSON and Parquet of ours, read back within bounds: what does not fit is told in one line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TypeAlias, TypeVar

import polars as pl
from pydantic import BaseModel, ValidationError

from fairrec.core.errors import InputError, plain
from fairrec.core.files import errors_of_reading, file_bytes, open_file

Content = TypeVar("Content", bound=BaseModel)


def load_json(
    path: Path, content: type[Content], called: str, fix: str = "", again: str = "Write it again."
) -> Content:
    """The content of a file that FairRec wrote.

    Parameters
    ----------
    called : what the file is, without an article
    fix : what to do where it cannot be read
    again : what to do where it holds something else
    """
    data = file_bytes(path, fix=fix or "Check the path.")
    try:
        return content.model_validate_json(data)
    except ValidationError as error:
        reason = describe_first_error(error)
    raise InputError(
        f"{plain(path, 300)}: is no {called} of this version of FairRec ({reason}). {again}"
    )


def describe_first_error(error: ValidationError) -> str:
    """Where the first of the errors is, and how many more there are."""
    first, *others = error.errors(include_url=False, include_context=False, include_input=False)
    place, message = plain(".".join(map(str, first["loc"]))), plain(first["msg"], 200)
    words = f"{place}: {message}" if place else message
    return f"{words}; {len(others):,} more" if others else words


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
    with open_file(file, fix) as stream, errors_of_reading(file, fix):
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
