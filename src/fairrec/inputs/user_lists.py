"""The lists of the audited users, from whichever tables there are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.inputs.candidates import CandidateLists, read_candidates
from fairrec.inputs.flat_lists import bounds_of
from fairrec.inputs.held_out import read_held_out
from fairrec.inputs.held_out_notes import HitsNote, ItemKindsNote
from fairrec.inputs.mismatched_ids import compare_item_ids
from fairrec.inputs.notes import Note, Notes, RowsNote
from fairrec.inputs.order import note_skipped_places, order_columns
from fairrec.inputs.spellings import find_spellings
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table, ids_as_integers_or_text
from fairrec.inputs.users import Users
from fairrec.inputs.values import read_values


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
    table = tables["predictions"]
    held_out = read_held_out(
        tables["test"], everyone.keys, everyone.where, given.relevant, given.gain
    )
    candidates, row_of_list, n_padding = read_candidates(
        table,
        everyone.keys,
        everyone.where,
        needs_labels=False,
        has_scores=has_scores,
        is_recommended=True,
    )
    filling = (
        f" rows of {table.where} have the lowest score there is, by which a library fills lists "
        "that are too short; they are no recommendations and left out"
    )
    notes: Notes = (*held_out.notes, RowsNote(("", filling), (n_padding,)))
    if has_scores:
        orders = order_columns(table, is_recommended=True)
        notes += (note_skipped_places(candidates.scores, candidates.offsets, orders, table.where),)
    if table.find("label"):
        notes += (
            f"the labels in {table.where} are not looked at: {tables['test'].where} says what is "
            "relevant",
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
    held_out.check_items(candidates.item_ids)
    labels = held_out.labels(candidates.offsets, candidates.items, candidates.item_ids, row_of_list)
    notes += (
        ItemKindsNote(
            *(table.where, held_out.where),
            *(_are_text(ids) for ids in (candidates.item_ids, held_out.item_ids)),
        ),
        HitsNote(held_out.where, bool(labels.any())),
        *compare_item_ids(table, candidates, labels, row_of_list, held_out),
        _spellings_of_users(everyone, row_of_list, candidates, has_held_out, tables),
    )
    return UserLists(
        replace(
            candidates,
            labels=labels,
            held_out=held_out.of_lists(row_of_list),
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


def _are_text(ids: pl.Series) -> bool:
    return len(ids) > 0 and not ids_as_integers_or_text(ids, "").dtype.is_integer()


def _without_empty(
    candidates: CandidateLists, row_of_list: IntArray, has_held_out: BoolArray
) -> tuple[CandidateLists, IntArray]:
    """Without the empty lists of users with held-out items: an empty list is none."""
    lengths = np.diff(candidates.offsets)
    is_kept = (lengths > 0) | ~has_held_out[row_of_list]
    if is_kept.all():
        return candidates, row_of_list
    return replace(candidates, offsets=bounds_of(lengths[is_kept])), row_of_list[is_kept]


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
