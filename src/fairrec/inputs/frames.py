"""Where the rows of a table come from: files with types, and tables in memory."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import Any, Protocol

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray
from fairrec.core.errors import InputError, is_panic, plain

EXACT_BITS: dict[Any, int] = {pl.Float64(): 53, pl.Float32(): 24}
"""Up to 2 to this power every whole number is a float of its own; of half floats to 11."""


class Role(Enum):
    """What a column is read for, which says what text stands for where a file holds only text."""

    NAME = "an id or a category: the text itself"
    LABEL = "a value that only names something: whole numbers as such, '007' as text"
    NUMBER = "a number"
    ANY = "whatever all its values are"


class Source(Protocol):
    """Where the rows of a table come from."""

    @property
    def columns(self) -> Sequence[str]:
        """The names of all columns."""

    @property
    def hint(self) -> str:
        """What to try where a column is missing, one sentence or nothing."""

    @property
    def notes(self) -> Sequence[str]:
        """What the reader of a result should know about how it was read."""

    @property
    def is_text(self) -> bool:
        """Whether it holds text only, so that numbers are told by how they look."""

    def kinds(self) -> Mapping[str, pl.DataType]:
        """The type of each column, those left out that cannot be read."""
        ...

    def read(self, columns: Mapping[str, str], roles: Mapping[str, Role]) -> pl.DataFrame:
        """Some columns: new name -> column of the table, and what each new one is read for."""
        ...


@dataclass(frozen=True)
class Rows:
    """Rows whose columns have types of their own: Parquet, Arrow and JSON files, Polars frames."""

    frame: pl.LazyFrame
    columns: Sequence[str]
    hint: str = ""
    notes: Sequence[str] = ()
    is_text: bool = False

    @classmethod
    def from_frame(cls, frame: pl.LazyFrame) -> Rows:
        """The rows of a frame, of which only the names of the columns are looked at yet."""
        frame = _items_in_rows(frame)
        return cls(frame, frame.collect_schema().names())

    def kinds(self) -> Mapping[str, pl.DataType]:
        """The type of each column."""
        return self.frame.collect_schema()

    def read(self, columns: Mapping[str, str], roles: Mapping[str, Role]) -> pl.DataFrame:
        """Some columns, as they are."""
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
        return Rows.from_frame(source.lazy())
    # a frame of pandas exists only where pandas is loaded
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(source, pandas.DataFrame):
        return PandasFrame(source, f"the {name} table")
    return Rows.from_frame(_by_narwhals(source, name))


class PandasFrame:
    """A frame of pandas, converted column by column where it is read, with or without pyarrow.

    Levels of the index that have a name are columns too.

    Parameters
    ----------
    frame : a `pandas.DataFrame`
    where : its name in messages
    """

    is_text = False
    notes: Sequence[str] = ()

    def __init__(self, frame: Any, where: str) -> None:
        self._where, index = where, frame.index
        levels = [level for level in index.names if level is not None and level not in frame]
        names = [str(name) for name in (*levels, *frame.columns)]
        for column, number in Counter(names).items():
            if number > 1:
                raise InputError(
                    f"{where}: {number} columns are named {plain(repr(column))}. Give each a name "
                    "of its own."
                )
        columns = chain(
            (index.get_level_values(level).to_series() for level in levels),
            (frame.iloc[:, at] for at in range(frame.shape[1])),
        )
        self._columns = dict(zip(names, columns, strict=True))
        self.columns = names
        is_numbered = type(index).__name__ == "RangeIndex" or None not in index.names
        self.hint = (
            ""
            if is_numbered
            else "The index of the data frame has no name: if it holds the ids, make it a column "
            "with frame.rename_axis('user_id').reset_index()."
        )

    def kinds(self) -> Mapping[str, pl.DataType]:
        """The type of each column, found by converting it; those of mixed kinds are left out."""
        found = {}
        for column in self.columns:
            with suppress(InputError):
                found[column] = self._converted(column).dtype
        return found

    def read(self, columns: Mapping[str, str], roles: Mapping[str, Role]) -> pl.DataFrame:
        """Some columns, as Polars has them."""
        read = {column: self._converted(column) for column in {*columns.values()}}
        return pl.DataFrame([read[column].alias(name) for name, column in columns.items()])

    def _converted(self, column: str) -> pl.Series:
        try:
            return _from_pandas(self._columns[column])
        except BaseException as error:
            # pandas and Polars each have errors of their own for values that do not fit
            if not (isinstance(error, Exception) or is_panic(error)):
                raise
            reason = (str(error).strip() or repr(error)).splitlines()[0].rstrip(".")
            raise InputError(
                f"{self._where}: column {plain(repr(column))} cannot be read: "
                f"{plain(reason, 300)}. Give it one kind of value, for example all text: "
                ".astype(str)."
            ) from error


_NUMBERS = "biuf"


def _from_pandas(column: Any) -> pl.Series:
    """A column of pandas as a series of Polars, gaps as null."""
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
    zone = getattr(kind, "tz", None)
    if kind.kind in _NUMBERS and hasattr(kind, "numpy_dtype"):
        values = column.to_numpy(dtype=kind.numpy_dtype, na_value=0)
    elif zone is not None:
        values = column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
    else:
        values = column.to_numpy()
    if values.dtype.kind in "mM":
        unit = np.datetime_data(values.dtype)[0]
        known = values if unit in ("ns", "us", "ms") else values.astype(f"{values.dtype.kind}8[us]")
        found = pl.Series(known)
    elif values.dtype.kind in _NUMBERS:
        found = _from_numbers(values)
    else:
        values = values.astype(object)  # a copy, into which the gaps are written
        values[is_gap] = None
        return _from_objects(values.tolist())
    if is_gap.any():
        found = found.set(pl.Series(is_gap), None)
    if zone is not None:
        found = found.dt.replace_time_zone("UTC")
        with suppress(pl.exceptions.PolarsError):  # a zone that Polars does not know
            found = found.dt.convert_time_zone(str(zone))
    return found


def _from_numbers(values: AnyArray) -> pl.Series:
    """Numbers in the byte order of this machine."""
    return pl.Series(values.astype(values.dtype.newbyteorder("=")))


def _from_objects(values: Sequence[Any]) -> pl.Series:
    """Python objects of one kind; None is a gap."""
    kinds = {*map(type, values)} - {type(None)}
    if kinds and kinds <= {list, tuple, np.ndarray}:
        return _from_lists(values, has_arrays=np.ndarray in kinds)
    is_mixed = len(kinds) > 1 and all(issubclass(kind, int | float | np.number) for kind in kinds)
    found = pl.Series(values, dtype=pl.Float64 if is_mixed else None)
    if found.dtype != pl.Object and not isinstance(found.dtype, pl.Struct):
        return found
    # ids such as a UUID, and intervals and periods of pandas, are named by their text
    shown = next(one for one in values if one is not None)
    if not {kind.__name__ for kind in kinds} <= {"UUID", "ObjectId", "Interval", "Period"}:
        raise InputError(f"it holds {plain(repr(shown), 40)} ({type(shown).__name__}).")
    return pl.Series([None if one is None else str(one) for one in values], dtype=pl.String)


def _from_lists(values: Sequence[Any], has_arrays: bool) -> pl.Series:
    """Lists and arrays in the cells, through one flat column of all their values."""
    if has_arrays and any(np.ndim(one) != 1 for one in values if one is not None):
        raise InputError("it holds arrays of other dimensions than one")
    lengths = np.array([0 if one is None else len(one) for one in values])
    lists = [one for one in values if one is not None]
    flat = np.concatenate(lists) if has_arrays else None
    if flat is not None and flat.dtype.kind in _NUMBERS:
        items = _from_numbers(flat)
    else:
        items = _from_objects([*chain.from_iterable(lists)])
    cells = pl.DataFrame({"row": np.repeat(np.arange(len(values)), lengths), "list": items})
    found = cells.group_by("row", maintain_order=True).agg("list")
    rows = pl.DataFrame({"row": np.arange(len(values)), "is_gap": [one is None for one in values]})
    rows = rows.join(found, on="row", how="left", maintain_order="left")
    return rows.select(pl.when(~pl.col("is_gap")).then(pl.col("list").fill_null([]))).to_series()


def _by_narwhals(source: Any, name: str) -> pl.LazyFrame:
    import narwhals as nw

    try:
        frame = nw.from_native(source)
        collected = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        return collected.to_polars().lazy()
    except TypeError as error:
        raise InputError(
            f"{name}: {type(source).__name__} is not a table. "
            "Give a path or a Polars, pandas or Arrow table."
        ) from error
    except Exception as error:
        # Arrow and narwhals each have errors of their own for columns of mixed kinds
        raise InputError(
            f"the {name} table cannot be read: {plain(error, 300)}. "
            "Give each column one kind of value and a name of its own."
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
    flat = values.explode() if is_list else values
    if kind == pl.Float32 and (flat == flat.floor()).all():
        largest: Any = flat.abs().max() or 0
        if largest <= 2 ** EXACT_BITS[kind]:
            return values.cast(pl.List(pl.Float64) if is_list else pl.Float64)
    narrow = flat.unique().drop_nulls()
    wide = narrow.cast(pl.String).cast(pl.Float64)
    if kind != pl.Float32:
        # half floats, which Polars writes with the digits of wider ones
        wide = pl.Series(narrow.to_numpy().astype(str).astype(np.float64))
    if is_list:
        return values.list.eval(pl.element().replace_strict(narrow, wide, default=None))
    return values.replace_strict(narrow, wide, default=None)
