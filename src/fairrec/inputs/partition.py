"""The tables of an audit -> parts of whole users, without ever holding more than a part."""

from __future__ import annotations

import errno
import math
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, IntArray
from fairrec.core.atomic_io import errors_of_scratch
from fairrec.core.audit_options import most_memory, refuse_larger
from fairrec.core.errors import InputError, listed
from fairrec.core.options import spell
from fairrec.core.progress import Progress
from fairrec.inputs.audit_inputs import open_tables
from fairrec.inputs.binning import parse_binning
from fairrec.inputs.formats import COMPRESSED, RowSlice, list_files, scan_stored
from fairrec.inputs.ids import ids_as_integers_or_text
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.inputs.users import (
    MISSING,
    CodedAttribute,
    UsersSlice,
    attribute_specs,
    encode_attributes,
    read_ids,
    refuse_users_twice,
)

ROWS = 1 << 21
"""Rows of a part, about."""
_BATCH = 1 << 22
"""User ids that are read at a time."""
_AT_ONCE = 1 << 20
"""Codes that are looked up together, which takes some times their size."""
_BUFFERED, _FEWEST, _MOST = 1 << 24, 1 << 12, 1 << 17
"""Rows in memory while all parts are written, and those of a row group."""
_SAMPLE = 10_000
_FEW = 10
"""A covariate with more numbers than these is compared in fifths, if nothing is said."""
_PART = "__part__"
_FULL = (errno.EFBIG, errno.ENOSPC, errno.EDQUOT)


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
    """

    parts: tuple[Part, ...]
    attributes: tuple[CodedAttribute, ...]
    n_rows: int

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
    """The parts of these tables; their scratch files are gone when it is left, however it is left.

    Predictions (or values) whose rows stand together user by user are cut where they are, and read
    there; the rows of all other tables are distributed to the parts of their users.

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
            parts = _Partition(opened, given, n_rows, home, progress).parts()
        yield parts


def code_ids(ids: pl.Series) -> pl.Series:
    """A number for each id.

    Ids that some table may take for the same have the same code: 7, 7.0, '7' and '7.0'. Different
    ids may share one as well, so a code only says who may be whom.

    >>> code_ids(pl.Series([7.0, -3.0])).to_list(), code_ids(pl.Series(["7.0", "-3"])).to_list()
    ([7, -3], [7, -3])
    """
    if ids.dtype.is_integer() or ids.dtype.is_float():
        whole = ids.cast(pl.Int64, strict=False)
        if not whole.null_count():
            return whole
    text = ids.cast(pl.String).str.replace(r"(\.0+|,0)$", "")
    whole = text.cast(pl.Int64, strict=False)
    return whole.fill_null(text.hash().reinterpret(signed=True)) if whole.null_count() else whole


def find_borders(
    rows: pl.LazyFrame, column: str, n_rows: int
) -> tuple[pl.DataFrame, list[int]] | None:
    """The rising codes of users with their parts, and the first row of each part.

    Only the user ids are read, and parts end where a user does. None where rows are scattered.
    """
    found, firsts = pl.DataFrame(), dict[int, int]()
    n_looked_at, n_all = 0, _n_rows(rows)
    for start in range(0, n_all, _BATCH):
        ids = rows.select(column).slice(start, _BATCH).collect()[column]
        is_head = ids.ne_missing(ids.shift(1))
        is_head[0] = True
        code, row = code_ids(ids.filter(is_head)), is_head.arg_true().cast(pl.Int64) + start
        some = pl.DataFrame({"code": code, "part": (row // n_rows).cast(pl.Int32), "row": row})
        if start:
            # the last user may go on
            some = some[int(some["code"][0] == found["code"][-1]) :]
        for _, part, row_of_part in some.unique("part", keep="first", maintain_order=True).rows():
            firsts.setdefault(part, row_of_part)
        found = found.vstack(some.drop("row"))
        if len(found) > 2 * n_looked_at or start + _BATCH >= n_all:
            n_looked_at = len(found)
            codes = np.sort(found["code"].to_numpy())
            if (codes[1:] == codes[:-1]).any():
                return None
    is_first = pl.col("part").ne_missing(pl.col("part").shift(1))
    parts = found.with_columns(part=(is_first.cum_sum() - 1).cast(pl.Int32))
    return parts.sort("code"), [*firsts.values()]


def _find_codes(ordered: IntArray, codes: IntArray) -> IntArray:
    """(n_codes,), the place of each code among rising ones, -1 where it is not."""
    found = np.full(len(codes), -1, dtype=np.int64)
    for start in range(0, len(codes) if len(ordered) else 0, _AT_ONCE):
        some = codes[start : start + _AT_ONCE]
        # looked up in their order, neighbours are found in the same place of memory
        order = np.argsort(some)
        at = np.empty(len(some), dtype=np.int64)
        at[order] = np.searchsorted(ordered, some[order])
        at[at == len(ordered)] = 0
        found[start : start + _AT_ONCE] = np.where(ordered[at] == some, at, -1)
    return found


class _Partition:
    """The steps from tables to parts, in their order."""

    def __init__(
        self,
        opened: Mapping[str, Table],
        given: TableOptions,
        n_rows: int,
        home: Path,
        progress: Progress,
    ) -> None:
        self._opened, self._home, self._progress = opened, home, progress
        self._given = given
        self._asked = (*given.by, *_columns_given(given, opened["users"]))
        # what is wrong with the names is told before hours of reading
        attribute_specs(opened["users"], given.by)
        self._main = opened["values" if "values" in opened else "predictions"]
        self._n_rows = n_rows

    def parts(self) -> Parts:
        main, given, opened = self._main, self._given, self._opened
        users = opened["users"]
        self._progress(f"reading {users.where}", 0, 0)
        ids, keys = read_ids(users)
        refuse_users_twice(keys, users)
        codes = code_ids(keys)
        n_rows = count_rows(main)
        if not n_rows:
            raise InputError(f"{main.where}: the table is empty. It needs at least one row.")
        n_rows_a_part = max(1, self._n_rows // _items_a_row(main))
        self._n_parts = math.ceil(max(n_rows, len(codes)) / n_rows_a_part)
        self._progress(f"looking for users in {main.where}", 0, 0)
        with main.read_errors():
            self._borders = find_borders(_stored_rows(main), main.require("user_id"), n_rows_a_part)
        if self._borders is not None:
            self._n_parts = max(len(self._borders[1]), math.ceil(len(codes) / n_rows_a_part))

        is_audited = np.zeros(len(codes), dtype=bool)
        slices: dict[str, list[RowSlice]] = {}
        for name in (main.name, "test", "history"):
            if name in opened:
                slices[name], has_rows = self._distribute(opened[name], codes)
                if name == main.name or (name == "test" and given.missing_lists == "zero"):
                    is_audited |= has_rows
        if "test" in opened and given.metrics is None:
            longest = _longest_list(main)
            slices["predictions"] = [replace(one, longest=longest) for one in slices["predictions"]]
        if "history" in opened:
            counts = self._home / "item-counts.parquet"
            _item_counts(opened["history"]).write_parquet(counts)
            slices["history"] = [replace(one, item_counts=counts) for one in slices["history"]]

        self._progress(f"distributing {users.where}", 0, 0)
        columns, attributes = encode_attributes(users, self._asked, is_audited)
        for one in attributes:
            known = [value for value in one.everyone.values if value != MISSING]
            are_numbers = all(isinstance(value, int | float) for value in known)
            # these would be compared in fifths of the users
            is_given = one.asked in given.adjust_for and one.spec.binning is None
            if is_given and are_numbers and len(known) > _FEW:
                raise _bins_needed(one.spec.name)
        named = {"id": ids} if ids.dtype == keys.dtype else {"id": ids, "key": keys}
        columns |= {_PART: self._locate(codes)}
        slices["users"] = [
            UsersSlice(
                *(users.where, users.path or Path("users"), files),
                columns=tuple(users.columns),
                attributes=attributes,
            )
            for files in self._sink(pl.DataFrame({**named, **columns}).lazy(), "users")
        ]
        whole = {"predictions": None, "items": given.items}
        parts = tuple(
            Part(
                f"part {at + 1:,} of {self._n_parts:,} of {main.where}",
                _n_rows(slices[main.name][at].scan()),
                {**whole, **{name: some[at] for name, some in slices.items()}},
            )
            for at in range(self._n_parts)
        )
        return Parts(parts, attributes, n_rows)

    def _locate(self, codes: pl.Series) -> pl.Series:
        """The part of each user: by a hash, or where the rows are cut."""
        parts = (codes.hash() % self._n_parts).cast(pl.Int32)
        if self._borders is None:
            return parts
        users, _ = self._borders
        at = _find_codes(users["code"].to_numpy(), codes.to_numpy())
        cut = users["part"].gather(np.maximum(at, 0))
        return cut.zip_with(pl.Series(at >= 0), parts)

    def _distribute(self, table: Table, codes: pl.Series) -> tuple[list[RowSlice], BoolArray]:
        """The rows of a table by parts, and which users, by their codes, have some."""
        rows, column = _stored_rows(table), table.require("user_id")
        self._progress(f"distributing {table.where}", 0, 0)
        cut = self._borders if table is self._main else None
        if cut is not None and rows.collect_schema()[column] in (pl.Int64, pl.Int32, pl.UInt32):
            users, is_text = cut[0]["code"], False
        else:
            with table.read_errors():
                # missing ids are refused by the part that has them
                found = rows.select(column).drop_nulls().unique().collect(engine="streaming")
            ids = found[column].sort()
            is_text = ids_as_integers_or_text(ids, table.where).dtype != pl.Int64
            users = code_ids(ids).unique()
        has_rows = _find_codes(users.sort().to_numpy(), codes.to_numpy()) >= 0
        assert table.path is not None
        if cut is not None:
            # parts of users without rows have none
            _, firsts = cut
            ends = [*firsts, *[count_rows(table)] * (self._n_parts - len(firsts) + 1)]
            stored = list_files(table.path)
            bounds = np.cumsum([0, *(_n_rows(scan_stored(file)) for file in stored)])
            slices = []
            for start, stop in pairwise(ends):
                low = min(int(np.searchsorted(bounds, start, side="right")) - 1, len(stored) - 1)
                high = max(int(np.searchsorted(bounds, stop)), low + 1)
                between = int(start - bounds[low]), int(stop - bounds[low])
                slices.append(RowSlice(table.where, table.path, stored[low:high], between, is_text))
            return slices, has_rows
        part = pl.col(column).map_batches(
            lambda some: self._locate(code_ids(some)),
            return_dtype=pl.Int32(),
            is_elementwise=True,
        )
        try:
            files = self._sink(rows.with_columns(part.alias(_PART)), table.name)
        except BaseException as error:
            if any(f"os error {number})" in str(error) for number in _FULL):
                raise  # of the disk that is written to
            with table.read_errors():
                raise
        return [
            RowSlice(table.where, table.path, some, is_text=is_text) for some in files
        ], has_rows

    def _sink(self, rows: pl.LazyFrame, name: str) -> list[tuple[Path, ...]]:
        """Write rows in files of their parts, in their order."""
        folder, nothing = self._home / name, self._home / f"no-{name}.parquet"
        rows.drop(_PART).head(0).sink_parquet(nothing)
        rows.sink_parquet(
            pl.PartitionBy(folder, key=_PART, include_key=False),
            mkdir=True,
            compression="zstd",
            compression_level=1,
            statistics=False,
            row_group_size=int(np.clip(_BUFFERED // self._n_parts, _FEWEST, _MOST)),
        )
        return [
            tuple(sorted((folder / f"{_PART}={at}").glob("*.parquet"))) or (nothing,)
            for at in range(self._n_parts)
        ]


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


def _columns_given(given: TableOptions, users: Table) -> list[str]:
    """The covariates that are columns of users; of those counted, bins have to be said."""
    found = []
    for text in given.adjust_for:
        name, colon, bins = text.rpartition(":")
        if users.attribute_column(text) or users.attribute_column(name):
            found.append(text)
        elif not colon or parse_binning(bins, text).quantiles:
            raise _bins_needed(name or text)
    return found


def _bins_needed(name: str) -> InputError:
    return InputError(
        f"{spell('adjust_for', [name])}: tables that are read in parts need bins that do not "
        f"depend on all users. Give their width or edges: {spell('adjust_for', [f'{name}:10'])} or "
        f"{spell('adjust_for', [f'{name}:5|10|20'])}"
    )


def _longest_list(table: Table) -> int:
    """The length of the longest list of recommendations."""
    rows, item = _stored_rows(table), table.require("item_id")
    lists = _lists_in(rows)
    lengths = (
        rows.select(lists[item].max())
        if item in lists
        else rows.group_by(table.require("user_id")).len().select(pl.col("len").max())
    )
    with table.read_errors():
        return int(lengths.collect(engine="streaming").item() or 0)


def _items_a_row(table: Table) -> int:
    """How many items a row holds on average, by the first ones: more than one in lists."""
    rows = _stored_rows(table)
    lengths = [length.mean() for length in _lists_in(rows).values()]
    with table.read_errors():
        means = rows.head(_SAMPLE).select(lengths).collect().row(0) if lengths else ()
    return round(max(1, *(mean or 0 for mean in means), 1))


def _lists_in(rows: pl.LazyFrame) -> dict[str, pl.Expr]:
    """The lengths of the lists in each column that holds some."""
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
"""Rows from which a table is read in parts: whole, so many take about 2 GB."""
# bytes at the highest point of an audit, as `python -m benchmarks memory` measures them
ALWAYS = 250_000_000
PER_ROW = 80
PER_VALUE = 40
"""Of each attribute of a user beyond the first, which a row has room for."""
PER_BYTE_OF_LISTS, PER_BYTE_OF_TEXT, PER_BYTECOMPRESSED = 6, 4, 20


def refuse_large(tables: Mapping[str, Table], asked: int | None, n_attributes: int = 1) -> None:
    """Refuse files that cannot fit into memory.

    Parameters
    ----------
    tables : by what they are
    asked : the memory that may be used; None for half of what there is
    """
    needed = {table: estimate_bytes(table) for table in tables.values()}
    users = tables.get("users")
    if users is not None and users.stored is not None:
        needed[users] += PER_VALUE * max(0, n_attributes - 1) * count_rows(users)
    large = [table for table, room in needed.items() if room > max(needed.values()) / 2]
    many = "The rows" if len(large) == 1 else "Together the rows"
    refuse_larger(
        sum(needed.values()) + ALWAYS,
        asked,
        f"{many} of {listed([table.where for table in large])}, read at once,",
        "Save large tables as Parquet files, of which parts are read where they can be, name fewer "
        f"attributes in {spell('by')}, or audit fewer users",
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
    if given.against_lists is not None:
        # both lists of a user would have to be in one part
        return False
    beside = [one for one in (given.test, given.history) if one is not None]
    if not all(isinstance(one, str | Path) for one in (main, *beside)):
        return False
    if any(":" not in spec or ":q" in spec for spec in given.adjust_for):
        return False
    tables = [Table(one, "predictions") for one in (main, *beside)]
    is_stored = all(table.stored is not None for table in tables)
    return is_stored and count_rows(tables[0]) >= rows


def most_rows(asked: int | None) -> int:
    """Rows of a Parquet table that may be read at once; more are read in parts if they can be."""
    return min(LARGE, (most_memory(asked) - ALWAYS) // PER_ROW)


def estimate_bytes(table: Table) -> float:
    """Bytes that it will take; none for a table that is in memory already."""
    if table.path is None or table.row_slice is not None:
        return 0.0
    sizes = {file: file.stat().st_size for file in list_files(table.path)}
    if table.stored is not None:
        kinds = table.stored.collect_schema().dtypes()
        has_lists = any(isinstance(kind, pl.List | pl.Array) for kind in kinds)
        of_lists = PER_BYTE_OF_LISTS * sum(sizes.values()) if has_lists else 0
        return float(PER_ROW * count_rows(table) + of_lists)
    return float(
        sum(
            size * (PER_BYTECOMPRESSED if file.suffix.lower() in COMPRESSED else PER_BYTE_OF_TEXT)
            for file, size in sizes.items()
        )
    )
