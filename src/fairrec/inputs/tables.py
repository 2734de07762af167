"""Read a Parquet, CSV or Arrow file, or take a data frame, and pick columns from it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from fairrec.core.arrays import IntArray
from fairrec.core.errors import FairRecError, InputError, as_unicode, listed, plain, some_of
from fairrec.core.options import Blank, spelled
from fairrec.inputs.columns import find_column, plain_name

READERS = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".csv": "CSV",
    ".tsv": "CSV",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
}


class Table:
    """A table at the edge: where it came from, its columns, and how to read some of them.

    Parameters
    ----------
    source : a path, or a Polars, pandas or Arrow table
    name : the part it plays: predictions, users, items or history
    mapping : column names the user gave
    """

    def __init__(self, source: Any, name: str, mapping: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.mapping = mapping or {}
        self.path = Path(source) if isinstance(source, str | Path) else None
        self.where = plain(self.path.name) if self.path else f"the {name} table"
        with self._read_errors():
            self._frame = _scan(self.path, self.where) if self.path else _from_memory(source, name)
            self.columns = self._frame.collect_schema().names()

    @property
    def is_csv(self) -> bool:
        """Whether it comes from a CSV file, which holds text only."""
        return self.path is not None and READERS.get(self.path.suffix.lower()) == "CSV"

    def find(self, wanted: str) -> str | None:
        """The column that plays the part of `wanted`, or None."""
        return find_column(wanted, self.columns, self.name, self.where, self.mapping)

    def is_mapped(self, wanted: str) -> bool:
        """Whether the user said which column plays the part of `wanted`."""
        return wanted in self.mapping or f"{self.name}.{wanted}" in self.mapping

    def require(self, wanted: str) -> str:
        """The column that plays the part of `wanted`; an error where there is none."""
        column = self.find(wanted)
        if column is None:
            raise InputError(
                f"{self.where}: no column '{wanted}'. Columns here: {listed(self.columns)}. "
                f"If it has another name, map it: "
                f"{spelled('columns', {wanted: Blank('NAME')})}"
            )
        return column

    def numeric_columns(self) -> list[str]:
        """The columns that hold numbers or true and false."""
        kinds = self._frame.collect_schema()
        return [name for name, kind in kinds.items() if kind.is_numeric() or kind == pl.Boolean]

    def attribute_column(self, name: str) -> str | None:
        """The column an attribute is read from, by exact or plain name, or None."""
        if name in self.columns:
            return name
        return next((column for column in self.columns if plain_name(column) == name), None)

    def read(self, columns: Mapping[str, str], labels: Collection[str] = ()) -> pl.DataFrame:
        """The named columns as a frame: new name -> column of the table.

        Parameters
        ----------
        labels : those that only name something, so that '007' is not 7
        """
        ids = [column for name, column in columns.items() if name in ("user_id", "item_id")]
        with self._read_errors():
            frame = self._frame
            if self.path and self.is_csv:
                # as text, or user '007' of one file would not be user '007' of the other
                kinds = self._frame.collect_schema()
                labels = [name for name in labels if kinds[columns[name]].is_integer()]
                frame = _scan(self.path, self.where, [*ids, *(columns[name] for name in labels)])
            picked = frame.select(pl.col(column).alias(name) for name, column in columns.items())
            table = picked.collect()
            if self.is_csv:
                table = table.with_columns(_whole_or_text(table[name]) for name in labels)
        if table.height == 0:
            raise InputError(f"{self.where}: the table is empty. It needs at least one row.")
        for name in ("user_id", "item_id"):
            if name in columns and not isinstance(table[name].dtype, pl.List | pl.Array):
                self._refuse_nulls(table[name], columns[name])
        return table

    def numbers(self, values: pl.Series, column: str, offsets: IntArray | None = None) -> pl.Series:
        """The values as float64; text, missing and non-finite values are errors.

        `offsets` are the bounds of the rows where each row holds a list of values.
        """
        kind = values.dtype

        def row_of(at: int) -> int:
            return at + 1 if offsets is None else int(np.searchsorted(offsets, at, side="right"))

        if not (kind.is_numeric() or kind == pl.Boolean):
            raise InputError(f"{self.where}{_why_not_numbers(values, column, row_of)}")
        if values.null_count():
            at = int(values.is_null().arg_true()[0])
            raise InputError(
                f"{self.where}, row {row_of(at)}: column '{column}' is empty "
                f"({values.null_count():,} such values). Give a number in every row."
            )
        numbers = values.cast(pl.Float64)
        if kind.is_float() and not numbers.is_finite().all():
            bad = (~numbers.is_finite()).arg_true()
            raise InputError(
                f"{self.where}, row {row_of(int(bad[0]))}: column '{column}' is {numbers[bad[0]]} "
                f"({len(bad):,} such values). Every value must be finite; drop those rows or fix "
                "the model that wrote them."
            )
        return numbers

    def refuse_duplicates(self, ids: pl.Series, column: str, remedy: str) -> None:
        """Raise where an id stands in more than one row."""
        if ids.n_unique() == len(ids):
            return
        again = ids.filter(ids.is_duplicated()).unique(maintain_order=True)
        row = (~ids.is_first_distinct()).arg_true()[0]
        raise InputError(
            f"{self.where}, row {row + 1}: {column} {some_of(again.head(3).to_list(), len(again))} "
            f"appears more than once. {remedy}"
        )

    def _refuse_nulls(self, values: pl.Series, column: str) -> None:
        if values.null_count():
            row = values.is_null().arg_true()[0]
            raise InputError(
                f"{self.where}, row {row + 1}: column '{column}' is empty "
                f"({values.null_count():,} such rows). Fill it in or drop those rows."
            )

    @contextmanager
    def _read_errors(self) -> Iterator[None]:
        try:
            yield
        except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
            kind = READERS.get(self.path.suffix.lower(), "a table") if self.path else "a table"
            remedy = "Check that the file is whole and its ending tells its format."
            if "utf-8" in reason.lower() or "utf8" in reason.lower():
                remedy = "Save the file as UTF-8."
            if self.path is None:
                remedy = "Check that it can be collected."
            raise InputError(
                f"{self.where}: cannot be read as {kind} ({plain(reason, 300)}). {remedy}"
            ) from error


def ids_as_integers_or_text(ids: pl.Series, where: str) -> pl.Series:
    """Ids as Int64 where all are whole numbers that fit, as text otherwise.

    So the same ids are the same, and in the same order, whatever table they come from: CSV has
    text only, and pandas turns whole numbers with a gap into floats. Text such as '007' is
    no whole number, or it would be mistaken for '7'.
    """
    kind = ids.dtype
    if kind.is_float():
        return _whole_floats(ids, where)
    if kind.is_nested():
        raise InputError(f"{where}: ids are of type {kind}. Ids must be whole numbers or text.")
    if kind.is_integer():
        as_int64 = ids.cast(pl.Int64, strict=False)
        return ids.cast(pl.String) if as_int64.null_count() > ids.null_count() else as_int64
    try:
        text = ids.cast(pl.String)
    except pl.exceptions.PolarsError as error:
        raise InputError(
            f"{where}: ids are of type {kind} and not all are text. Ids must be whole numbers or "
            "text."
        ) from error
    return _whole_or_text(text)


def _whole_or_text(text: pl.Series) -> pl.Series:
    """Int64 where that is just another way to write every text, the text itself otherwise."""
    as_int64 = text.cast(pl.Int64, strict=False)
    is_canonical = as_int64.null_count() == text.null_count() and bool(
        (as_int64.cast(pl.String) == text).all()
    )
    return as_int64 if is_canonical else text


def _whole_floats(ids: pl.Series, where: str) -> pl.Series:
    whole = ids.cast(pl.Int64, strict=False)
    is_whole = (whole.cast(pl.Float64) == ids.cast(pl.Float64)).fill_null(value=False)
    if not is_whole.all():
        raise InputError(
            f"{where}: ids are fractions ({ids.filter(~is_whole)[0]!r}, ...). Ids must be whole "
            "numbers or text."
        )
    return whole


def _why_not_numbers(values: pl.Series, column: str, row_of: Callable[[int], int]) -> str:
    """What is wrong with a column that holds no numbers, after the name of the table."""
    if values.dtype != pl.String:
        return f": column '{column}' is of type {values.dtype}. Give numbers only."
    numbers = values.cast(pl.Float64, strict=False)
    bad = (numbers.is_null() | ~numbers.is_finite()).arg_true()
    if not len(bad):
        return f": column '{column}' holds numbers as text. Store them as numbers."
    at = int(bad[0])
    what = "not a number" if numbers[at] is None else "not finite"
    return (
        f", row {row_of(at)}: column '{column}' holds {plain(repr(values[at]))}, which is {what} "
        f"({len(bad):,} such values). Give numbers only."
    )


def _scan(path: Path, where: str, text: Sequence[str] = ()) -> pl.LazyFrame:
    if not path.is_file():
        reason = "is a folder, not a file" if path.is_dir() else "does not exist"
        raise InputError(f"{plain(path, 300)}: {reason}. Check the path.")
    if as_unicode(str(path)) == str(path):
        return _scan_as(path, path, where, text)
    # opened here, because Polars takes no path that is not Unicode
    with path.open("rb") as stream:
        return _scan_as(path, stream, where, text)


def _scan_as(path: Path, source: Path | IO[bytes], where: str, text: Sequence[str]) -> pl.LazyFrame:
    """The rows of a source, in the form that the ending of the path names."""
    kind = READERS.get(path.suffix.lower())
    if kind == "Parquet":
        return pl.scan_parquet(source, glob=False)
    if kind == "CSV":
        separator = "\t" if path.suffix.lower() == ".tsv" else ","
        as_text = dict.fromkeys(text, pl.String)
        return pl.scan_csv(
            source,
            separator=separator,
            infer_schema_length=None,
            schema_overrides=as_text,
            glob=False,
        )
    if kind == "Arrow":
        return pl.scan_ipc(source, glob=False)
    raise InputError(
        f"{where}: the ending {plain(repr(path.suffix))} is not known. "
        f"Known: {', '.join(READERS)}. Rename or convert the file."
    )


def _from_memory(source: Any, name: str) -> pl.LazyFrame:
    if isinstance(source, pl.LazyFrame):
        return source
    if isinstance(source, pl.DataFrame):
        return source.lazy()
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
        # pandas, Arrow and narwhals each have errors of their own for columns of mixed kinds
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
