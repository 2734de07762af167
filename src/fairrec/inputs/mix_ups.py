"""Tables that were taken for each other, told by their columns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fairrec.core.arrays import BoolArray, IntArray
from fairrec.core.errors import InputError, listed
from fairrec.core.options import Blank, spelled
from fairrec.inputs.held_out_notes import JoinedNote
from fairrec.inputs.tables import Table


def refuse_swapped(tables: Mapping[str, Table]) -> None:
    """An error where one table looks like what another one was given as."""
    predictions, users, test = (tables.get(name) for name in ("predictions", "users", "test"))
    if predictions:
        refuse_counts(predictions)
    if predictions and not _has(predictions, "item_id") and _has(predictions, "user_id"):
        columns = f"Its columns: {listed(predictions.columns)}."
        if users and _has(users, "item_id"):
            raise InputError(
                f"{predictions.where} has no items and {users.where} has: they look swapped. "
                f"{columns} Give the users as {spelled('users')}."
            )
        raise InputError(
            f"{predictions.where}: no column 'item_id', so it holds no predictions. {columns} "
            f"If it holds users, give it as {spelled('users')}; if numbers per user, as "
            f"{spelled('values')}; if the column has another name, map it: "
            f"{spelled('columns', {'item_id': Blank('NAME')})}"
        )
    if users and not tables.get("values") and _has(users, "item_id") and _has_order(users):
        raise InputError(
            f"{users.where} has items and scores, so it looks like predictions. Give the table "
            f"with one row per user and their attributes as {spelled('users')}."
        )
    if test and users and _has(users, "item_id") and not _has(test, "item_id"):
        raise InputError(
            f"{test.where} has no items and {users.where} has: they look swapped. Give the "
            f"held-out interactions as {spelled('test')} and the users as {spelled('users')}."
        )
    if test and predictions and _has_order(test) and not _has_order(predictions):
        raise InputError(
            f"{test.where} has scores or ranks and {predictions.where} has none: they look "
            f"swapped. Give the held-out interactions as {spelled('test')}."
        )


_OF_COUNTS = {"family", "level", "users"}
"""Columns of each table of counts."""


def refuse_counts(predictions: Table) -> None:
    """An error where a table of counts is given as predictions."""
    if {*predictions.columns} >= _OF_COUNTS and not _has(predictions, "item_id"):
        raise InputError(
            f"{predictions.where} holds counts of users, as fairrec count writes them, and no "
            f"predictions. Give it alone: {spelled('counts', Blank('FILE'))}"
        )


def refuse_same_file(tables: Mapping[str, Table]) -> None:
    """An error where the lists are given once more as what they are held against."""
    lists = tables.get("predictions")
    for name in ("test", "history"):
        other = tables.get(name)
        if lists and other and lists.path and other.path and _is_same(lists.path, other.path):
            remedy = (
                f"Give the held-out interactions, or leave out {spelled('test')} where the "
                "predictions have labels."
                if name == "test"
                else f"Give what users had before, or leave out {spelled('history')}."
            )
            raise InputError(
                f"{lists.where} is given as the predictions and as {spelled(name)}: every list "
                f"would be held against itself. {remedy}"
            )


def check_joined(
    tables: Mapping[str, Table],
    lengths: IntArray,
    n_relevant: IntArray,
    has_rows: BoolArray,
    n_missed: int,
    n_items: int,
    k: float,
) -> JoinedNote:
    """An error where nothing held out is missed, for want of all that was; else what was seen.

    Parameters
    ----------
    lengths, n_relevant : of each list, and of the held-out items of its user
    has_rows : whether anything is held out for the user, relevant or not
    n_items : that could be in a list
    k : the largest cut-off of a metric that counts them
    """
    test, is_list = tables["test"], lengths > 0
    longest = int(lengths.max(initial=0))
    # what no list of candidates has may be held out and not relevant; a join may have filled in 0
    is_without = n_relevant == 0 if longest <= k else ~has_rows
    n_lists = int(is_list.sum())
    note = JoinedNote(
        tables["predictions"].where,
        test.where,
        k,
        n_held_out=int(n_relevant.sum()),
        n_missed=n_missed,
        n_lists=n_lists,
        n_without=int(is_without[is_list].sum()),
        longest=longest,
        is_covering=2 * int(lengths.sum()) > n_items * n_lists,
    )
    if note.is_refused:
        test.doubt("hits", f"{test.where}: {note.remedy}")
    elif n_missed:
        test.clear("hits")
    return note


def _is_same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def _has(table: Table, wanted: str) -> bool:
    return table.find(wanted) is not None


def _has_order(table: Table) -> bool:
    return _has(table, "score") or _has(table, "rank")
