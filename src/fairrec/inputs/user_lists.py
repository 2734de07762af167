"""The lists of the audited users, from whichever tables there are, or values instead of lists."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from fairrec.core.errors import InputError, UnknownNameError, listed, plain, unknown_name
from fairrec.core.options import Blank, spell
from fairrec.inputs.candidates import CandidateLists, read_candidates, refuse_unknown_users
from fairrec.inputs.held_out import read_held_out
from fairrec.inputs.ids import (
    find_positions,
    gather_lists,
    list_bounds,
)
from fairrec.inputs.mismatched_ids import compare_item_ids, find_spellings
from fairrec.inputs.notes import N, Note, Notes, RowsNote
from fairrec.inputs.order import note_skipped_places, order_columns, rows_in_order
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.inputs.users import Users


def value_columns(
    table: Table,
    wanted: Sequence[str] | None,
    attributes: Collection[str],
    with_end: Collection[str] = (),
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns named, and those left out because they hold no numbers.

    By default all with numbers are taken that are neither ids nor attributes; of columns that
    were named, none is left out.

    Parameters
    ----------
    with_end : columns of which an end is called better, so that they have to hold numbers
    """
    user_column = table.require("user_id")
    others = [column for column in table.columns if column != user_column]
    if wanted is not None:
        for name in wanted:
            if name not in others:
                raise UnknownNameError(
                    f"{table.where}: {unknown_name('column', name, others)}{table.hint}"
                )
        return tuple(dict.fromkeys(wanted)), ()
    others = [column for column in others if column not in attributes]
    numeric = table.numeric_columns()
    found = tuple(column for column in others if column in numeric)
    left_out = tuple(column for column in others if column not in numeric)
    for name in with_end:
        if name in left_out:
            # raises, because it holds something else
            table.numbers(table.read({f"={name}": name})[f"={name}"], name)
    if not found:
        raise InputError(
            f"{table.where}: no column of numbers beside the ids and attributes. Columns here: "
            f"{listed(table.columns)}. Name those to audit: {spell('metrics', Blank('COLUMNS'))}"
        )
    return found, left_out


def read_values(
    table: Table, columns: Sequence[str], user_ids: pl.Series, users_where: str
) -> tuple[dict[str, FloatArray], IntArray]:
    """The values of each column, NaN where there is none, and the position of each user.

    Parameters
    ----------
    user_ids : of the users table, in which the positions are
    """
    user_column = table.require("user_id")
    frame = table.read({"user_id": user_column, **{f"={name}": name for name in columns}})
    ids = table.user_keys(frame["user_id"])
    table.refuse_duplicates(ids, user_column, "Keep one row per user.")
    positions = find_positions(ids, user_ids)
    refuse_unknown_users(ids, positions, table.where, user_ids, users_where)
    values = {name: _numbers(frame[f"={name}"], name, table) for name in columns}
    return values, positions.astype(np.int64)


def read_columns(table: Table, columns: Sequence[str]) -> dict[str, FloatArray]:
    """The values of each column, NaN where there is none, whosever they are."""
    frame = table.read({f"={name}": name for name in columns})
    return {name: _numbers(frame[f"={name}"], name, table) for name in columns}


def _numbers(values: pl.Series, column: str, table: Table) -> FloatArray:
    """Float64, NaN for no value."""
    numbers = table.numbers_with_gaps(values, column)
    table.expect(
        f"values of {column}",
        numbers is not None,
        f"{table.where}: column '{plain(column)}' has no value at all. Leave it out: "
        f"{spell('metrics', Blank('COLUMNS'))}",
    )
    return np.full(len(values), np.nan) if numbers is None else numbers


@dataclass(frozen=True, slots=True)
class OtherLists:
    """Another ranked list of each user: list `u` has `items[offsets[u]:offsets[u + 1]]`.

    Parameters
    ----------
    offsets : (n_lists + 1,); a user without another list has an empty one
    items : best first, positions among the candidate items; further ones are no candidates of
        anybody
    n_items : items there are, candidates and others
    """

    offsets: IntArray
    items: CodeArray
    n_items: int

    def first(self, k: int) -> IntArray:
        """(n_lists, k), the items in the first k places; -1 past the end of a list."""
        places, lengths = np.arange(k), np.diff(self.offsets)[:, None]
        rows = np.minimum(self.offsets[:-1, None] + places, max(len(self.items) - 1, 0))
        items = self.items if len(self.items) else np.zeros(1, dtype=np.int32)
        return np.where(places < lengths, items[rows], -1).astype(np.int64)

    def for_lists(self, lists: IntArray) -> OtherLists:
        """The same for some lists, in that order."""
        lengths = self.offsets[lists + 1] - self.offsets[lists]
        items = gather_lists(self.items, self.offsets, lists)
        return OtherLists(list_bounds(lengths), items, self.n_items)


def in_order(lists: CandidateLists) -> OtherLists:
    """All candidates in score order, equal scores by user and item."""
    return OtherLists(lists.offsets, lists.items[rows_in_order(lists)], len(lists.item_ids))


def read_other_lists(
    table: Table, everyone: Users, row_of_list: IntArray, item_ids: pl.Series
) -> tuple[OtherLists, RowsNote]:
    """The lists of the audited users in another table, and how many have none there.

    Parameters
    ----------
    row_of_list : (n_lists,), the row of the users table of each audited list
    item_ids : those of the audited lists
    """
    read, rows, _ = read_candidates(
        table, everyone.keys, everyone.where, needs_labels=False, is_recommended=True
    )
    other = in_order(read)
    # items that nobody has as a candidate come behind those that somebody has
    at = find_positions(read.item_ids, item_ids).astype(np.int64)
    is_new = at < 0
    at[is_new] = len(item_ids) + np.arange(is_new.sum())
    n_items = len(item_ids) + int(is_new.sum())
    # one empty list behind all others is that of whoever has none
    list_of_row = np.full(len(everyone.keys), read.n_users, dtype=np.int64)
    list_of_row[rows] = np.arange(read.n_users)
    offsets = np.concatenate([other.offsets, other.offsets[-1:]])
    items = at[other.items].astype(np.int32)
    found = OtherLists(offsets, items, n_items).for_lists(list_of_row[row_of_list])
    n_without = int((np.diff(found.offsets) == 0).sum())
    text = f"{N} of {N} users have no list in {table.where}, so nothing to compare theirs with"
    return found, RowsNote(text, (n_without, len(row_of_list)))


@dataclass(frozen=True, slots=True)
class UserLists:
    """The lists of an audit, and whose they are.

    Parameters
    ----------
    row_of_list : (n_lists,), the user's row of the users table
    is_expected : (n_lists,), users for whom accuracy is expected
    absent : rows of users who ought to be served and have no list here
    unseen : rows of users of whom the tables say nothing, neither lists nor held-out items
    """

    candidates: CandidateLists
    row_of_list: IntArray
    is_expected: BoolArray
    absent: IntArray
    unseen: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    values: Mapping[str, FloatArray] = field(default_factory=dict)
    notes: Notes = ()


def lists_with_labels(
    tables: Mapping[str, Table],
    given: TableOptions,
    everyone: Users,
    needs: Collection[str],
    has_scores: bool,
) -> UserLists:
    """Candidates whose labels stand beside them."""
    candidates, row_of_list, _ = read_candidates(
        tables["predictions"],
        everyone.keys,
        everyone.where,
        needs_labels="labels" in needs,
        has_scores=has_scores,
        relevant=given.relevant,
    )
    is_expected = np.ones(len(row_of_list), dtype=bool)
    return UserLists(candidates, row_of_list, is_expected, _others(everyone, row_of_list))


def lists_and_held_out(
    tables: Mapping[str, Table], given: TableOptions, everyone: Users, has_scores: bool
) -> UserLists:
    """Recommendations, and what was held out for their users and for those without a list."""
    table, test = tables["predictions"], tables["test"]
    held_out = read_held_out(test, everyone.keys, everyone.where, given.relevant, given.gain)
    candidates, row_of_list, n_padding = read_candidates(
        table,
        everyone.keys,
        everyone.where,
        needs_labels=False,
        has_scores=has_scores,
        is_recommended=True,
    )
    filling = (
        f"{N} rows of {table.where} have the lowest score there is, by which a library fills lists "
        "that are too short; they are no recommendations and left out"
    )
    notes: Notes = (*held_out.notes, RowsNote(filling, (n_padding,)))
    if has_scores:
        orders = order_columns(table, is_recommended=True)
        notes += (note_skipped_places(candidates.scores, candidates.offsets, orders, table.where),)
    if table.find("label"):
        notes += (
            f"the labels in {table.where} are not looked at: {test.where} says what is relevant",
        )
    has_held_out = held_out.has_rows
    candidates, row_of_list = _without_empty(candidates, row_of_list, has_held_out)
    is_without = has_held_out.copy()
    is_without[row_of_list] = False
    without_list = np.flatnonzero(is_without)
    absent = without_list
    if given.missing_lists == "zero":
        row_of_list = np.concatenate([row_of_list, without_list])
        nothing = np.full(len(without_list), candidates.offsets[-1])
        candidates = replace(candidates, offsets=np.concatenate([candidates.offsets, nothing]))
        absent = np.zeros(0, dtype=np.int64)
    if len(held_out.items) and len(candidates.item_ids):
        test.expect(
            "items",
            bool(
                (find_positions(held_out.item_ids, candidates.item_ids)[held_out.items] >= 0).any()
            ),
            f"{test.where}: none of its items is ever recommended. Items there: "
            f"{listed(held_out.item_ids.head(3).to_list())}; recommended: "
            f"{listed(candidates.item_ids.head(3).to_list())}. Check that both tables use the same "
            "item ids.",
        )
    of_lists = held_out.take(row_of_list)
    labels = of_lists.labels(candidates.offsets, candidates.items, candidates.item_ids)
    notes += (
        *compare_item_ids(table, test, candidates, labels, row_of_list, held_out),
        _spellings_of_users(everyone, row_of_list, candidates, has_held_out, tables),
    )
    return UserLists(
        replace(
            candidates,
            labels=labels,
            held_out=of_lists,
            user_ids=everyone.keys.gather(row_of_list),
        ),
        row_of_list,
        is_expected=has_held_out[row_of_list],
        absent=absent,
        unseen=_others(everyone, np.concatenate([row_of_list, absent])),
        notes=notes,
    )


def _spellings_of_users(
    everyone: Users,
    row_of_list: IntArray,
    lists: CandidateLists,
    has_held_out: BoolArray,
    tables: Mapping[str, Table],
) -> Note:
    """Users with held-out items alone, beside those with a list alone."""
    has_list = np.zeros(len(everyone.keys), dtype=bool)
    has_list[row_of_list] = np.diff(lists.offsets) > 0
    wanting, served = (
        everyone.keys.filter(pl.Series(one))
        for one in (has_held_out & ~has_list, has_list & ~has_held_out)
    )
    return find_spellings(
        "user", wanting, tables["test"].where, served, tables["predictions"].where
    )


def _without_empty(
    candidates: CandidateLists, row_of_list: IntArray, has_held_out: BoolArray
) -> tuple[CandidateLists, IntArray]:
    """Without the empty lists of users with held-out items: an empty list is none."""
    lengths = np.diff(candidates.offsets)
    is_kept = (lengths > 0) | ~has_held_out[row_of_list]
    if is_kept.all():
        return candidates, row_of_list
    return replace(candidates, offsets=list_bounds(lengths[is_kept])), row_of_list[is_kept]


def lists_of_values(table: Table, columns: Sequence[str], everyone: Users) -> UserLists:
    """Empty lists, and the values of their users."""
    values, row_of_list = read_values(table, columns, everyone.keys, everyone.where)
    nothing = CandidateLists(
        np.zeros(len(row_of_list) + 1, dtype=np.int64),
        np.zeros(0, dtype=np.int32),
        np.zeros(0),
        None,
        pl.Series([], dtype=pl.Int64),
    )
    is_expected = np.ones(len(row_of_list), dtype=bool)
    absent = _others(everyone, row_of_list)
    return UserLists(nothing, row_of_list, is_expected, absent, values=values)


def _others(everyone: Users, rows: IntArray) -> IntArray:
    """The other rows of the users table."""
    is_other = np.ones(len(everyone.ids), dtype=bool)
    is_other[rows] = False
    return np.flatnonzero(is_other)
