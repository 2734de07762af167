"""Held-out interactions: the relevant items of each user, recommended or not."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from fairrec.core.errors import InputError, listed, plain
from fairrec.core.kernels import kernel
from fairrec.core.options import spell
from fairrec.inputs.columns import Relevance, compared_column, number_column
from fairrec.inputs.ids import encode_ids, find_positions, gather_lists, list_bounds
from fairrec.inputs.notes import CHECK_FIRST, N, Note, Notes
from fairrec.inputs.tables import Table


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The held-out items of users or of the lists of users, the largest gain first.

    User or list `i` has `items[offsets[i]:offsets[i + 1]]`.

    Parameters
    ----------
    items : (n_held_out,), positions in `item_ids`
    gains : (n_held_out,), above 0
    has_rows : (n,), whether anything is held out for the user, relevant or not
    item_ids : distinct, as they are compared
    notes : what the reader should know about the table
    n_unknown : users of the table that are not in the users table
    """

    offsets: IntArray
    items: CodeArray
    gains: FloatArray
    has_rows: BoolArray
    item_ids: pl.Series
    notes: Notes = ()
    n_unknown: int = 0

    @property
    def n_relevant(self) -> IntArray:
        """(n,), held-out items of each user or list."""
        return np.diff(self.offsets)

    def take(self, rows: IntArray) -> HeldOut:
        """The same for some users or lists, in that order."""
        return replace(
            self,
            offsets=list_bounds(self.n_relevant[rows]),
            items=gather_lists(self.items, self.offsets, rows),
            gains=gather_lists(self.gains, self.offsets, rows),
            has_rows=self.has_rows[rows],
        )

    def labels(self, offsets: IntArray, items: CodeArray, item_ids: pl.Series) -> FloatArray:
        """(n_recommended,), the gain of each recommended item, 0 where it is not held out.

        Parameters
        ----------
        offsets, items, item_ids : the recommendations to the same users, as of `CandidateLists`
        """
        at = find_positions(self.item_ids, item_ids)[self.items]
        labels = np.zeros(len(items))
        _mark_gains(offsets, items, len(item_ids), self.offsets, at, self.gains, labels)
        return labels


def read_held_out(
    table: Table,
    user_ids: pl.Series,
    users_where: str,
    relevant: Relevance | None = None,
    gain: str | None = None,
) -> HeldOut:
    """The held-out items of the users with these ids.

    An item is relevant if it meets the condition, or, without one, unless its grade is 0. A pair
    that comes twice counts once, by its largest gain.

    Parameters
    ----------
    user_ids : of the users table, sorted
    gain : the column by which relevant items are weighed; each counts 1 without it
    """
    parts = {name: table.require(name) for name in ("user_id", "item_id")}
    if relevant is not None:
        parts["label"] = compared_column(table, relevant)
    if gain is not None:
        parts["gain"] = number_column(table, gain, f"{spell('gain', gain)} weighs by")
    elif relevant is None and (column := table.find("label") or table.find("rating")) is not None:
        parts["gain"] = column
    frame = table.read(parts)
    gains = np.ones(frame.height)
    notes: list[Note] = []
    if relevant is not None:
        compared = table.numbers(frame["label"], parts["label"]).to_numpy()
        gains = np.asarray(relevant.met_by(compared), dtype=np.float64)
        notes += _about_relevance(gains, relevant, table)
    if "gain" in parts:
        grades = table.numbers(frame["gain"], parts["gain"]).to_numpy()
        table.refuse_extreme(grades, parts["gain"])
        notes += _about_grades(grades[gains > 0], parts["gain"], gain is not None, table)
        gains = gains * (grades if gain is not None else grades > 0)
    users = table.user_keys(frame["user_id"])
    rows = find_positions(users, user_ids)
    unknown = _about_unknown_users(users, rows, table, users_where)
    notes.append(unknown)
    items, item_ids = encode_ids(frame["item_id"], table.where)
    has_rows = np.zeros(len(user_ids), dtype=bool)
    has_rows[rows[rows >= 0]] = True
    is_known = rows >= 0
    rows, items, gains, n_repeated = _merge_repeats(
        rows[is_known], items[is_known], gains[is_known]
    )
    repeat = (
        f"{table.where}: {N} of {N} held-out rows repeat a user and item; such a pair counts once"
    )
    notes.append(Note(repeat, n_repeated))
    return HeldOut(
        list_bounds(np.bincount(rows, minlength=len(user_ids))),
        items,
        gains,
        has_rows,
        item_ids,
        tuple(notes),
        int(unknown.n[0]),
    )


def _merge_repeats(
    rows: CodeArray, items: CodeArray, gains: FloatArray
) -> tuple[CodeArray, CodeArray, FloatArray, tuple[int, int]]:
    """Each relevant pair once, by its largest gain; user by user, the largest gain first.

    And how many relevant rows repeat a pair, of how many.
    """
    if not len(rows):
        return rows, items, gains, (0, 0)
    n_relevant = int((gains > 0).sum())
    pair = rows.astype(np.int64) * (int(items.max()) + 1) + items
    # stable, because a table that comes user by user is almost in order
    order = np.argsort(pair, kind="stable")
    starts = np.flatnonzero(np.diff(pair[order], prepend=-1))
    highest = np.maximum.reduceat(gains[order], starts)
    is_relevant = highest > 0
    first, gains = order[starts[is_relevant]], highest[is_relevant]
    rows, items = rows[first], items[first]
    if len(gains) and gains.min() < gains.max():
        by_gain = np.lexsort((-gains, rows))
        rows, items, gains = rows[by_gain], items[by_gain], gains[by_gain]
    return rows, items, gains, (n_relevant - len(rows), n_relevant)


def _about_grades(gains: FloatArray, column: str, is_gain: bool, table: Table) -> list[Note]:
    """What the grades mean; negative ones are an error."""
    if not len(gains):
        return []
    low, high = float(gains.min()), float(gains.max())
    least = float(gains.min(where=gains > 0, initial=np.inf))
    if low < 0:
        raise InputError(
            f"{table.where}: column '{plain(column)}' has values below 0 (such as {low:g}), which "
            "are no gains. Say which rows are relevant: "
            f"{spell('relevant', f'{column}>0')}"
        )
    table.expect(
        "gains",
        high > 0,
        f"{table.where}: column '{plain(column)}' is 0 in every row, so nothing is relevant. "
        f"Fix it, or say which rows are relevant: {spell('relevant', f'{column}>=0')}",
    )
    zero = f"{table.where}: the {N} rows with 0 in '{plain(column)}' are not relevant"
    notes = [Note(zero, (int((gains == 0).sum()),))]
    if not is_gain:
        alike = (
            f"{CHECK_FIRST}{table.where}: held-out items are equally relevant, whatever their "
            f"'{plain(column)}' ({N} to {N}). To weigh ndcg by it: {spell('gain', column)}; to "
            f"count only some: {spell('relevant', f'{column}>=NUMBER')}"
        )
        notes.append(Note(alike, (least, high), (min, max), operator.lt))
    return notes


def _about_relevance(is_met: FloatArray, relevant: Relevance, table: Table) -> list[Note]:
    if not len(is_met):
        return []
    n_met = int(is_met.sum())
    table.expect(
        "relevant",
        n_met > 0,
        f"{table.where}: no row meets {spell('relevant', str(relevant))}. Nothing would be "
        "relevant; choose another threshold.",
    )
    text = f"{table.where}: {N} of {N} held-out rows meet {relevant}"
    return [Note(text, (n_met, len(is_met)))]


def _about_unknown_users(users: pl.Series, rows: CodeArray, table: Table, users_where: str) -> Note:
    """Users of the test table without attributes are counted; if all are, that is an error."""
    is_unknown = pl.Series(rows < 0)
    unknown = users.filter(is_unknown).unique(maintain_order=True)
    table.expect(
        "users",
        not is_unknown.all(),
        f"{table.where}: none of its {len(unknown):,} users is in {users_where}, such as "
        f"{listed(unknown.head(3).to_list())}. Check that both tables use the same user ids.",
    )
    text = f"{N} users of {table.where} are not in {users_where} and are left out"
    return Note(text, (len(unknown),))


@kernel
def _mark_gains(
    offsets: IntArray,
    items: CodeArray,
    n_items: int,
    held_offsets: IntArray,
    held_items: CodeArray,
    gains: FloatArray,
    labels: FloatArray,
) -> None:
    """Write the gain of each recommended item that is held out behind its list."""
    owner = np.full(n_items, -1, dtype=np.int64)
    gain_of = np.zeros(n_items)
    for one in range(len(offsets) - 1):
        for at in range(held_offsets[one], held_offsets[one + 1]):
            if held_items[at] >= 0:
                owner[held_items[at]] = one
                gain_of[held_items[at]] = gains[at]
        for row in range(offsets[one], offsets[one + 1]):
            if owner[items[row]] == one:
                labels[row] = gain_of[items[row]]


def check_hits(table: Table, test: Table, labels: FloatArray) -> Note:
    """A note where no recommended item is held out for its user, as with ids of another table.

    Parameters
    ----------
    labels : (n_recommended,), above 0 where an item is held out for its user
    """
    text = (
        f"{CHECK_FIRST}not one item in {table.where} is held out for its user. Check that "
        f"{test.where} is the test table, and that both tables have the same item ids: a library "
        "may have numbered items by itself"
    )
    return Note(text, (int(np.count_nonzero(labels)),), applies=operator.not_)


_ENOUGH = 100
"""Lists that find nine in ten of this many held-out items miss one in 99.997% of cases."""
_SHARE_WITHOUT = 0.01


def refuse_joined(
    tables: Mapping[str, Table],
    k: float,
    lengths: IntArray,
    n_relevant: IntArray,
    n_missed: int,
    n_items: int,
) -> None:
    """An error where held-out items are only those that were recommended, so that none is missed.

    Parameters
    ----------
    k : the largest cut-off of a metric that counts them
    lengths, n_relevant : of each list, and of the held-out items of its user
    n_items : that could be in a list
    """
    test, is_list = tables["test"], lengths > 0
    # lists with most of the items cannot miss much, and longer ones may be drawn candidates
    is_short = lengths.max(initial=0) <= k
    is_covering = 2 * int(lengths.sum()) > n_items * int(is_list.sum())
    has_lost_users = (n_relevant == 0)[is_list].sum() > _SHARE_WITHOUT * is_list.sum()
    is_joined = not n_missed and is_short and has_lost_users and not is_covering
    if is_joined and n_relevant.sum() < _ENOUGH:
        return
    test.expect(
        "joined",
        not is_joined,
        f"{test.where}: every held-out item is in its user's list. A table that was joined with "
        "the recommendations has lost all that they missed, and recall is 1 whatever they are "
        "worth: give the whole held-out table. If these are clicks on the lists as served, give "
        f"them as labels: a column label in {tables['predictions'].where}, without "
        f"{spell('test')}.",
    )
