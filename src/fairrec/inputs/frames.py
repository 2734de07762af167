"""Tables that are in memory already: Polars, pandas, Arrow, and what narwhals knows."""

from __future__ import annotations

import datetime
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray, BoolArray
from fairrec.core.errors import FairRecError, InputError, plain
from fairrec.inputs.sources import Role, Rows, Source

_NUMBERS = "biuf"
_TOO_FINE = (
    "holds numbers that differ in more digits than 64-bit floats have, so that some would become "
    "equal. Round them, or give the rank of each item, 1 for the best."
)
_WRITTEN = ("UUID", "ObjectId", "Interval", "Period")
"""Objects that are named by their text."""


def open_frame(source: Any, name: str) -> Source:
    """A table in memory; what is none is an error."""
    if isinstance(source, pl.LazyFrame):
        return Rows.of(source)
    if isinstance(source, pl.DataFrame):
        return Rows.of(source.lazy())
    # who has a frame of pandas has loaded it
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(source, pandas.DataFrame):
        return PandasFrame(source, f"the {name} table")
    return Rows.of(_by_narwhals(source, name))


class PandasFrame:
    """A frame of pandas, converted column by column and only where a column is read.

    It needs no pyarrow, and with pyarrow the columns are the same. Levels of the index that have
    a name are columns too.

    Parameters
    ----------
    frame : a `pandas.DataFrame`
    where : its name in messages
    """

    is_text = False
    notes: Sequence[str] = ()

    def __init__(self, frame: Any, where: str) -> None:
        self._where = where
        index = frame.index
        levels = [level for level in index.names if level is not None and level not in frame]
        self._columns = {str(level): index.get_level_values(level).to_series() for level in levels}
        names = [str(column) for column in frame.columns]
        for column, number in Counter([*self._columns, *names]).items():
            if number > 1:
                raise InputError(
                    f"{where}: {number} columns are named {plain(repr(column))}. Give each a name "
                    "of its own."
                )
        self._columns |= {name: frame.iloc[:, at] for at, name in enumerate(names)}
        self.columns = [*self._columns]
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
        except FairRecError as error:
            raise InputError(f"{self._where}: column {plain(repr(column))} {error}") from error
        except Exception as error:
            # pandas and Polars each have errors of their own for values that do not fit
            raise InputError(
                f"{self._where}: column {plain(repr(column))} cannot be read "
                f"({plain(error, 300)}). Give it one kind of value."
            ) from error


def _from_pandas(column: Any) -> pl.Series:
    """A column of pandas as a series of Polars, gaps as null."""
    kind, is_gap = column.dtype, column.isna().to_numpy()
    name = type(kind).__name__
    if name == "CategoricalDtype":
        return _from_categories(column.cat)
    if name == "ArrowDtype" or getattr(kind, "storage", None) == "pyarrow":
        # as a frame: older versions of Polars read lists of text wrongly from a single array
        return pl.from_pandas(column.to_frame("x"))["x"]
    if kind.kind in "mM":
        zone = getattr(kind, "tz", None)
        times = column.dt.tz_convert("UTC").dt.tz_localize(None) if zone else column
        found = _without(pl.Series(_of_known_unit(times.to_numpy())), is_gap)
        return found if zone is None else _in_zone(found.dt.replace_time_zone("UTC"), str(zone))
    if kind.kind in _NUMBERS and hasattr(kind, "numpy_dtype"):
        return _without(pl.Series(column.to_numpy(dtype=kind.numpy_dtype, na_value=0)), is_gap)
    values = column.to_numpy()
    if values.dtype.kind in _NUMBERS:
        return _without(_from_numbers(values), is_gap)
    values = values.astype(object)  # a copy, into which the gaps are written
    values[is_gap] = None
    return _from_objects(values.tolist())


def _in_zone(times: pl.Series, zone: str) -> pl.Series:
    """Times as clocks there show them; in UTC where Polars does not know the zone."""
    try:
        return times.dt.convert_time_zone(zone)
    except pl.exceptions.PolarsError:
        return times


def _from_numbers(values: AnyArray) -> pl.Series:
    """Numbers of any width and byte order; Polars has not all of them."""
    kind = values.dtype.newbyteorder("=")
    if kind == np.float16:
        # by their shortest decimals, as in `widen_floats`
        distinct, places = np.unique(values, return_inverse=True)
        return pl.Series(distinct.astype(str).astype(np.float64)[places])
    is_known = kind.kind != "f" or kind.itemsize in (4, 8)
    known = values.astype(kind if is_known else np.float64, copy=False)
    if kind.itemsize > known.itemsize and len(np.unique(known)) < len(np.unique(values)):
        raise InputError(_TOO_FINE)
    return pl.Series(known)


def _from_categories(accessor: Any) -> pl.Series:
    """The categories by their codes; where they have an order, text keeps it."""
    labels = _from_pandas(accessor.categories.to_series())
    if accessor.ordered and labels.dtype == pl.String:
        labels = labels.cast(pl.Enum(labels))
    codes = pl.Series(accessor.codes.to_numpy(), dtype=pl.Int64)
    return labels.gather(codes.replace(-1, None))


def _of_known_unit(times: Any) -> Any:
    """Dates and durations in one of the units that Polars has."""
    unit = np.datetime_data(times.dtype)[0]
    return times if unit in ("ns", "us", "ms") else times.astype(f"{times.dtype.kind}8[us]")


def _without(values: pl.Series, is_gap: BoolArray) -> pl.Series:
    if not is_gap.any():
        return values
    return values.zip_with(pl.Series(~is_gap), pl.Series([None], dtype=values.dtype))


def _from_objects(values: Sequence[Any]) -> pl.Series:
    """Python objects of one family; None is a gap."""
    kinds = {*map(type, values)} - {type(None)}
    families = {_family(kind): kind for kind in sorted(kinds, key=lambda kind: kind.__name__)}
    if {*families} == {"whole numbers", "numbers"}:
        families.pop("whole numbers")
    if len(families) > 1:
        first, second = (_example(values, kind) for kind in [*families.values()][:2])
        raise InputError(
            f"holds both {first} and {second}. Give it one kind of value, for example all text: "
            ".astype(str)."
        )
    if not families:
        return pl.Series([None] * len(values), dtype=pl.Null)
    family, kind = families.popitem()
    if family not in _CONVERTED:
        raise InputError(
            f"holds {_example(values, kind)}. Give text, numbers, true/false, or lists of these."
        )
    return _CONVERTED[family](values)


def _example(values: Sequence[Any], kind: type) -> str:
    first = next(one for one in values if type(one) is kind)
    return f"{plain(repr(first), 40)} ({kind.__name__})"


def _family(kind: type) -> str:
    for classes, family in _FAMILIES.items():
        if issubclass(kind, classes):
            return family
    is_written = any(base.__name__ in _WRITTEN for base in kind.__mro__)
    return "named by text" if is_written else kind.__name__


def _each(convert: Callable[[Any], Any], kind: Any) -> Callable[[Sequence[Any]], pl.Series]:
    def converted(values: Sequence[Any]) -> pl.Series:
        return pl.Series([None if one is None else convert(one) for one in values], dtype=kind)

    return converted


def _from_whole_numbers(values: Sequence[Any]) -> pl.Series:
    try:
        return _each(int, pl.Int64)(values)
    except (OverflowError, TypeError):
        # wider than 64 bits: only ids are, and these are compared as text then
        return _each(str, pl.String)(values)


def _from_mixed_numbers(values: Sequence[Any]) -> pl.Series:
    """Decimals as such where all are; otherwise floats, narrow ones by their shortest decimal."""
    if all(one is None or isinstance(one, Decimal) for one in values):
        with suppress(pl.exceptions.PolarsError, TypeError, ValueError):
            return pl.Series(values)
    numbers = _each(
        lambda one: float(str(one) if isinstance(one, np.floating) else one), pl.Float64
    )(values)
    with suppress(InvalidOperation):
        distinct = {Decimal(str(one)) for one in {*values} - {None}}
        if numbers.drop_nulls().drop_nans().n_unique() < sum(not one.is_nan() for one in distinct):
            raise InputError(_TOO_FINE)
    return numbers


def _from_lists(values: Sequence[Any]) -> pl.Series:
    """Lists, tuples and arrays in the cells, through one flat column of all their values."""
    present = [one for one in values if one is not None]
    for one in present:
        if isinstance(one, np.ndarray) and one.ndim != 1:
            raise InputError(
                f"holds an array of {one.ndim} dimensions ({plain(repr(one), 40)}). Give each row "
                "one value, or one list of values."
            )
    if all(isinstance(one, np.ndarray) and one.dtype.kind in _NUMBERS for one in present):
        flat = _from_numbers(np.concatenate([one.ravel() for one in present]))
    else:
        flat = _from_objects([*chain.from_iterable(present)])
    lengths = np.array([0 if one is None else len(one) for one in values], dtype=np.int64)
    rows = np.repeat(np.arange(len(values)), lengths)
    lists = (
        pl.DataFrame({"row": np.arange(len(values))})
        .join(
            pl.DataFrame({"row": rows, "list": flat})
            .group_by("row", maintain_order=True)
            .agg("list"),
            on="row",
            how="left",
            maintain_order="left",
        )
        .get_column("list")
    )
    empty = pl.Series([[]], dtype=lists.dtype)
    lists = lists.zip_with(pl.Series(lengths > 0), empty)
    return _without(lists, np.array([one is None for one in values]))


_FAMILIES: dict[Any, str] = {
    str: "text",
    (bool, np.bool_): "true/false",
    Integral: "whole numbers",
    (Real, Decimal): "numbers",
    (list, tuple, np.ndarray): "lists",
    bytes: "bytes",
    (datetime.date, datetime.time, datetime.timedelta): "times",
}
"""Classes of objects that can stand in one column; true/false is a whole number to Python."""

_CONVERTED: dict[str, Callable[[Sequence[Any]], pl.Series]] = {
    "text": lambda values: pl.Series(values, dtype=pl.String),
    "true/false": _each(bool, pl.Boolean),
    "whole numbers": _from_whole_numbers,
    "numbers": _from_mixed_numbers,
    "lists": _from_lists,
    "bytes": pl.Series,
    "times": pl.Series,
    "named by text": _each(str, pl.String),
}


def _by_narwhals(source: Any, name: str) -> pl.LazyFrame:
    import narwhals as nw

    try:
        frame = nw.from_native(source)
        collected = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        return collected.to_polars().lazy()
    except ModuleNotFoundError as error:
        raise InputError(
            f"{name}: reading this table needs {error.name}: pip install 'fairrec[pandas]'"
        ) from error
    except TypeError as error:
        raise InputError(
            f"{name}: {type(source).__name__} is not a table. "
            "Give a path or a Polars, pandas or Arrow table."
        ) from error
    except FairRecError:
        raise
    except Exception as error:
        # Arrow and narwhals each have errors of their own for columns of mixed kinds
        raise InputError(
            f"the {name} table cannot be read: {_culprit(source)}{plain(error, 300)}. "
            "Give each column one kind of value and a name of its own."
        ) from error


def _culprit(source: Any) -> str:
    """The first column that cannot be read by itself, where one can be told."""
    import narwhals as nw

    try:
        frame = nw.from_native(source, eager_only=True)
    except Exception:
        return ""
    for column in frame.columns:
        try:
            frame.select(column).to_polars()
        except Exception:
            return f"column {plain(repr(column))}, "
    return ""
