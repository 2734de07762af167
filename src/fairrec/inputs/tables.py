"""Read a Parquet, CSV or Arrow file, or take a data frame, and pick columns from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fairrec.arrays import IntArray
from fairrec.errors import InputError, some_of
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
        self.where = self.path.name if self.path else f"the {name} table"
        with self._read_errors():
            self._frame = _scan(self.path, self.where) if self.path else _from_memory(source, name)
            self.columns = self._frame.collect_schema().names()

    def find(self, wanted: str) -> str | None:
        """The column that plays the part of `wanted`, or None."""
        return find_column(wanted, self.columns, self.name, self.where, self.mapping)

    def require(self, wanted: str) -> str:
        """The column that plays the part of `wanted`; an error where there is none."""
        column = self.find(wanted)
        if column is None:
            raise InputError(
                f"{self.where}: no column '{wanted}'. Columns here: {', '.join(self.columns)}. "
                f"If it has another name, map it: --columns {wanted}=NAME"
            )
        return column

    def attribute_column(self, name: str) -> str | None:
        """The column an attribute is read from, by exact or plain name, or None."""
        if name in self.columns:
            return name
        return next((column for column in self.columns if plain_name(column) == name), None)

    def read(self, columns: Mapping[str, str]) -> pl.DataFrame:
        """The named columns as a frame: new name -> column of the table."""
        ids = [column for name, column in columns.items() if name in ("user_id", "item_id")]
        with self._read_errors():
            frame = self._frame
            if self.path and READERS.get(self.path.suffix.lower()) == "CSV":
                # as text, or user '007' of one file would not be user '007' of the other
                frame = _scan(self.path, self.where, text=ids)
            picked = frame.select(pl.col(column).alias(name) for name, column in columns.items())
            table = picked.collect()
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
            as_numbers = values.cast(pl.String, strict=False).cast(pl.Float64, strict=False)
            bad = as_numbers.is_null().arg_true()
            at = int(bad[0]) if len(bad) else 0
            raise InputError(
                f"{self.where}, row {row_of(at)}: column '{column}' holds {values[at]!r}, which is "
                f"not a number ({max(len(bad), 1):,} such values). Give numbers only."
            )
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
                f"({len(bad):,} such values). Every value must be finite; drop those rows or mend "
                "the model that wrote them."
            )
        return numbers

    def refuse_duplicates(self, ids: pl.Series, column: str, remedy: str) -> None:
        """Raise where an id stands in more than one row."""
        if ids.n_unique() == len(ids):
            return
        again = ids.filter(ids.is_duplicated()).unique(maintain_order=True)
        row = ids.is_duplicated().arg_true()[1]
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
            raise InputError(
                f"{self.where}: cannot be read as {kind} ({reason}). "
                "Check that the file is whole and its ending tells its format."
            ) from error


def ids_as_integers_or_text(ids: pl.Series, where: str) -> pl.Series:
    """Ids as Int64 where they are whole numbers, as text otherwise.

    pandas turns whole numbers with a gap into floats, so whole floats count as integers.
    """
    kind = ids.dtype
    if kind.is_integer():
        return ids.cast(pl.Int64 if kind != pl.UInt64 else pl.String)
    if kind.is_float():
        whole = ids.cast(pl.Int64, strict=False)
        if whole.null_count() or (whole.cast(pl.Float64) != ids).any():
            raise InputError(
                f"{where}: ids are fractions ({ids[0]!r}, ...). Ids must be whole numbers or text."
            )
        return whole
    if kind.is_nested():
        raise InputError(f"{where}: ids are of type {kind}. Ids must be whole numbers or text.")
    return ids.cast(pl.String)


def _scan(path: Path, where: str, text: Sequence[str] = ()) -> pl.LazyFrame:
    if not path.is_file():
        reason = "is a folder, not a file" if path.is_dir() else "does not exist"
        raise InputError(f"{path}: {reason}. Check the path.")
    kind = READERS.get(path.suffix.lower())
    if kind == "Parquet":
        return pl.scan_parquet(path)
    if kind == "CSV":
        separator = "\t" if path.suffix.lower() == ".tsv" else ","
        as_text = dict.fromkeys(text, pl.String)
        return pl.scan_csv(
            path, separator=separator, infer_schema_length=None, schema_overrides=as_text
        )
    if kind == "Arrow":
        return pl.scan_ipc(path)
    raise InputError(
        f"{where}: the ending {path.suffix!r} is not known. "
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
    except TypeError as error:
        raise InputError(
            f"{name}: {type(source).__name__} is not a table. "
            "Give a path or a Polars, pandas or Arrow table."
        ) from error
    collected = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    try:
        return collected.to_polars().lazy()
    except ModuleNotFoundError as error:
        raise InputError(
            f"{name}: reading this table needs {error.name}: pip install 'fairrec[pandas]'"
        ) from error
