"""A table of any origin: pick columns from it, and check what they hold."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.errors import InputError, is_panic, list_some, listed, plain
from fairrec.core.options import Blank, spell
from fairrec.inputs.columns import find_column, named_column, recbole_type
from fairrec.inputs.formats import (
    RowSlice,
    detect_format,
    is_stored,
    list_files,
    open_path,
    scan_stored,
)
from fairrec.inputs.frames import PandasFrame, Role, open_frame, widen_floats
from fairrec.inputs.ids import ids_as_integers_or_text

IDS = ("user_id", "item_id")
NUMBERS = ("score", "rank", "label", "rating", "gain")

SMALLEST, LARGEST = 1e-60, 1e60
"""Numbers whose squares and cubes do not become 0 or infinity."""

Doubts = dict[str, str | None]
"""What is wrong if it is so in every part; None where a part shows that it is not."""

_LIST = r"^\s*\[\s*(['\"\d-][^\[\]]*)?\]\s*$"
"""A list as Python writes it: '[1, 2, 3]'."""

_READ_ERRORS = (pl.exceptions.PolarsError, OSError, UnicodeError, csv.Error)


class Table:
    """A table at the edge: where it came from, its columns, and how to read some of them.

    Parameters
    ----------
    source : a path, a Polars, pandas or Arrow table, or a slice of a table that is read in parts
    name : the part it plays: predictions, users, items or history
    mapping : column names the user gave
    """

    def __init__(self, source: Any, name: str, mapping: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.mapping = mapping or {}
        self.row_slice = source if isinstance(source, RowSlice) else None
        self.doubts: Doubts = {}
        # looked up for each of thousands of attributes
        self._found: dict[str, str | None] = {}
        named = source.path if isinstance(source, RowSlice) else source
        self.path = Path(named) if isinstance(named, str | Path) else None
        self.where = plain(self.path.name) if self.path and self.path.name else f"the {name} table"
        with self.read_errors():
            if self.row_slice is not None:
                self._source = self.row_slice.open()
            elif self.path is not None:
                self._source = open_path(self.path, self.where)
            else:
                self._source = open_frame(source, name)
        self.columns = [*self._source.columns]

    @classmethod
    def open(cls, source: Any, name: str, mapping: Mapping[str, str] | None = None) -> Table:
        """The table of a source, or the one itself that is opened already."""
        return source if isinstance(source, cls) else cls(source, name, mapping)

    @property
    def is_csv(self) -> bool:
        """Whether it comes from a file that holds text only."""
        return self._source.is_text

    @property
    def stored(self) -> pl.LazyFrame | None:
        """The rows of a table in Parquet files, not read yet; None for any other table."""
        if self.path is None or self.row_slice or not is_stored(self.path):
            return None
        return scan_stored(self.path)

    @property
    def key(self) -> str:
        """What tells its rows apart, where it has one for each user or item."""
        return "item_id" if self.name == "items" else "user_id"

    @property
    def is_pandas(self) -> bool:
        """Whether it is a frame of pandas."""
        return isinstance(self._source, PandasFrame)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader of a result should know about how it was read."""
        return tuple(self._source.notes)

    @property
    def hint(self) -> str:
        """What to try where a column is missing: a sentence after a blank, or nothing."""
        return f" {self._source.hint}" if self._source.hint else ""

    def find(self, role: str) -> str | None:
        """The column that plays the part `role`, or None."""
        if role not in self._found:
            self._found[role] = find_column(role, self.columns, self.name, self.where, self.mapping)
        return self._found[role]

    def is_mapped(self, role: str) -> bool:
        """Whether the user said which column plays the part `role`."""
        return role in self.mapping or f"{self.name}.{role}" in self.mapping

    def require(self, role: str) -> str:
        """The column that plays the part `role`; an error where there is none."""
        column = self.find(role)
        if column is None:
            raise InputError(
                f"{self.where}: no column '{role}'. Columns here: {listed(self.columns)}."
                f"{self.hint} If it has another name, map it: "
                f"{spell('columns', {role: Blank('NAME')})}"
            )
        return column

    def numeric_columns(self, columns: Collection[str]) -> list[str]:
        """Those of the columns that hold numbers or true and false."""
        with self.read_errors():
            frame = self._source.read(
                {name: name for name in columns}, dict.fromkeys(columns, Role.ANY)
            )
        return [one.name for one in frame if one.dtype.is_numeric() or one.dtype == pl.Boolean]

    def attribute_column(self, name: str) -> str | None:
        """The column an attribute is read from, by exact or plain name, or None."""
        return named_column(name, self.columns)

    def place(self, row: int) -> str:
        """Where a row stands, for messages; rows of a slice have no number."""
        return self.where if self.row_slice else f"{self.where}, row {row + 1}"

    def expect(self, what: str, is_met: bool, otherwise: str) -> None:
        """Refuse what is wrong if it is so in all rows; of a part, note whether it is so there."""
        if not is_met and self.row_slice is None:
            raise InputError(otherwise)
        self.doubts[what] = None if is_met else otherwise

    def user_keys(self, ids: pl.Series) -> pl.Series:
        """User ids as they are compared; those of a slice as they are in the whole table."""
        keys = ids_as_integers_or_text(ids, self.where)
        return (
            ids.cast(pl.String) if self.row_slice is not None and self.row_slice.is_text else keys
        )

    def read(self, columns: Mapping[str, str], labels: Collection[str] = ()) -> pl.DataFrame:
        """The named columns as a frame: new name -> column of the table.

        Parameters
        ----------
        labels : those that only name something, so that '007' is not 7
        """
        roles = {name: _role(name, column, name in labels) for name, column in columns.items()}
        with self.read_errors():
            table = self._source.read(columns, roles)
            table = table.with_columns(
                _split_sequence(table[name], column) for name, column in columns.items()
            ).with_columns(
                # the order of scores is that of their exact values, and an id is a whole number
                widen_floats(table[name])
                for name, role in roles.items()
                if name != "score" and role is not Role.NAME
            )
        if table.height == 0 and self.row_slice is None:
            raise InputError(f"{self.where}: the table is empty. It needs at least one row.")
        for name in (*IDS, "categories", *NUMBERS):
            if name in columns:
                self._refuse_written_lists(table[name], columns[name])
        for name in IDS:
            if name in columns and not isinstance(table[name].dtype, pl.List | pl.Array):
                remedy = "Fill it in or drop those rows"
                self._refuse_nulls(table[name], columns[name], "rows", remedy)
        return table

    def numbers(self, values: pl.Series, column: str, offsets: IntArray | None = None) -> pl.Series:
        """The values as float64; text, missing and non-finite values are errors.

        `offsets` are the bounds of the rows where each row holds a list of values.
        """
        if not (values.dtype.is_numeric() or values.dtype == pl.Boolean):
            self._refuse_no_numbers(values, column)
        self._refuse_nulls(values, column, "values", "Give a number in every row", offsets)
        # pieces are put together while they are small, and not copied again as an array
        numbers = values.rechunk().cast(pl.Float64)
        if values.dtype.is_float() and not numbers.is_finite().all():
            bad = (~numbers.is_finite()).arg_true()
            raise InputError(
                f"{self._place_of(bad[0], offsets)}: column '{plain(column)}' is "
                f"{numbers[bad[0]]} ({len(bad):,} such values). Every value must be finite; drop "
                "those rows or fix the model that wrote them."
            )
        return numbers

    def refuse_extreme(self, numbers: FloatArray, column: str) -> None:
        """Raise where squares of the numbers could overflow."""
        largest = float(max(numbers.max(initial=0), -numbers.min(initial=0)))
        if largest > LARGEST:
            raise InputError(
                f"{self.where}: column '{plain(column)}' has a value of {largest:g}, too large to "
                "compute with. If it stands for no value, leave it empty."
            )

    def numbers_with_gaps(self, values: pl.Series, column: str) -> FloatArray | None:
        """Float64, NaN for no value, None where there is none; text and infinity are errors."""
        is_known = values.is_not_null()
        if values.dtype.is_float():
            is_known &= values.is_not_nan().fill_null(value=False)
        if not is_known.any():
            return None
        is_text = values.dtype == pl.String
        known = values if is_text else values.set(~is_known, values.filter(is_known)[0])
        numbers = self.numbers(known, column).to_numpy()
        self.refuse_extreme(numbers, column)
        return np.where(is_known.to_numpy(), numbers, np.nan)

    def refuse_duplicates(self, ids: pl.Series, column: str, remedy: str) -> None:
        """Raise where an id stands in more than one row."""
        if ids.n_unique() == len(ids):
            return
        again = ids.filter(ids.is_duplicated()).unique(maintain_order=True)
        row = (~ids.is_first_distinct()).arg_true()[0]
        raise InputError(
            f"{self.place(row)}: {column} {list_some(again.head(3).to_list(), len(again))} "
            f"appears more than once. {remedy}"
        )

    def _place_of(self, at: int, offsets: IntArray | None) -> str:
        """The place of the row that holds a value, which may stand in a list."""
        if offsets is None:
            return self.place(at)
        return self.place(int(np.searchsorted(offsets, at, side="right")) - 1)

    def _refuse_nulls(
        self,
        values: pl.Series,
        column: str,
        what: str,
        remedy: str,
        offsets: IntArray | None = None,
    ) -> None:
        if values.null_count():
            raise InputError(
                f"{self._place_of(values.is_null().arg_true()[0], offsets)}: column "
                f"'{plain(column)}' is empty ({values.null_count():,} such {what}). {remedy}."
            )

    def _refuse_written_lists(self, values: pl.Series, column: str) -> None:
        """Refuse lists written as text, each of which would be a single value."""
        # most columns show in a few values that they are none
        is_text = values.dtype == pl.String and values.null_count() < len(values)
        if not (is_text and all(v.str.contains(_LIST).all() for v in (values.head(100), values))):
            return
        shown = values.drop_nulls()[0]
        raise InputError(
            f"{self.where}: column '{plain(column)}' holds lists written as text "
            f"({plain(repr(shown), 40)}). Save the table as Parquet, where lists stay lists, or "
            "write one row for each of their values; several categories are joined with '|'."
        )

    def _refuse_no_numbers(self, values: pl.Series, column: str) -> None:
        named = f"column '{plain(column)}'"
        numbers = values.cast(pl.Float64, strict=False) if values.dtype == pl.String else values
        # beside text an empty field is not what is wrong
        bad = (values.is_not_null() & numbers.is_null()).arg_true()
        if not len(bad):
            raise InputError(f"{self.where}: {named} is of type {values.dtype}. Store numbers.")
        raise InputError(
            f"{self.place(bad[0])}: {named} holds {plain(repr(values[bad[0]]))}, which is not a "
            f"number ({len(bad):,} such values). Give numbers only."
        )

    @contextmanager
    def read_errors(self) -> Iterator[None]:
        """Errors of reading in words that name the table."""
        try:
            yield
        except BaseException as error:
            # a file that is damaged in odd ways makes Polars panic, which is no Exception
            if not (is_panic(error) or isinstance(error, _READ_ERRORS)):
                raise
            reason = (str(error).strip() or repr(error)).splitlines()[0]
            # without advice for callers of Polars
            reason = re.split(r"[\s,;]*\bhint:", reason)[0]
            kind = (detect_format(self.path) if self.path else None) or "a table"
            remedy = (
                "Check that each part is whole and has the same columns of the same types."
                if self.path and len(list_files(self.path)) > 1
                else "Check that the file is whole and its ending tells its format, and save text "
                "as UTF-8."
            )
            raise InputError(
                f"{self.where}: cannot be read as {kind} ({plain(reason, 300)}). {remedy}"
            ) from error


def _split_sequence(values: pl.Series, column: str) -> pl.Series:
    """The words of text in a column of sequences, by RecBole's name of it."""
    kind = recbole_type(column)
    if values.dtype != pl.String or not kind.endswith("_seq"):
        return values
    words = values.str.split(" ").list.eval(pl.element().filter(pl.element() != ""))
    return words.cast(pl.List(pl.Float64)) if kind == "float_seq" else words


def _role(name: str, column: str, is_label: bool) -> Role:
    """What a column is read for, by the part it plays."""
    if name in (*IDS, "categories") or recbole_type(column).endswith("_seq"):
        return Role.NAME
    if is_label:
        return Role.LABEL
    return Role.NUMBER if name in NUMBERS else Role.ANY
