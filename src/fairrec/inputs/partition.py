"""The tables of an audit -> parts of whole users, without ever holding more than a part."""

from __future__ import annotations

import errno
import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, IntArray
from fairrec.core.atomic_io import errors_of_scratch, scratch
from fairrec.core.errors import InputError, plain
from fairrec.core.options import spell
from fairrec.core.progress import Progress
from fairrec.inputs.audit_inputs import open_tables
from fairrec.inputs.binning import parse_binning
from fairrec.inputs.formats import (
    FileRows,
    RowSlice,
    detect_format,
    file_rows,
    list_files,
    scan_rows,
)
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
_BATCH, _FIRST_LOOK = 1 << 22, 1 << 20
"""User ids that are read at a time, and users after whom one is looked for who comes back."""
_BUFFERED, _FEWEST, _MOST = 1 << 24, 1 << 12, 1 << 17
"""Rows in memory while all parts are written, and those of a row group."""
_AT_ONCE = 1 << 20
"""Codes that are looked up together, which takes some times their size."""
_SAMPLE = 10_000
_ENOUGH = 10
"""Metrics that are taken by default look no deeper."""
_FEW = 10
"""A circumstance with more numbers than these is compared in fifths, if nothing is said."""
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


@dataclass(frozen=True, slots=True)
class Stored:
    """A table in Parquet files, whose rows are counted and not read.

    Parameters
    ----------
    files : all rows of each file, in the order of the table
    bounds : (n_files + 1,), the rows before each file
    """

    table: Table
    files: tuple[FileRows, ...]
    bounds: IntArray

    @classmethod
    def open(cls, table: Table) -> Stored:
        """The rows of a table in Parquet files; an error for another one."""
        if not is_stored(table):
            raise InputError(
                f"{table.where}: is not in Parquet files, and only these are read in parts. Save "
                "it as Parquet."
            )
        assert table.path is not None
        with table.read_errors():
            files = file_rows(table.path)
            lengths = [_n_rows(one.scan()) for one in files]
        if not sum(lengths):
            raise InputError(f"{table.where}: the table is empty. It needs at least one row.")
        files = tuple(replace(one, stop=n) for one, n in zip(files, lengths, strict=True))
        return cls(table, files, np.cumsum([0, *lengths]))

    @property
    def n_rows(self) -> int:
        """The rows of all files."""
        return int(self.bounds[-1])

    def rows(self, start: int, stop: int) -> tuple[FileRows, ...]:
        """The rows from `start` up to `stop`, wherever they are."""
        found = []
        for file, (before, after) in zip(self.files, pairwise(self.bounds), strict=True):
            low, high = max(start, before), min(stop, after)
            if low < high:
                found.append(replace(file, start=int(low - before), stop=int(high - before)))
        return tuple(found)

    def slice(
        self, rows: tuple[FileRows, ...], is_text: bool, first_row: int | None = None
    ) -> RowSlice:
        """Some rows, or none, as a table of their own."""
        assert self.table.path is not None
        nothing = (replace(self.files[0], stop=0),)
        return RowSlice(self.table.where, self.table.path, rows or nothing, first_row, is_text)

    def read(self, start: int, stop: int, column: str) -> pl.Series:
        """Some rows of a column."""
        with self.table.read_errors():
            return scan_rows(self.rows(start, stop)).select(column).collect()[column]


def is_stored(table: Table) -> bool:
    """Whether a table is in Parquet files."""
    return table.path is not None and all(
        detect_format(file) == "Parquet" for file in list_files(table.path)
    )


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
    there. Scattered ones are distributed to parts by a hash of their users first. Users, held-out
    interactions and histories are distributed to the parts of their users.

    Parameters
    ----------
    given : the other tables and what is made of them, or by name in `tables`
    n_rows : of predictions or values in a part, about
    folder : where scratch files are written; by default the system's folder for such files
    tables : as in TableOptions
    """
    given = TableOptions(**tables) if given is None else given
    opened = open_tables(predictions, given)
    place = Path(tempfile.gettempdir()) if folder is None else folder
    with ExitStack() as until_the_end:
        with errors_of_scratch(place):
            home = until_the_end.enter_context(scratch(place))
            parts = _Partition(opened, given, n_rows, home, progress).parts()
        yield parts


@dataclass(frozen=True, slots=True)
class Borders:
    """Where the users of a table begin.

    Parameters
    ----------
    codes : (n_users,), in the order of their rows; None where the rows of users are scattered
    rows, users : (n_parts + 1,), the row and the user with which each part begins, and the ends
    is_text : whether ids are text, as they are compared
    """

    codes: IntArray | None
    rows: IntArray
    users: IntArray
    is_text: bool


def find_borders(stored: Stored, column: str, n_rows: int, progress: Progress) -> Borders:
    """Parts of at least `n_rows` rows that end where a user does.

    Only the user ids are read, and those that cannot be ids are refused as in a whole table. A code
    for each user is kept (8 bytes) as long as no user comes back.
    """
    found: list[IntArray] | None = []
    rows, users = [0], [0]
    n_users, looked_at, is_text = 0, _FIRST_LOOK, False
    for start in range(0, stored.n_rows, _BATCH):
        progress(f"looking for users in {stored.table.where}", start, stored.n_rows)
        ids = stored.read(start, start + _BATCH, column)
        if ids.null_count():
            with stored.table.read_errors():
                nulls = scan_rows(stored.files).select(pl.col(column).null_count())
                n_nulls = int(nulls.collect().item())
            row = stored.table.place(start + int(ids.is_null().arg_true()[0]))
            raise InputError(
                f"{row}: column '{plain(column)}' is empty ({n_nulls:,} such rows). Fill it in or "
                "drop those rows."
            )
        starts = ids.ne_missing(ids.shift(1)).arg_true()
        heads = ids.gather(starts)
        is_text |= ids_as_integers_or_text(heads, stored.table.where).dtype != pl.Int64
        if found is None:
            continue
        codes, places = code_ids(heads).to_numpy(), starts.to_numpy() + start
        is_same = int(bool(found) and codes[0] == found[-1][-1])
        codes, places = codes[is_same:], places[is_same:]
        while (at := int(np.searchsorted(places, rows[-1] + n_rows))) < len(places):
            rows.append(int(places[at]))
            users.append(n_users + at)
        n_users += len(codes)
        found += [codes] if len(codes) else []
        if n_users > looked_at or start + _BATCH >= stored.n_rows:
            found, looked_at = [np.concatenate(found)], 2 * n_users
            if (np.diff(np.sort(found[0])) == 0).any():
                found = None
    ends = np.array([*rows, stored.n_rows]), np.array([*users, n_users])
    return Borders(found[0] if found else None, *ends, is_text)


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


def _places(ordered: IntArray, codes: IntArray) -> IntArray:
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


class Places:
    """Which part holds a user: fixed by the tables and the size of parts alone.

    Users whose rows are cut where they are stay there; all others are spread by their codes.
    """

    def __init__(self, borders: Borders, n_users: int, n_rows: int) -> None:
        self.n_parts = math.ceil(max(int(borders.rows[-1]), n_users) / n_rows)
        self._cut: IntArray | None = None
        if borders.codes is not None:
            n_cut = len(borders.rows) - 1
            self.n_parts = max(n_cut, math.ceil(n_users / n_rows))
            order = np.argsort(borders.codes, kind="stable")
            self._cut = borders.codes[order]
            of_user = np.repeat(np.arange(n_cut, dtype=np.int32), np.diff(borders.users))
            self._part_of_cut = of_user[order]

    def locate(self, codes: pl.Series) -> tuple[IntArray, BoolArray]:
        """The part of each code, and whether rows of it were cut."""
        parts = (codes.hash() % self.n_parts).cast(pl.Int32).to_numpy()
        if self._cut is None:
            return parts, np.zeros(len(codes), dtype=bool)
        at = _places(self._cut, codes.to_numpy())
        return np.where(at >= 0, self._part_of_cut[at], parts), at >= 0

    def parts(self, ids: pl.Series, known: IntArray | None = None) -> pl.Series:
        """The part of each id.

        Parameters
        ----------
        known : rising codes of users beside whom all are in no part, -1; None for no such limit
        """
        codes = code_ids(ids)
        parts, _ = self.locate(codes)
        if known is not None:
            parts = np.where(_places(known, codes.to_numpy()) >= 0, parts, np.int32(-1))
        return pl.Series(parts)


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
        self._main = Stored.open(opened["values" if "values" in opened else "predictions"])
        self._n_rows = max(1, n_rows // _items_a_row(self._main))

    def parts(self) -> Parts:
        main, given, opened = self._main, self._given, self._opened
        borders = find_borders(main, main.table.require("user_id"), self._n_rows, self._progress)
        users = opened["users"]
        self._progress(f"reading {users.where}", 0, 0)
        ids, keys = read_ids(users)
        refuse_users_twice(keys, users)
        codes = code_ids(keys)
        self._places = Places(borders, len(codes), self._n_rows)
        part_of_user, is_audited = self._places.locate(codes)
        audited = [main] if borders.codes is None else []
        slices: dict[str, Sequence[RowSlice]] = {main.table.name: self._main_slices(borders)}
        if "test" in opened:
            test = Stored.open(opened["test"])
            if given.metrics is None:
                longest = _longest_list(slices["predictions"], given.columns or {})
                slices["predictions"] = [
                    replace(one, longest=longest) for one in slices["predictions"]
                ]
            if given.missing_lists == "zero":
                audited.append(test)
            slices["test"] = self._distribute(test)
        if "history" in opened:
            slices["history"] = self._history(codes.sort().to_numpy())
        del borders
        for stored in audited:
            is_audited |= _places(self._codes_in(stored), codes.to_numpy()) >= 0
        self._progress(f"distributing {users.where}", 0, 0)
        columns, attributes = encode_attributes(users, self._asked, is_audited)
        _refuse_many_numbers(one for one in attributes if one.asked in {*given.adjust_for})
        named = {"id": ids} if ids.dtype == keys.dtype else {"id": ids, "key": keys}
        columns |= {_PART: pl.Series(part_of_user)}
        of_users = self._sink(pl.DataFrame({**named, **columns}).lazy(), "users")
        nobody = (replace(next(filter(None, of_users))[0], stop=0),)
        slices["users"] = [
            UsersSlice(
                *(users.where, users.path or Path("users"), rows or nobody),
                columns=tuple(users.columns),
                attributes=attributes,
            )
            for rows in of_users
        ]
        n_parts = self._places.n_parts
        whole = {"predictions": None, "items": given.items}
        parts = tuple(
            Part(
                f"part {at + 1:,} of {n_parts:,} of {main.table.where}",
                _n_rows(scan_rows(slices[main.table.name][at].rows)),
                {**whole, **{name: some[at] for name, some in slices.items()}},
            )
            for at in range(n_parts)
        )
        return Parts(parts, attributes, main.n_rows)

    def _main_slices(self, borders: Borders) -> list[RowSlice]:
        """Cut where they are, or distributed; parts of users without rows have none."""
        main = self._main
        if borders.codes is None:
            return self._distribute(main, borders.is_text)
        # a row that holds records of items becomes several, so that its number says nothing
        is_numbered = {*main.table.columns} == {*scan_rows(main.files).collect_schema()}
        bounds = [*borders.rows.tolist()]
        bounds += bounds[-1:] * (self._places.n_parts + 1 - len(bounds))
        return [
            main.slice(main.rows(*ends), borders.is_text, ends[0] if is_numbered else None)
            for ends in pairwise(bounds)
        ]

    def _codes_in(self, stored: Stored) -> IntArray:
        """The codes of the users who have a row, rising."""
        ids = pl.col(stored.table.require("user_id"))
        code = ids.map_batches(code_ids, return_dtype=pl.Int64(), is_elementwise=True)
        with stored.table.read_errors():
            rows = scan_rows(stored.files).select(code).unique()
            return rows.collect(engine="streaming").to_series().sort().to_numpy()

    def _history(self, known: IntArray) -> list[RowSlice]:
        """The histories of known users, and how often each item was interacted with by anybody."""
        stored = Stored.open(self._opened["history"])
        counts = self._home / "item-counts.parquet"
        self._progress(f"counting items in {stored.table.where}", 0, 0)
        _item_counts(stored).write_parquet(counts)
        slices = self._distribute(stored, known=known)
        return [replace(one, item_counts=counts) for one in slices]

    def _distribute(
        self, stored: Stored, is_text: bool | None = None, known: IntArray | None = None
    ) -> list[RowSlice]:
        """The rows of a table, in files of the parts of their users.

        Parameters
        ----------
        is_text : None where ids have not been looked at yet
        known : see `Places.parts`
        """
        table = stored.table
        column = table.require("user_id")
        if is_text is None:
            is_text = find_borders(stored, column, stored.n_rows, self._progress).is_text
        self._progress(f"distributing {table.where}", 0, 0)
        part = pl.col(column).map_batches(
            partial(self._places.parts, known=known), return_dtype=pl.Int32(), is_elementwise=True
        )
        rows = scan_rows(stored.files).with_columns(part.alias(_PART)).filter(pl.col(_PART) >= 0)
        try:
            found = self._sink(rows, table.name)
        except BaseException as error:
            if any(f"os error {number})" in str(error) for number in _FULL):
                raise  # of the disk that is written to
            with table.read_errors():
                raise
        return [stored.slice(some, is_text) for some in found]

    def _sink(self, rows: pl.LazyFrame, name: str) -> list[tuple[FileRows, ...]]:
        """Write rows in files of their parts, in their order."""
        n_parts, folder = self._places.n_parts, self._home / name
        rows.sink_parquet(
            pl.PartitionBy(folder, key=_PART, include_key=False),
            mkdir=True,
            compression="zstd",
            compression_level=1,
            statistics=False,
            row_group_size=int(np.clip(_BUFFERED // n_parts, _FEWEST, _MOST)),
        )
        return [
            tuple(map(FileRows, sorted((folder / f"{_PART}={at}").glob("*.parquet"))))
            for at in range(n_parts)
        ]


def _n_rows(rows: pl.LazyFrame) -> int:
    return int(rows.select(pl.len()).collect().item())


def _columns_given(given: TableOptions, users: Table) -> list[str]:
    """The circumstances that are columns of users; of those counted, bins have to be said."""
    found = []
    for text in given.adjust_for:
        name, colon, bins = text.rpartition(":")
        if users.attribute_column(text) or users.attribute_column(name):
            found.append(text)
        elif not colon or parse_binning(bins, text).quantiles:
            raise _bins_needed(name or text)
    return found


def _refuse_many_numbers(attributes: Iterable[CodedAttribute]) -> None:
    """Refuse circumstances that would be compared in fifths of the users."""
    for one in attributes:
        known = [value for value in one.everyone.values if value != MISSING]
        are_numbers = all(isinstance(value, int | float) for value in known)
        if one.spec.binning is None and are_numbers and len(known) > _FEW:
            raise _bins_needed(one.spec.name)


def _bins_needed(name: str) -> InputError:
    return InputError(
        f"{spell('adjust_for', [name])}: tables that are read in parts need bins that do not "
        f"depend on all users. Give their width or edges: {spell('adjust_for', [f'{name}:10'])} or "
        f"{spell('adjust_for', [f'{name}:5|10|20'])}"
    )


def _longest_list(slices: Iterable[RowSlice], columns: Mapping[str, str]) -> int:
    """The length of the longest list of recommendations; all from `_ENOUGH` on are the same."""
    longest = 0
    for one in slices:
        table = Table(one, "predictions", columns)
        frame = table.read({name: table.require(name) for name in ("user_id", "item_id")})
        items = frame["item_id"]
        if isinstance(items.dtype, pl.List | pl.Array):
            lengths = items.cast(pl.List(items.dtype.inner)).list.len()
        else:
            lengths = frame.group_by("user_id").len()["len"]
        longest = max(longest, int(lengths.drop_nulls().to_numpy().max(initial=0)))
        if longest >= _ENOUGH:
            break
    return longest


def _item_counts(stored: Stored) -> pl.DataFrame:
    """The items of a table, as they are compared, and the rows of each."""
    column = stored.table.require("item_id")
    with stored.table.read_errors():
        counted = scan_rows(stored.files).group_by(column).len("n").collect(engine="streaming")
    counted = counted.drop_nulls()  # refused with its row by the part that has it
    keys = ids_as_integers_or_text(counted[column], stored.table.where)
    return counted.select(keys.alias("item_id"), "n").group_by("item_id").sum().sort("item_id")


def _items_a_row(stored: Stored) -> int:
    """How many items a row holds on average, by the first ones: more than one in lists."""
    with stored.table.read_errors():
        frame = scan_rows(stored.files[:1]).head(_SAMPLE).collect()
    n_items = [1.0]
    for column in frame:
        if isinstance(column.dtype, pl.List | pl.Array):
            lists = column.cast(pl.List(column.dtype.inner))
            n_items.append(float(lists.list.len().mean() or 0))  # type: ignore[arg-type]
    return round(max(n_items))
