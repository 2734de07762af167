"""Where the rows of a table come from: files with types, and tables in memory."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from itertools import chain, islice
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.errors import InputError, plain

_KINDS = (str, bytes, int | float, Decimal, date, time, timedelta, list | tuple | range)
"""What the objects of a column may be: all of one of these."""
_NAMED_BY_TEXT = {"UUID", "ObjectId", "Interval", "Period"}


class Role(Enum):
    """What a column is read for, which says what text stands for where a file holds only text."""

    NAME = "an id or a category: the text itself"
    LABEL = "a value that only names something: whole numbers as such, '007' as text"
    NUMBER = "a number"
    ANY = "whatever all its values are"


class Source:
    """Where the rows of a table come from, whose columns have types of their own.

    Attributes
    ----------
    hint : what to try where a column is missing, one sentence or nothing
    notes : what the reader of a result should know about how it was read
    is_text : whether it holds text only, so that numbers are recognised by how they look
    """

    hint: str = ""
    notes: Sequence[str] = ()
    is_text = False

    def __init__(self, frame: pl.LazyFrame, columns: Sequence[str] | None = None) -> None:
        self.frame = frame if columns else _items_in_rows(frame)
        self.columns = columns or self.frame.collect_schema().names()

    def read(self, columns: Mapping[str, str], roles: Mapping[str, Role]) -> pl.DataFrame:
        """Some columns: new name -> column of the table, and what each new one is read for."""
        return self.frame.select(
            pl.col(column).alias(name) for name, column in columns.items()
        ).collect()


def _items_in_rows(frame: pl.LazyFrame) -> pl.LazyFrame:
    """One row an item, where a column holds a list of records of items, as LensKit writes them."""
    kinds = frame.collect_schema()
    if "item_id" in kinds:
        return frame
    for name, kind in kinds.items():
        inner = kind.inner if isinstance(kind, pl.List) else None
        if isinstance(inner, pl.Struct) and "item_id" in (field.name for field in inner.fields):
            fields = {field.name for field in inner.fields}
            others = [column for column in kinds if column != name and column not in fields]
            # a user whose list is empty has no row, and so no list
            some = frame.filter(pl.col(name).list.len() > 0)
            return some.select(*others, pl.col(name)).explode(name).unnest(name)
    return frame


def open_frame(source: Any, name: str) -> Source:
    """A table in memory; what is none is an error."""
    if isinstance(source, pl.LazyFrame | pl.DataFrame):
        return Source(source.lazy())
    # a frame of pandas exists only where pandas is loaded
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(source, pandas.DataFrame):
        return PandasFrame(source, f"the {name} table")
    return Source(_by_narwhals(source, name))


class PandasFrame(Source):
    """A frame of pandas, whose columns are converted where they are read, with or without pyarrow.

    Levels of the index that have a name are columns too.

    Parameters
    ----------
    frame : a `pandas.DataFrame`
    where : its name in messages
    """

    def __init__(self, frame: Any, where: str) -> None:
        levels = [name for name in frame.index.names if name is not None and name not in frame]
        if type(frame.index).__name__ != "RangeIndex" and None in frame.index.names:
            self.hint = (
                "The index of the data frame has no name: if it holds the ids, make it a column "
                "with frame.rename_axis('user_id').reset_index()."
            )
        self._frame, self._where = frame.reset_index(levels) if levels else frame, where
        self.columns = [str(name) for name in self._frame.columns]
        if twice := [name for name, n in Counter(self.columns).items() if n > 1]:
            raise InputError(
                f"{where}: several columns are named {plain(repr(twice[0]))}. Give each a name of "
                "its own."
            )

    def read(self, columns: Mapping[str, str], roles: Mapping[str, Role]) -> pl.DataFrame:
        """Some columns, as Polars has them."""
        return pl.DataFrame([self._convert(column).alias(name) for name, column in columns.items()])

    def _convert(self, column: str) -> pl.Series:
        try:
            return _from_pandas(self._frame.iloc[:, self.columns.index(column)])
        except Exception as error:
            raise InputError(
                f"{self._where}: column {plain(repr(column))} cannot be read: {plain(error, 300)}. "
                "Give it one kind of value, for example all text: .astype(str)."
            ) from error


def _from_pandas(column: Any) -> pl.Series:
    """A column of pandas as a series of Polars, gaps as null; with or without pyarrow."""
    kind, is_gap = column.dtype, column.isna().to_numpy()
    if hasattr(column, "cat"):
        labels = _from_pandas(column.cat.categories.to_series())
        if column.cat.ordered and labels.dtype == pl.String:
            labels = labels.cast(pl.Enum(labels))
        codes = pl.Series(column.cat.codes.to_numpy(), dtype=pl.Int64)
        return labels.gather(codes.replace(-1, None))
    if type(kind).__name__ == "ArrowDtype" or getattr(kind, "storage", None) == "pyarrow":
        # as a frame: older versions of Polars read lists of text wrongly from a single array
        return pl.from_pandas(column.to_frame("x"))["x"]
    numpy_kind = getattr(kind, "numpy_dtype", kind)
    if isinstance(numpy_kind, np.dtype) and numpy_kind.kind in "biuf":
        numbers = column.to_numpy(dtype=numpy_kind.newbyteorder("="), na_value=0)
        return pl.Series(numbers).set(pl.Series(is_gap), None)
    if isinstance(kind, np.dtype) and kind.kind in "mM":
        return pl.Series(column.to_numpy().astype(f"{kind.kind}8[us]"))
    values = column.to_numpy().astype(object)  # a copy, into which the gaps are written
    values[is_gap] = None
    return _from_objects(values.tolist())


def _from_objects(values: list[Any]) -> pl.Series:
    """Python objects of one kind, or lists or arrays of them; None is a gap."""
    of_numpy = {one.dtype for one in values if isinstance(one, np.ndarray | np.generic)}
    values = _of_one_kind(values)
    found = pl.Series(values, strict=False)
    if found.null_count() > values.count(None):
        raise TypeError(f"its values are of several kinds, of which {found.dtype} is one")
    if of_numpy == {np.dtype(np.float32)}:
        return found.cast(pl.List(pl.Float32) if found.dtype == pl.List else pl.Float32)
    return found


def _of_one_kind(values: list[Any]) -> list[Any]:
    """The values, arrays as lists and ids and intervals as text; other objects are an error."""
    values = [one.to_list() if isinstance(one, pl.Series) else one for one in values]
    values = [one.tolist() if hasattr(one, "tolist") else one for one in values]
    kinds = {*map(type, values)} - {type(None)}
    names = {kind.__name__ for kind in kinds}
    if names <= _NAMED_BY_TEXT:
        return [None if one is None else str(one) for one in values]
    if not any(all(issubclass(kind, one) for kind in kinds) for one in _KINDS):
        raise TypeError(f"it holds values of type {' and '.join(sorted(names))}")
    if kinds <= {list, tuple, range}:
        items = iter(_of_one_kind([*chain.from_iterable(one or () for one in values)]))
        return [None if one is None else [*islice(items, len(one))] for one in values]
    return values


def _by_narwhals(source: Any, name: str) -> pl.LazyFrame:
    import narwhals as nw

    try:
        frame = nw.from_native(source)
        collected = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        return collected.to_polars().lazy()
    except Exception as error:
        # Arrow and narwhals each have errors of their own for columns of mixed kinds
        raise InputError(
            f"{name}: {type(source).__name__} is not a table that can be read "
            f"({plain(error, 300)}). Give a path or a Polars, pandas or Arrow table."
        ) from error


def widen_floats(values: pl.Series) -> pl.Series:
    """Narrow floats, also in lists, as float64 of the same shortest decimal.

    So a number is what its file or frame shows, wherever it is compared, grouped or named.

    >>> widen_floats(pl.Series([0.7], dtype=pl.Float32)).to_list()
    [0.7]
    """
    kind: Any = values.dtype
    is_list = isinstance(kind, pl.List | pl.Array)
    kind = kind.inner if is_list else kind
    if not kind.is_float() or kind == pl.Float64:
        return values
    if is_list:
        values = values.cast(pl.List(kind))
    narrow = (values.explode() if is_list else values).unique().drop_nulls()
    # by NumPy, as Polars writes half floats with the digits of wider ones
    wide = pl.Series(narrow.to_numpy().astype(str).astype(np.float64))
    if is_list:
        return values.list.eval(pl.element().replace_strict(narrow, wide, default=None))
    return values.replace_strict(narrow, wide, default=None)
