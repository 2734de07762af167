"""The folder a user gives: find the publisher's files, or the same tables as Parquet."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import polars as pl

from fairrec.core.errors import InputError, plain
from fairrec.core.options import spelled
from fairrec.core.parquet_footer import CheckedParquet
from fairrec_paper.datasets.bundle import TABLES
from fairrec_paper.datasets.raw_table import RawTable
from fairrec_paper.datasets.registry import DATASETS

ColumnTypes = Mapping[str, pl.DataType | type[pl.DataType]]
PARQUET_FILES = tuple(f"{table}.parquet" for table in TABLES)


def find_file(dataset: str, raw: Path, *names: str) -> Path:
    """The first of the names that is in the folder."""
    for name in names:
        if (raw / name).is_file():
            return raw / name
    deeper = next((path for name in names for path in sorted(raw.glob(f"*/{name}"))), None)
    here = sorted(path.name for path in raw.iterdir())
    if deeper:
        remedy = f"It is in {deeper.parent}: give that folder as {spelled('raw')}."
    else:
        remedy = (
            f"Get {dataset} from {DATASETS[dataset].where} and give the folder of its files as "
            f"{spelled('raw')}. In this folder: {', '.join(here[:8]) or 'nothing'}."
        )
    raise InputError(f"{raw}: no {' or '.join(names)} there. {remedy}")


def holds_parquet(raw: Path) -> bool:
    """Whether the folder holds the three tables as Parquet files."""
    return all((raw / name).is_file() for name in PARQUET_FILES)


def read_parquet(
    raw: Path,
    table: str,
    columns: ColumnTypes,
    may_be_null: Collection[str] = (),
    where_there: ColumnTypes | None = None,
) -> RawTable:
    """The named columns of one of the three tables, in the types asked for.

    Parameters
    ----------
    where_there : more columns, of a table that has them; they may be null
    """
    path = raw / f"{table}.parquet"
    try:
        with path.open("rb") as stream:
            checked = CheckedParquet(stream, plain(path.name), "Get the file again.")
            checked.check_pages(stream, columns)
        frame = pl.read_parquet(path, glob=False)
        missing = [column for column in columns if column not in frame.columns]
        if missing:
            raise InputError(
                f"{path.name}: no column '{missing[0]}'. Columns here: {', '.join(frame.columns)}."
            )
        more = {name: kind for name, kind in (where_there or {}).items() if name in frame.columns}
        wanted = {**columns, **more}
        typed = frame.select(pl.col(column).cast(kind) for column, kind in wanted.items())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        # a damaged file can make the reader panic
        reason = (str(error).strip() or repr(error)).splitlines()[0]
        raise InputError(
            f"{path.name}: cannot be read as {', '.join(columns)} ({reason}). Get the file again."
        ) from error
    rows = RawTable(typed.lazy().with_row_index("line", offset=1), path.name, unit="row")
    for column in columns:
        if column not in may_be_null:
            rows.refuse(pl.col(column).is_null(), column, "is missing")
    return rows
