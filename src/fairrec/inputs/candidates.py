"""Candidate lists: every user's candidates in one flat layout."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from fairrec.core.arrays import CodeArray, FloatArray, IntArray
from fairrec.core.errors import InputError, list_some, listed, plain
from fairrec.core.kernels import kernel
from fairrec.inputs.columns import Relevance, compared_column
from fairrec.inputs.held_out import HeldOut
from fairrec.inputs.ids import encode_ids, find_positions, find_runs, gather_lists, list_bounds
from fairrec.inputs.order import no_order, order_columns, scores_in_order
from fairrec.inputs.tables import Table

_PADDING = float(np.finfo(np.float32).min)
"""The score by which implicit fills a list that is too short."""


@dataclass(frozen=True, slots=True)
class CandidateLists:
    """The items a model ranks for each user, with its scores.

    User `u` has the candidates `offsets[u]:offsets[u + 1]`, in the order of the input rows.

    Parameters
    ----------
    offsets : (n_users + 1,)
    items : (n_candidates,), positions in `item_ids`
    scores : (n_candidates,)
    labels : (n_candidates,), above 0 where relevant; None where the table has no labels
    item_ids : distinct item ids
    held_out : what is relevant for each user, candidate or not; None where there are only labels
    user_ids : (n_users,), which order equal scores with those of the items; None without ids
    """

    offsets: IntArray
    items: CodeArray
    scores: FloatArray
    labels: FloatArray | None
    item_ids: pl.Series
    held_out: HeldOut | None = None
    user_ids: pl.Series | None = None

    @property
    def n_users(self) -> int:
        """The number of candidate lists."""
        return len(self.offsets) - 1

    def take(self, lists: IntArray, scores: FloatArray) -> CandidateLists:
        """Some of the lists, in the order of `lists`, with the scores given for them.

        Parameters
        ----------
        lists : positions of candidate lists
        scores : of all their candidates, one list after the other
        """
        labels = self.labels
        return CandidateLists(
            list_bounds(self.offsets[lists + 1] - self.offsets[lists]),
            gather_lists(self.items, self.offsets, lists),
            scores,
            labels if labels is None else gather_lists(labels, self.offsets, lists),
            self.item_ids,
            self.held_out and self.held_out.take(lists),
            None if self.user_ids is None else self.user_ids.gather(lists),
        )


def read_candidates(
    table: Table,
    user_ids: pl.Series,
    users_where: str,
    needs_labels: bool,
    has_scores: bool = True,
    is_recommended: bool = False,
    relevant: Relevance | None = None,
) -> tuple[CandidateLists, IntArray, int]:
    """Candidate lists, the position of each list's user in `user_ids`, and the rows of padding.

    Long form (one row per candidate, in any order) and list form (one row per user) give the
    same lists. Lists follow the order in which their users first appear. Without scores, which
    a scorer will give, the column is not looked at and the lists have none. Padding, which is
    left out, fills recommendations up to k where a library found no more items.

    Parameters
    ----------
    is_recommended : the items are recommendations, whose labels stand in another table
    relevant : which candidates are relevant, where their labels have to be compared
    """
    orders = order_columns(table, is_recommended) if has_scores else {}
    if has_scores and not orders and not is_recommended:
        table.require("score")
    label = None if is_recommended else _label_column(table, needs_labels, relevant)
    parts = {name: table.require(name) for name in ("user_id", "item_id")} | orders
    if label is not None:
        parts["label"] = label
    frame = table.read(parts)
    nested = {name for name in parts if frame[name].dtype.is_nested()}
    if has_scores and not orders and not nested:
        raise no_order(table)
    if nested:
        heads, offsets, flat = _from_lists(frame, parts, nested, table)
    else:
        flat = frame.to_dict()
        heads, offsets = find_runs(flat.pop("user_id"))
    del frame
    positions = find_positions(table.user_keys(heads), user_ids)
    refuse_unknown_users(heads, positions, table.where, user_ids, users_where)

    bounds = offsets if nested else None
    given_items = flat.pop("item_id")
    numbers = {
        name: table.numbers(column, parts[name], bounds).to_numpy() for name, column in flat.items()
    }
    del flat
    is_item = numbers["score"] > _PADDING if is_recommended and "score" in numbers else None
    n_padding = 0 if is_item is None else int((~is_item).sum())
    if is_item is not None and n_padding:
        given_items = given_items.filter(pl.Series(is_item))
        numbers = {name: column[is_item] for name, column in numbers.items()}
        offsets = list_bounds(is_item.astype(np.int64))[offsets]
    items, item_ids = encode_ids(given_items, table.where)
    if not (table.is_csv or given_items.dtype.is_numeric()):
        # text stays text for a model that is asked; CSV does not tell the two apart
        item_ids = item_ids.cast(pl.String)

    n_runs_per_user = np.bincount(positions, minlength=len(user_ids))
    if n_runs_per_user.max(initial=0) > 1:
        # the runs of each user together, in the order of their rows
        owners = np.repeat(positions, np.diff(offsets))
        order = np.argsort(owners, kind="stable")
        positions = np.flatnonzero(n_runs_per_user).astype(np.int32)
        offsets = list_bounds(np.bincount(owners, minlength=len(user_ids))[positions])
        items = items[order]
        numbers = {name: column[order] for name, column in numbers.items()}
    labels = numbers.pop("label", None)
    if labels is not None and relevant is not None:
        labels = np.asarray(relevant.met_by(labels), dtype=np.float64)
    elif labels is not None:
        _check_labels(labels, parts["label"], table)
    scores = scores_in_order(numbers, orders, offsets, table) if has_scores else np.empty(0)
    lists = CandidateLists(
        offsets, items, scores, labels, item_ids, user_ids=user_ids.gather(positions)
    )
    _refuse_duplicate_pairs(lists, positions, user_ids, table)
    return lists, positions.astype(np.int64), n_padding


def _label_column(table: Table, needs_labels: bool, relevant: Relevance | None) -> str | None:
    if relevant is not None:
        return compared_column(table, relevant)
    return table.require("label") if needs_labels else table.find("label")


def _from_lists(
    frame: pl.DataFrame, parts: dict[str, str], nested: set[str], table: Table
) -> tuple[pl.Series, IntArray, dict[str, pl.Series]]:
    """Users, bounds and columns of the items of one row per user."""
    for name in nested:
        kind = frame[name].dtype
        inner = kind.inner if isinstance(kind, pl.List | pl.Array) else kind
        if inner.is_nested() or name == "user_id":
            raise InputError(
                f"{table.where}: column '{plain(parts[name])}' is of type {plain(kind)}. Give one "
                "value a row, or for item_id, score and label a list of values."
            )
    names = [name for name in parts if name != "user_id"]
    if nested != {*names}:
        raise InputError(
            f"{table.where}: only {', '.join(sorted(parts[name] for name in nested))} holds lists. "
            "Give lists in all of item_id, score and label (one row per user), or in none (one row "
            "per candidate)."
        )
    frame = frame.with_columns(
        frame[name].arr.to_list() for name in names if isinstance(frame[name].dtype, pl.Array)
    )
    lengths = frame[names[0]].list.len()
    for name in names:
        # a list that is missing has no length
        is_other = frame[name].list.len().ne_missing(lengths) | frame[name].is_null()
        if is_other.any():
            row = int(is_other.arg_true()[0])
            raise InputError(
                f"{table.place(row)}: the lists in '{parts[names[0]]}' and '{parts[name]}' are not "
                "of one length, or one is missing. Give an empty list to a user without candidates."
            )
    # an empty list would explode to a row of nulls
    flat_lists = {name: frame[name].filter(lengths > 0).explode() for name in names}
    offsets = list_bounds(lengths.to_numpy())
    if flat_lists["item_id"].null_count():
        at = flat_lists["item_id"].is_null().arg_true()[0]
        row = int(np.searchsorted(offsets, at, side="right")) - 1
        raise InputError(f"{table.place(row)}: an item id is missing. Fill it in or drop it.")
    return frame["user_id"], offsets, flat_lists


def refuse_unknown_users(
    heads: pl.Series, positions: CodeArray, where: str, user_ids: pl.Series, users_where: str
) -> None:
    """An error for users without a row in the users table."""
    if (positions >= 0).all():
        return
    unknown = heads.filter(pl.Series(positions < 0)).unique(maintain_order=True)
    raise InputError(
        f"{where}: user {list_some(unknown.head(3).to_list(), len(unknown))} not in {users_where}. "
        "Every user of this table needs a row of attributes there (leave a value empty if it is "
        f"not known). Users there: {listed(user_ids.head(3).to_list())}."
    )


def _check_labels(labels: FloatArray, column: str, table: Table) -> None:
    if len(labels) and labels.min() < 0:
        raise InputError(
            f"{table.where}: column '{plain(column)}' has values below 0 (such as "
            f"{labels.min():g}). A label is 0 for an item that is not relevant and above 0 for one "
            "that is; turn -1 into 0."
        )
    table.refuse_extreme(labels, column)


def _refuse_duplicate_pairs(
    lists: CandidateLists, positions: CodeArray, user_ids: pl.Series, table: Table
) -> None:
    n_repeats, at = _repeated_items(lists.offsets, lists.items, len(lists.item_ids))
    if not n_repeats:
        return
    user = int(np.searchsorted(lists.offsets, at, side="right")) - 1
    user_id = user_ids[int(positions[user])]
    item_id = lists.item_ids[int(lists.items[at])]
    raise InputError(
        f"{table.where}: user {plain(repr(user_id))} has item {plain(repr(item_id))} twice "
        f"({n_repeats:,} such rows {'in all' if table.row_slice is None else 'or more'}). Keep one "
        "row for each user and item."
        + (" If -1 fills up lists that are too short, drop those rows." if item_id == -1 else "")
    )


@kernel
def _repeated_items(offsets: IntArray, items: CodeArray, n_items: int) -> tuple[int, int]:
    """How many rows have an item that stood in the same user's list before, and the first."""
    last_user = np.full(n_items, -1, dtype=np.int64)
    n_repeats, first = 0, -1
    for user in range(len(offsets) - 1):
        for row in range(offsets[user], offsets[user + 1]):
            if last_user[items[row]] == user:
                n_repeats += 1
                if first < 0:
                    first = row
            last_user[items[row]] = user
    return n_repeats, first
