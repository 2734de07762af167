"""The tables of an audit -> parts of whole users, without ever holding more than a part."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray
from fairrec.core.atomic_io import errors_of_scratch
from fairrec.core.audit_options import most_memory, refuse_larger
from fairrec.core.errors import InputError, listed
from fairrec.core.options import spell
from fairrec.core.progress import Progress
from fairrec.inputs.audit_inputs import open_tables
from fairrec.inputs.binning import parse_binning
from fairrec.inputs.formats import COMPRESSED, RowSlice, list_files
from fairrec.inputs.ids import find_positions, ids_as_integers_or_text
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.inputs.users import (
    MISSING,
    CodedAttribute,
    UsersSlice,
    encode_attributes,
    read_users,
)

ROWS = 1 << 21
"""Rows of a part, about."""
_BUFFERED, _FEWEST, _MOST = 1 << 24, 1 << 12, 1 << 17
"""Rows in memory while all parts are written, and those of a row group."""
_SAMPLE = 10_000
_FEW = 10
"""A covariate with more numbers than these is compared in fifths by default."""
_PART = "__part__"


@dataclass(frozen=True, slots=True)
class Part:
    """Some users with all their rows: a description that any process can open by itself.

    Parameters
    ----------
    name : for messages
    n_rows : of predictions or values
    tables : what to give `read_inputs`: slices of those that are cut, others as a whole
    """

    name: str
    n_rows: int
    tables: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Parts:
    """All parts, in an order that the tables and the size of parts determine.

    Parameters
    ----------
    parts : whose scratch files are there as long as the tables are open
    attributes : what the codes of attributes mean, which is the same in all parts
    n_rows : of predictions or values
    notes : about how the users table was read
    """

    parts: tuple[Part, ...]
    attributes: tuple[CodedAttribute, ...]
    n_rows: int
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)


@contextmanager
def open_parts(
    predictions: Any = None,
    given: TableOptions | None = None,
    *,
    n_rows: int = ROWS,
    folder: Path | None = None,
    progress: Progress = lambda stage, done, total: None,
    **tables: Any,
) -> Iterator[Parts]:
    """The parts of these tables; their scratch files are removed on leaving, also by an error.

    The rows of each table are distributed to the parts of their users, by a hash of the user id.

    Parameters
    ----------
    given : the other tables and what is made of them, or by name in `tables`
    n_rows : of predictions or values in a part, about
    folder : where scratch files are written; by default the system's folder for such files
    tables : as in TableOptions
    """
    given = TableOptions(**tables) if given is None else given
    opened = open_tables(predictions, given)
    place = Path(gettempdir()) if folder is None else folder
    with ExitStack() as until_the_end:
        with errors_of_scratch(place):
            home = Path(until_the_end.enter_context(TemporaryDirectory(dir=place)))
            parts = _partition(opened, given, n_rows, home, progress)
        yield parts


def _partition(
    opened: Mapping[str, Table],
    given: TableOptions,
    n_rows_a_part: int,
    home: Path,
    progress: Progress,
) -> Parts:
    """Write the rows of each part to files, and describe the parts."""
    users, main = opened["users"], opened["values" if "values" in opened else "predictions"]
    entries = (*given.by, *_covariate_columns(given, users))
    progress(f"reading {users.where}", 0, 0)
    everyone = read_users(users, given.by)
    ids, keys = everyone.ids, everyone.keys
    del everyone
    n_rows = count_rows(main)
    if not n_rows:
        raise InputError(f"{main.where}: the table is empty. It needs at least one row.")
    n_rows_a_part = max(1, n_rows_a_part // _items_a_row(main))
    n_parts = math.ceil(max(n_rows, len(keys)) / n_rows_a_part)

    is_audited = np.zeros(len(keys), dtype=bool)
    slices: dict[str, list[RowSlice]] = {}
    for name in (main.name, "test", "history"):
        if name not in opened:
            continue
        table = opened[name]
        assert table.path is not None
        progress(f"distributing {table.where}", 0, 0)
        has_rows, is_text = _find_users(table, keys)
        if name == main.name or (name == "test" and given.missing_lists == "zero"):
            is_audited |= has_rows
        parts = _sink(_stored_rows(table), table.require("user_id"), n_parts, home / name)
        slices[name] = [RowSlice(table.where, table.path, files, is_text) for files in parts]
    if "history" in opened:
        counts = home / "item-counts.parquet"
        _item_counts(opened["history"]).write_parquet(counts)
        slices["history"] = [replace(one, item_counts=counts) for one in slices["history"]]

    progress(f"distributing {users.where}", 0, 0)
    columns, attributes = encode_attributes(users, entries, is_audited)
    _refuse_unbinned(attributes, given)
    rows = pl.DataFrame({"id": ids, "key": keys, **columns}).lazy()
    slices["users"] = [
        UsersSlice(
            *(users.where, users.path or Path("users"), files),
            columns=tuple(users.columns),
            attributes=attributes,
        )
        for files in _sink(rows, "key", n_parts, home / "users")
    ]
    whole = {"predictions": None, "items": given.items}
    return Parts(
        tuple(
            Part(
                f"part {at + 1:,} of {n_parts:,} of {main.where}",
                _n_rows(slices[main.name][at].scan()),
                {**whole, **{name: some[at] for name, some in slices.items()}},
            )
            for at in range(n_parts)
        ),
        attributes,
        n_rows,
        users.notes,
    )


def code_ids(column: str, kind: pl.DataType) -> pl.Expr:
    """A number for each id of a column of this type.

    Ids that some table may take for the same have the same code: 7, 7.0, '7' and '7.0'.

    >>> text = pl.DataFrame({"user_id": ["7.0", "-3"]})
    >>> text.select(code_ids("user_id", pl.String()))["user_id"].to_list()
    [7, -3]
    """
    ids = pl.col(column)
    if kind.is_integer() and kind != pl.UInt64:
        return ids.cast(pl.Int64)
    text = ids.cast(pl.String).str.replace(r"(\.0+|,0)$", "")
    whole = (ids if kind.is_numeric() else text).cast(pl.Int64, strict=False)
    return whole.fill_null(text.hash().reinterpret(signed=True))


def _find_users(table: Table, keys: pl.Series) -> tuple[BoolArray, bool]:
    """Which of the users have rows, and whether user ids are text in this table."""
    column = table.require("user_id")
    with table.read_errors():
        # missing ids are refused by the part that has them
        found = _stored_rows(table).select(column).drop_nulls().unique()
        ids = ids_as_integers_or_text(found.collect(engine="streaming")[column], table.where)
    return find_positions(keys, ids) >= 0, ids.dtype != pl.Int64


def _sink(rows: pl.LazyFrame, column: str, n_parts: int, folder: Path) -> list[tuple[Path, ...]]:
    """Write rows in files of the parts of their users, in their order."""
    nothing = folder.with_name(f"no-{folder.name}.parquet")
    rows.head(0).sink_parquet(nothing)
    code = code_ids(column, rows.collect_schema()[column])
    rows.with_columns((code.hash() % n_parts).fill_null(0).alias(_PART)).sink_parquet(
        pl.PartitionBy(folder, key=_PART, include_key=False),
        mkdir=True,
        compression="zstd",
        compression_level=1,
        statistics=False,
        row_group_size=int(np.clip(_BUFFERED // n_parts, _FEWEST, _MOST)),
    )
    return [
        tuple(sorted((folder / f"{_PART}={at}").glob("*.parquet"))) or (nothing,)
        for at in range(n_parts)
    ]


def _covariate_columns(given: TableOptions, users: Table) -> list[str]:
    """The covariates that are columns of users; others, which are counted, need their bins."""
    found = []
    for text in given.adjust_for:
        name, colon, bins = text.rpartition(":")
        if users.attribute_column(text) or users.attribute_column(name):
            found.append(text)
        elif not colon or parse_binning(bins, text).quantiles:
            raise _bins_needed(name or text)
    return found


def _refuse_unbinned(attributes: tuple[CodedAttribute, ...], given: TableOptions) -> None:
    """An error for a covariate of many numbers, which would be compared in fifths of the users."""
    for one in attributes:
        known = [value for value in one.everyone.values if value != MISSING]
        are_numbers = all(isinstance(value, int | float) for value in known)
        is_unbinned = one.entry in given.adjust_for and one.spec.binning is None
        if is_unbinned and are_numbers and len(known) > _FEW:
            raise _bins_needed(one.spec.name)


def _bins_needed(name: str) -> InputError:
    return InputError(
        f"{spell('adjust_for', [name])}: tables that are read in parts need bins that do not "
        f"depend on all users. Give their width or edges: {spell('adjust_for', [f'{name}:10'])} or "
        f"{spell('adjust_for', [f'{name}:5|10|20'])}"
    )


def _stored_rows(table: Table) -> pl.LazyFrame:
    if table.stored is None:
        raise InputError(
            f"{table.where}: is not in Parquet files, and only these are read in parts. Save "
            "it as Parquet."
        )
    return table.stored


def count_rows(table: Table) -> int:
    """The rows of a table in Parquet files, which are not read for it."""
    rows = _stored_rows(table)
    with table.read_errors():
        return _n_rows(rows)


def _n_rows(rows: pl.LazyFrame) -> int:
    return int(rows.select(pl.len()).collect().item())


def _items_a_row(table: Table) -> int:
    """The mean number of items in a row, by the first ones: more than one in lists."""
    rows = _stored_rows(table)
    means = [lengths.mean() for lengths in _list_lengths(rows).values()]
    with table.read_errors():
        found = rows.head(_SAMPLE).select(means).collect().row(0) if means else ()
    return round(max(1, *(mean or 0 for mean in found), 1))


def _list_lengths(rows: pl.LazyFrame) -> dict[str, pl.Expr]:
    """The lengths of the lists in each column that holds lists."""
    kinds = rows.collect_schema()
    lists = {name: pl.col(name).list.len() for name, one in kinds.items() if one == pl.List}
    arrays = {name: pl.col(name).arr.len() for name, one in kinds.items() if one == pl.Array}
    return lists | arrays


def _item_counts(table: Table) -> pl.DataFrame:
    """The items of a table, as they are compared, and the rows of each."""
    column = table.require("item_id")
    with table.read_errors():
        counted = _stored_rows(table).group_by(column).len("n").collect(engine="streaming")
    counted = counted.drop_nulls()  # refused by the part that has it
    keys = ids_as_integers_or_text(counted[column], table.where)
    return counted.select(keys.alias("item_id"), "n").group_by("item_id").sum().sort("item_id")


LARGE = 20_000_000
"""Rows from which a table is read in parts: whole, these take about 2 GB."""
# bytes at the highest point of an audit, as `python -m benchmarks memory` measures them
ALWAYS = 250_000_000
PER_ROW = 80
PER_BYTE_OF_LISTS, PER_BYTE_OF_TEXT, PER_BYTE_COMPRESSED = 6, 4, 20


def refuse_large(tables: Mapping[str, Table], most: int | None) -> None:
    """Refuse files that cannot fit into memory.

    Parameters
    ----------
    tables : by what they are
    most : the memory that may be used; None for half of what there is
    """
    needed = {table: estimate_bytes(table) for table in tables.values()}
    large = [table.where for table, n in needed.items() if n > max(needed.values()) / 2]
    refuse_larger(
        sum(needed.values()) + ALWAYS,
        most,
        f"The rows of {listed(large)}, read at once,",
        "Save large tables as Parquet files, of which parts are read where they can be, or audit "
        "fewer users",
    )


def is_large(predictions: Any, given: TableOptions, rows: int = LARGE) -> bool:
    """Whether tables are to be read in parts: they have many rows, and can be.

    Parts need Parquet files, and covariates in bins that do not depend on all users; other
    tables are read whole, however large they are.

    Parameters
    ----------
    given : of values where there are no predictions
    """
    main = predictions if predictions is not None else given.values
    # both lists of a user would have to be in one part
    can_be = given.against_lists is None
    can_be &= not any(":" not in spec or ":q" in spec for spec in given.adjust_for)
    sources = [main, *(one for one in (given.test, given.history) if one is not None)]
    if not (can_be and all(isinstance(one, str | Path) for one in sources)):
        return False
    tables = [Table(one, "predictions") for one in sources]
    return all(one.stored is not None for one in tables) and count_rows(tables[0]) >= rows


def most_rows(most: int | None) -> int:
    """Rows of a Parquet table that may be read at once; more are read in parts if they can be."""
    return min(LARGE, (most_memory(most) - ALWAYS) // PER_ROW)


def estimate_bytes(table: Table) -> float:
    """Bytes that it will take; none for a table that is in memory already."""
    if table.path is None or table.row_slice is not None:
        return 0.0
    sizes = {file: file.stat().st_size for file in list_files(table.path)}
    if table.stored is not None:
        has_lists = bool(_list_lengths(table.stored))
        of_lists = PER_BYTE_OF_LISTS * sum(sizes.values()) if has_lists else 0
        return float(PER_ROW * count_rows(table) + of_lists)
    return float(
        sum(
            size * (PER_BYTE_COMPRESSED if file.suffix.lower() in COMPRESSED else PER_BYTE_OF_TEXT)
            for file, size in sizes.items()
        )
    )
