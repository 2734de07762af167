"""Rows of a publisher's file, whatever its format, each with its line for error messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from fairrec.core.errors import InputError

FIX = "Fix the file or get it again."
SHOWN = 80
"""Characters of a value in a message; a broken line may be very long."""


@dataclass(frozen=True, slots=True)
class RawTable:
    """What a file holds, as text or already as numbers.

    Parameters
    ----------
    rows : `line`, and the file's columns
    file : its name, for messages
    unit : what `line` counts: lines of a text file or rows of a Parquet file
    """

    rows: pl.LazyFrame
    file: str
    unit: str = "line"

    def refuse(self, is_bad: pl.Expr, column: str, problem: str, remedy: str = FIX) -> None:
        """Raise where `is_bad` holds, naming the first line, its value and how many there are."""
        found = (
            self.rows.filter(is_bad)
            .select(pl.len().alias("n"), pl.col("line", column).first())
            .collect(engine="streaming")
            .row(0, named=True)
        )
        if found["n"]:
            value = repr(found[column])
            value = value if len(value) <= SHOWN else f"{value[:SHOWN]}..."
            many = f" ({found['n']:,} such {self.unit}s)" if found["n"] > 1 else ""
            raise InputError(
                f"{self.file}, {self.unit} {found['line']}: {column} {value} {problem}{many}. "
                f"{remedy}"
            )

    def refuse_empty(self, *columns: str) -> None:
        """Raise where a text is empty or missing."""
        for column in columns:
            self.refuse(pl.col(column).fill_null("") == "", column, "is empty")

    def refuse_repeated(self, column: str) -> None:
        """Raise where a value stands in more than one row."""
        self.refuse(~pl.col(column).is_first_distinct(), column, "appears more than once")

    def refuse_unknown(self, column: str, known: pl.Series, file: str) -> None:
        """Raise where a value is not one of the `known`, which are those of another file."""
        self.refuse(~pl.col(column).is_in(known.implode()), column, f"is not in {file}")

    def whole_numbers(self, *columns: str, may_be_empty: bool = False) -> RawTable:
        """The table with texts as whole numbers; '6.0' is one, as spreadsheets write it."""
        numbers = {
            column: pl.col(column).str.replace(r"\.0+$", "").cast(pl.Int64, strict=False)
            for column in columns
        }
        for column, number in numbers.items():
            is_bad = number.is_null() & _is_asked(column, may_be_empty)
            self.refuse(is_bad, column, "is not a whole number")
        return replace(self, rows=self.rows.with_columns(**numbers))

    def decimals(self, *columns: str) -> RawTable:
        """The table with texts as decimal numbers."""
        numbers = {column: pl.col(column).cast(pl.Float64, strict=False) for column in columns}
        for column, number in numbers.items():
            self.refuse(~number.is_finite().fill_null(False), column, "is not a number")
        return replace(self, rows=self.rows.with_columns(**numbers))

    def empty_as_missing(self, *columns: str) -> RawTable:
        """The table with null in place of empty texts."""
        texts = [pl.when(pl.col(column) != "").then(pl.col(column)) for column in columns]
        return replace(self, rows=self.rows.with_columns(texts))

    def rename(self, names: Mapping[str, str]) -> RawTable:
        """The table with other column names: old name -> new name."""
        return replace(self, rows=self.rows.rename(names))

    def collect(self) -> pl.DataFrame:
        """The rows without their lines."""
        return self.rows.drop("line").collect()


def _is_asked(column: str, may_be_empty: bool) -> pl.Expr:
    return pl.col(column) != "" if may_be_empty else pl.lit(True)
