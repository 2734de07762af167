"""JSON and Parquet of ours, read back within bounds: what does not fit is told in one line."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import polars as pl
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from fairrec.core.errors import InputError, is_panic, plain
from fairrec.core.files import errors_of_reading, file_bytes, open_file

Content = TypeVar("Content", bound=BaseModel)

MOST_BYTES = 1 << 28
"""No file of ours comes near it, and more could take all memory."""
_LARGEST = 1 << 63
"""Whole numbers beyond it are in no table."""


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
    data = file_bytes(path, MOST_BYTES + 1, fix=fix or "Check the path.")
    try:
        return checked_json(data, content)
    except ValueError as error:
        reason = plain(error, 300)
    raise InputError(
        f"{plain(path, 300)}: is no {called} of this version of FairRec ({reason}). {again}"
    )


def checked_json(data: str | bytes, content: type[Content], has_infinity: bool = False) -> Content:
    """What JSON says, if it is of its schema and not too long or deep; else a ValueError.

    Parameters
    ----------
    has_infinity : whether numbers may be infinite, such as bounds of a metric
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"has more than {MOST_BYTES >> 20} MiB")
    try:
        # what is not a number is written as null
        from_json(data, allow_inf_nan=has_infinity)
        found = content.model_validate_json(data)
    except ValidationError as error:
        raise ValueError(_first_of(error)) from error
    except RecursionError as error:
        raise ValueError(plain(error)) from error
    for number in _numbers_in(found.model_dump()):
        if not _is_in_range(number, has_infinity):
            raise ValueError("a number is too large, or none")
    return found


def _is_in_range(number: float, has_infinity: bool) -> bool:
    """Whether a number is one to reckon with; `1e999` and the text "nan" are read as numbers."""
    if isinstance(number, int):
        return -_LARGEST <= number < _LARGEST
    return math.isfinite(number) or (has_infinity and math.isinf(number))


def _numbers_in(content: Any) -> Iterator[float]:
    left = [content]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            left += one.values()
        elif isinstance(one, list | tuple | set | frozenset):
            left += one
        elif isinstance(one, int | float):
            yield one


def _first_of(error: ValidationError) -> str:
    """Where the first of the errors is, and how many more there are."""
    first, *others = error.errors(include_url=False, include_context=False, include_input=False)
    place = plain(".".join(map(str, first["loc"])))
    kind = first["type"]
    if kind in _OURS:
        said = plain(first["msg"].removeprefix("Value error, "), 200)
        words = f"{place}: {said}" if place else said
    else:
        words = f"{place} {_SAID.get(kind, 'has another form')}" if place else "it is no such JSON"
    return f"{words}; {len(others):,} more" if others else words


_OURS = ("value_error", "assertion_error")
"""Errors of the schema's own checks, which have words of their own."""
_SAID = {"missing": "is missing", "extra_forbidden": "is not known"}


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
