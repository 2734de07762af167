"""A table of counts: its columns, and its file.

One row is all users of one combination of attributes and circumstances who are on one level of a
family of metrics: how many they are, and the sums of their values and of the squares of these.
Rows of a family hold every user once, so that families stand below one another.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from fairrec.core.atomic_io import atomic_file, errors_of_polars
from fairrec.core.errors import InputError, plain
from fairrec.core.files import errors_of_reading, open_file
from fairrec.core.json_file import checked_json
from fairrec.core.parquet import damaged
from fairrec.core.parquet_footer import CheckedParquet
from fairrec.counts.checking import FAMILY, LEVEL, SHARE, USERS, checked_rows, squares_of
from fairrec.counts.info import KEY, CountsInfo
from fairrec.counts.seal import is_as_sealed, sealed

__all__ = ["FAMILY", "LEVEL", "SHARE", "USERS", "squares_of"]

OWN = (FAMILY, LEVEL, USERS, SHARE)


def family_name(metrics: tuple[str, ...]) -> str:
    """As the column of families has it."""
    return ",".join(metrics)


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of users.

    Parameters
    ----------
    info : None where another tool has made the table
    where : the file, for messages
    """

    rows: pl.DataFrame
    info: CountsInfo | None
    where: str = "the counts"

    @property
    def keys(self) -> list[str]:
        """Attributes and circumstances."""
        if self.info is not None:
            return [*self.info.attributes, *self.info.circumstances]
        return [name for name in self.rows.columns if self._is_key(name)]

    def _is_key(self, name: str) -> bool:
        squared = name.removesuffix("^2")
        is_value = squares_of(squared) in self.rows.columns
        return name not in OWN and squares_of(SHARE) != name and not is_value

    @property
    def values(self) -> list[str]:
        """The columns with sums."""
        return [
            name
            for name in self.rows.columns
            if name != SHARE and squares_of(name) in self.rows.columns
        ]

    def summed(self) -> Counts:
        """The same with one row for users who are alike, in an order of their own."""
        numbers = [USERS, *(n for name in (*self.values, SHARE) for n in (name, squares_of(name)))]
        numbers = [name for name in numbers if name in self.rows.columns]
        keys = [FAMILY, *self.keys, LEVEL]
        rows = (
            self.rows.group_by(keys)
            .agg(_sum_or_null(name) for name in numbers)
            .sort(keys, nulls_last=True)
            .select(*keys, *numbers)
        )
        return replace(self, rows=rows)


def _sum_or_null(name: str) -> pl.Expr:
    """The sum, and null where none has a value."""
    column = pl.col(name)
    return pl.when(column.count() > 0).then(column.sum()).otherwise(None).alias(name)


def write_counts(counts: Counts, file: Path) -> None:
    """Write counts whole or not at all."""
    assert counts.info is not None
    said = counts.info.model_dump_json(exclude_defaults=False)
    with atomic_file(file) as path, errors_of_polars():
        content = io.BytesIO()
        counts.rows.write_parquet(content, metadata={KEY: said})
        path.write_bytes(sealed(content.getvalue()))


def read_counts(file: Path) -> Counts:
    """The counts in a file, by `fairrec count` or by any engine that wrote these columns."""
    where = plain(file, 300)
    fix = "Give a file that fairrec count has written."
    with open_file(file, fix) as stream, errors_of_reading(file, fix):
        content = stream.read()
        is_whole = is_as_sealed(content)
        if is_whole is False:
            raise _changed(where)
        with damaged(file, fix):
            CheckedParquet(io.BytesIO(content), where, fix).check_pages(io.BytesIO(content))
            metadata = pl.read_parquet_metadata(io.BytesIO(content))
            rows = pl.read_parquet(content)
    info = None
    if KEY in metadata:
        try:
            info = checked_json(metadata[KEY], CountsInfo, has_infinity=True)
        except ValueError as error:
            raise InputError(
                f"{where}: is no table of counts of this version of FairRec "
                f"({plain(error, 300)}). Count again."
            ) from error
        if not is_whole:
            raise _changed(where)
    return Counts(checked_rows(rows, where), info, where)


def _changed(where: str) -> InputError:
    return InputError(
        f"{where}: is not as fairrec count wrote it: it was damaged or changed. Copy it again, or "
        "count again."
    )
