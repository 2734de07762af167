"""The tables of an audit -> parts of whole users, without ever holding more than a part."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from fairrec.core.atomic_io import errors_of_scratch, scratch
from fairrec.core.errors import InputError
from fairrec.core.options import spelled
from fairrec.core.progress import Progress
from fairrec.inputs.audit_inputs import open_tables
from fairrec.inputs.binning import parse_binning
from fairrec.inputs.parts.coded_users import (
    CodedAttribute,
    UsersPiece,
    encode_attributes,
    write_users,
)
from fairrec.inputs.parts.codes import id_codes
from fairrec.inputs.parts.cutting import Cuts, find_cuts
from fairrec.inputs.parts.dealing import Dealt, deal
from fairrec.inputs.parts.part import Part, Parts
from fairrec.inputs.parts.piece import FileRows, Piece, scan_rows
from fairrec.inputs.parts.placing import Everyone, KnownCodes
from fairrec.inputs.parts.stored import Stored
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table, ids_as_integers_or_text
from fairrec.inputs.users import MISSING, attribute_specs, read_ids, refuse_users_twice

ROWS = 1 << 21
"""Rows of a part, about."""
_SAMPLE = 10_000
_ENOUGH = 10
"""Metrics that are taken by default look no deeper."""
_FEW = 10
"""A circumstance with more numbers than these is compared in fifths, if nothing is said."""


def _silent(stage: str, done: int, total: int) -> None:
    pass


@contextmanager
def open_parts(
    predictions: Any = None,
    *,
    n_rows: int = ROWS,
    folder: Path | None = None,
    progress: Progress = _silent,
    **tables: Any,
) -> Iterator[Parts]:
    """The parts of these tables; their scratch files are gone when it is left, however it is left.

    Predictions (or values) whose rows stand together user by user are cut where they are, and read
    there. Scattered ones are dealt out to parts by a hash of their users first. Users, held-out
    interactions and histories are dealt out to the parts of their users; who has neither
    predictions nor values is in the last parts.

    Parameters
    ----------
    n_rows : of predictions or values in a part, about
    folder : where scratch files are written; by default the system's folder for such files
    tables : see TableOptions
    """
    given = TableOptions.of(**tables)
    opened = open_tables(predictions, given)
    place = Path(tempfile.gettempdir()) if folder is None else folder
    with ExitStack() as until_the_end:
        with errors_of_scratch(place):
            home = until_the_end.enter_context(scratch(place))
            parts = _Cutting(opened, given, n_rows, home, progress).parts(given)
        yield parts


class _Cutting:
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
        self._asked = (*given.by, *_columns_given(given, opened["users"]))
        # what is wrong with the names is told before hours of reading
        attribute_specs(opened["users"], given.by)
        self._given = {*given.given}
        self._main = _stored(opened["values" if "values" in opened else "predictions"])
        self._n_rows = max(1, n_rows // _items_a_row(self._main))
        self._dealt: list[Dealt] = []

    def parts(self, given: TableOptions) -> Parts:
        main = self._main
        user_column = main.table.require("user_id")
        cuts = find_cuts(main, user_column, self._n_rows, self._progress)
        known = self._known()
        if len(known.repeated):
            cuts = None
        everyone = Everyone(known, cuts, main.n_rows, self._n_rows)
        pieces: dict[str, Sequence[Piece]] = {}
        if cuts is None:
            pieces[main.table.name] = self._deal(main, everyone)
        else:
            pieces[main.table.name] = _cut_where_they_are(main, cuts, everyone.n_parts)
            # of the size of users, and not needed any more
            del cuts
        if "test" in self._opened:
            if given.metrics is None:
                longest = _longest_list(pieces["predictions"], given.columns or {})
                pieces["predictions"] = [
                    replace(piece, longest=longest) for piece in pieces["predictions"]
                ]
            are_audited = given.missing_lists == "zero"
            pieces["test"] = self._deal(_stored(self._opened["test"]), everyone, are_audited)
        if "history" in self._opened:
            pieces["history"] = self._history(everyone)
        pieces["users"], attributes = self._users(everyone)
        whole = {"items": given.items} if given.items is not None else {}
        n_parts = everyone.n_parts
        parts = tuple(
            Part(
                f"part {at + 1:,} of {n_parts:,} of {main.table.where}",
                pieces[main.table.name][at].n_rows,
                {name: some[at] for name, some in pieces.items()},
                whole,
            )
            for at in range(n_parts)
        )
        is_together = not any(one.table == main.table.name for one in self._dealt)
        return Parts(parts, attributes, is_together, tuple(self._dealt), main.n_rows)

    def _known(self) -> KnownCodes:
        """The codes of all users, of whom none may be there twice."""
        table = self._opened["users"]
        self._progress(f"reading {table.where}", 0, 0)
        _, keys = read_ids(table)
        known = KnownCodes(id_codes(keys))
        if len(known.repeated):
            refuse_users_twice(keys, table)
        return known

    def _deal(
        self,
        stored: Stored,
        everyone: Everyone,
        are_audited: bool = True,
        are_all_kept: bool = True,
    ) -> list[Piece]:
        dealt = deal(
            *(stored, stored.table.require("user_id"), everyone, self._home),
            *(are_audited, are_all_kept, self._progress),
        )
        self._dealt.append(dealt)
        return [_piece(stored, rows, None, dealt.is_text) for rows in dealt.rows]

    def _history(self, everyone: Everyone) -> list[Piece]:
        """The histories of users, and how often each item was interacted with by anybody."""
        stored = _stored(self._opened["history"])
        counts = self._home / "item-counts.parquet"
        self._progress(f"counting items in {stored.table.where}", 0, 0)
        _item_counts(stored).write_parquet(counts)
        # nothing is asked of users without attributes
        pieces = self._deal(stored, everyone, are_audited=False, are_all_kept=False)
        return [replace(piece, item_counts=counts) for piece in pieces]

    def _users(self, everyone: Everyone) -> tuple[list[UsersPiece], tuple[CodedAttribute, ...]]:
        table = self._opened["users"]
        self._progress(f"dealing out {table.where}", 0, 0)
        columns, attributes = encode_attributes(table, self._asked, everyone.is_audited)
        _refuse_many_numbers(one for one in attributes if one.asked in self._given)
        ids, keys = read_ids(table)
        named = {"id": ids} if ids.dtype == keys.dtype else {"id": ids, "key": keys}
        frame = pl.DataFrame({**named, **columns}).rechunk()
        rows = write_users(frame, everyone.parts, everyone.n_parts, self._home)
        names, path = tuple(table.columns), table.path or Path("users")
        found = [
            UsersPiece(table.where, path, (one,), columns=names, attributes=attributes)
            for one in rows
        ]
        return found, attributes


def _stored(table: Table) -> Stored:
    """A table to be read in parts, whose files are whole."""
    stored = Stored.of(table)
    stored.refuse_damaged()
    return stored


def _columns_given(given: TableOptions, users: Table) -> list[str]:
    """The circumstances that are columns of users; of those counted, bins have to be said."""
    found = []
    for text in given.given:
        name, colon, bins = text.rpartition(":")
        if users.attribute_column(text) or users.attribute_column(name):
            found.append(text)
        elif not colon or parse_binning(bins, text).quantiles:
            raise _bins_needed(name or text)
    return found


def _refuse_many_numbers(attributes: Iterable[CodedAttribute]) -> None:
    """Refuse circumstances that would be compared in fifths of the users."""
    for one in attributes:
        known = [value for value in one.values_of_all if value != MISSING]
        are_numbers = all(isinstance(value, int | float) for value in known)
        if one.binning is None and are_numbers and len(known) > _FEW:
            raise _bins_needed(one.name)


def _bins_needed(name: str) -> InputError:
    return InputError(
        f"{spelled('given', [name])}: tables that are read in parts need bins that do not depend "
        f"on all users. Give their width or edges: {spelled('given', [f'{name}:10'])} or "
        f"{spelled('given', [f'{name}:5|10|20'])}"
    )


def _cut_where_they_are(stored: Stored, cuts: Cuts, n_parts: int) -> list[Piece]:
    """The rows of each part; of the last ones, which have users without rows, none."""
    bounds = [int(row) for row in cuts.rows]
    # a row that holds records of items becomes several, so that its number says nothing
    is_numbered = {*stored.table.columns} == {*scan_rows(stored.files).collect_schema()}
    found = [
        _piece(stored, stored.rows(start, stop), start if is_numbered else None, cuts.is_text)
        for start, stop in pairwise(bounds)
    ]
    nothing = _piece(stored, (stored.nothing,), None, cuts.is_text)
    return found + [nothing] * (n_parts - len(found))


def _piece(
    stored: Stored, rows: tuple[FileRows, ...], first_row: int | None, is_text: bool
) -> Piece:
    table = stored.table
    assert table.path is not None
    return Piece(table.where, table.path, rows, first_row, is_text)


def _longest_list(pieces: Iterable[Piece], columns: Mapping[str, str]) -> int:
    """The length of the longest list of recommendations; all from `_ENOUGH` on are the same."""
    longest = 0
    for piece in pieces:
        table = Table(piece, "predictions", columns)
        frame = table.read({name: table.require(name) for name in ("user_id", "item_id")})
        items = frame["item_id"]
        if isinstance(items.dtype, pl.Array):
            lengths = pl.Series([items.dtype.size])
        elif isinstance(items.dtype, pl.List):
            lengths = items.list.len()
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
    lists = [column for column in frame if isinstance(column.dtype, pl.List | pl.Array)]
    return max([1, *(round(_mean_length(column)) for column in lists)])


def _mean_length(column: pl.Series) -> float:
    if isinstance(column.dtype, pl.Array):
        return column.dtype.size
    lengths = column.drop_nulls().list.len().to_numpy()
    return float(lengths.mean()) if len(lengths) else 0.0
