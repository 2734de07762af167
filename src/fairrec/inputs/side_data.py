"""Side data of metrics: histories of users, popularity, categories and columns of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from fairrec.core.errors import InputError, plain, unknown_name
from fairrec.inputs.candidates import CandidateLists, read_candidates
from fairrec.inputs.ids import (
    encode,
    encode_ids,
    find_positions,
    find_runs,
    gather_lists,
    ids_as_integers_or_text,
    list_bounds,
)
from fairrec.inputs.notes import CHECK_FIRST, N, Note, Notes, note_items
from fairrec.inputs.order import rows_in_order
from fairrec.inputs.tables import Table
from fairrec.inputs.users import Users, list_values

NO_CATEGORY = ("", "(no genres listed)")
"""What stands for no category; the second in MovieLens."""


@dataclass(frozen=True, slots=True)
class Categories:
    """Category codes of each candidate item: item `i` has `codes[offsets[i]:offsets[i + 1]]`.

    Codes of an item are sorted and distinct; an item without categories has none.
    """

    offsets: IntArray
    codes: CodeArray


def read_categories(table: Table, item_ids: pl.Series) -> tuple[Categories, Note]:
    """Categories of the candidate items, and how many have none."""
    parts = {"item_id": table.require("item_id"), "categories": table.require("categories")}
    frame = table.read(parts)
    keys = ids_as_integers_or_text(frame["item_id"], table.where)
    table.refuse_duplicates(
        keys, parts["item_id"], "Keep one row per item and join its categories with '|'."
    )
    lists = as_lists(frame["categories"], table.where, parts["categories"])
    rows = find_positions(item_ids, keys)
    # numbered over the whole table, so that two readings of it agree
    named = lists.to_frame("categories").with_row_index("row")
    named = named.explode("categories").drop_nulls().unique()
    numbers, _ = encode(named["categories"])
    pairs = (
        pl.DataFrame({"item": np.arange(len(rows), dtype=np.int64), "row": rows})
        .filter(pl.col("row") >= 0)
        .with_columns(pl.col("row").cast(pl.UInt32))
        .join(named.select("row", pl.Series("code", numbers)), on="row", how="inner")
    )
    codes = pairs["code"].to_numpy()
    order = np.lexsort((codes, pairs["item"].to_numpy()))
    items = pairs["item"].to_numpy()[order]
    counts = np.bincount(items, minlength=len(item_ids))
    offsets = list_bounds(counts)
    text = (
        f"{N} of {N} candidate items have no category ({N} are not in {table.where}); pairs with "
        "them are left out of URD"
    )
    note = note_items(text, int((counts == 0).sum()), len(item_ids), int((rows < 0).sum()))
    return Categories(offsets, codes[order].astype(np.int32)), note


def as_lists(categories: pl.Series, where: str, column: str) -> pl.Series:
    """What each item has, of which it may have several: a list, or text joined with '|'."""
    try:
        lists = list_values(categories).cast(pl.List(pl.String))
    except pl.exceptions.PolarsError as error:
        raise InputError(
            f"{where}: column '{plain(column)}' is of type {plain(categories.dtype)}. Give a list "
            "of text, or text joined with '|'."
        ) from error
    stripped = pl.element().str.strip_chars()
    return lists.list.eval(stripped.filter(~stripped.is_in(NO_CATEGORY)))


def read_item_columns(
    table: Table, item_ids: pl.Series, requested: Sequence[str]
) -> tuple[dict[str, FloatArray], list[Note]]:
    """What each metric needs, (n_items,) each, NaN where it is not known; and notes."""
    parts = {"item_id": table.require("item_id")}
    named = {one: _column(table, one) for one in requested}
    parts |= {f"column {column}": column for column in named.values()}
    frame = table.read(parts, labels=[f"column {named[one]}" for one in requested if "=" in one])
    keys = ids_as_integers_or_text(frame["item_id"], table.where)
    table.refuse_duplicates(keys, parts["item_id"], "Keep one row per item.")
    rows = find_positions(item_ids, keys)
    found: dict[str, FloatArray] = {}
    notes: list[Note] = []
    for one, column in named.items():
        values = frame[f"column {column}"]
        of_row = (
            _has_value(values, one, table)
            if "=" in one
            else table.numbers_with_gaps(values, column)
        )
        if of_row is None:
            raise InputError(f"{table.where}: column '{plain(column)}' is empty in every row.")
        found[one] = np.where(rows >= 0, of_row[np.maximum(rows, 0)], np.nan)
        text = (
            f"{N} of {N} candidate items have no {plain(column)} ({N} are not in {table.where}); "
            f"their places are left out of [{plain(one)}]"
        )
        unknown = int(np.isnan(found[one]).sum())
        notes.append(note_items(text, unknown, len(item_ids), int((rows < 0).sum())))
    return found, notes


def _column(table: Table, requested: str) -> str:
    """The requested column."""
    name = requested.partition("=")[0]
    if name not in table.columns:
        raise InputError(f"{table.where}: {unknown_name('column', name, table.columns)}")
    return name


def _has_value(values: pl.Series, requested: str, table: Table) -> FloatArray:
    """(n_rows,), whether a row has the value, among others where it has several."""
    column, _, value = requested.partition("=")
    lists = as_lists(values, table.where, column)
    has = lists.list.contains(value)
    if not has.any():
        known = lists.explode().drop_nulls().unique(maintain_order=True).to_list()
        error = unknown_name(f"value of column '{plain(column)}'", value, known)
        raise InputError(f"{table.where}: {error}")
    is_known = (lists.list.len() > 0).fill_null(False)
    return np.where(is_known.to_numpy(), has.fill_null(False).to_numpy(), np.nan)


@dataclass(frozen=True, slots=True)
class Interactions:
    """The training interactions, user by user; a pair that comes twice is kept once.

    User `u` has the items `items[offsets[u]:offsets[u + 1]]`, in the order of their codes.

    Parameters
    ----------
    user_ids, item_ids : distinct, sorted
    offsets : (n_users + 1,)
    items : (n_interactions,), positions in `item_ids`
    """

    user_ids: pl.Series
    item_ids: pl.Series
    offsets: IntArray
    items: CodeArray

    def users_at(self, user_ids: pl.Series) -> IntArray:
        """Position of each user here, -1 for one without history."""
        return find_positions(user_ids, self.user_ids).astype(np.int64)

    def items_at(self, item_ids: pl.Series) -> IntArray:
        """Position of each item here, -1 for one without interactions."""
        return find_positions(item_ids, self.item_ids).astype(np.int64)


_LEAK, _TIMES = 0.5, 3
"""A leak: this share of relevant candidates in histories, and this multiple of that of others."""


def find_leak(
    history: Interactions, candidates: CandidateLists, user_ids: pl.Series, where: str
) -> str:
    """A warning where the history holds what is relevant; empty where it does not.

    Parameters
    ----------
    user_ids : of each list
    """
    if candidates.labels is None:
        return ""
    n_items = len(history.item_ids)
    users = np.repeat(history.users_at(user_ids), np.diff(candidates.offsets))
    items = history.items_at(candidates.item_ids)[candidates.items]
    owners = np.repeat(np.arange(len(history.user_ids)), np.diff(history.offsets))
    pairs = np.where((users >= 0) & (items >= 0), users * n_items + items, -1)
    is_known = np.isin(pairs, owners * n_items + history.items)
    is_relevant = candidates.labels > 0
    of_relevant = is_known[is_relevant].sum() / max(is_relevant.sum(), 1)
    of_others = is_known[~is_relevant].sum() / max((~is_relevant).sum(), 1)
    if of_relevant <= max(_LEAK, _TIMES * of_others):
        return ""
    return (
        f"{CHECK_FIRST}{of_relevant:.0%} of the relevant candidates are in their user's history in "
        f"{where}, and {of_others:.0%} of the others, so a re-ranker may learn the answers: give "
        "the interactions from before those held out"
    )


def history_lengths(table: Table, user_ids: pl.Series) -> IntArray:
    """(n_users,), training interactions of each user, 0 for one who is not in the table."""
    frame = table.read({"user_id": table.require("user_id")})
    n_rows = _sum_per_user(table, frame["user_id"], user_ids, np.ones(frame.height, dtype=np.int64))
    return n_rows.astype(np.int64)


def _sum_per_user(
    table: Table, users: pl.Series, user_ids: pl.Series, numbers: IntArray
) -> FloatArray:
    """(n_users,), the sum of whole numbers over the rows of each user, exact in any order."""
    heads, bounds = find_runs(users)
    owner = find_positions(table.user_keys(heads), user_ids)
    known = owner >= 0
    sums = np.add.reduceat(numbers, bounds[:-1])[known].astype(np.float64)
    return np.bincount(owner[known], sums, minlength=len(user_ids)).astype(np.float64)


def read_history(table: Table) -> Interactions:
    """The interactions of a table with `user_id` and `item_id`."""
    frame = table.read({name: table.require(name) for name in ("user_id", "item_id")})
    users, user_ids = encode_ids(frame["user_id"], table.where)
    items, item_ids = encode_ids(frame["item_id"], table.where)
    pairs = np.unique(users.astype(np.int64) * len(item_ids) + items)
    n_per_user = np.bincount(pairs // len(item_ids), minlength=len(user_ids))
    offsets = list_bounds(n_per_user)
    return Interactions(user_ids, item_ids, offsets, (pairs % len(item_ids)).astype(np.int32))


HEAD = 0.2
"""The share of items that are the popular ones; the others are the long tail."""


@dataclass(frozen=True, slots=True)
class Popularity:
    """How often items were interacted with in training, in percent of all interactions.

    Parameters
    ----------
    per_item : (n_items,), 0 for an item without interactions
    history_per_user : (n_users,), mean popularity of a user's own history; NaN without one
    percent : of one interaction
    is_head : (n_items,), whether an item is among the most popular fifth of those in the history
    """

    per_item: FloatArray
    history_per_user: FloatArray
    percent: float
    is_head: BoolArray

    def for_lists(self, lists: IntArray) -> Popularity:
        """The same for the users of some candidate lists, in that order."""
        return replace(self, history_per_user=self.history_per_user[lists])


def read_popularity(
    table: Table, item_ids: pl.Series, user_ids: pl.Series
) -> tuple[Popularity, Note]:
    """Popularity of the candidate items and of the history of the audited users."""
    frame = table.read({name: table.require(name) for name in ("user_id", "item_id")})
    codes, keys = encode_ids(frame["item_id"], table.where)
    if table.row_slice is None:
        n_per_item = np.bincount(codes, minlength=len(keys))
    else:
        # what is popular is so among all users
        keys_here, (keys, n_per_item) = keys, table.row_slice.read_item_counts()
        codes = find_positions(keys_here, keys)[codes]
    percent = 100 / int(n_per_item.sum())

    at = find_positions(item_ids, keys)
    per_item = np.where(at >= 0, n_per_item[np.maximum(at, 0)] * percent, 0.0)

    users = frame["user_id"]
    n_interactions = _sum_per_user(table, users, user_ids, np.ones(len(users), dtype=np.int64))
    total = _sum_per_user(table, users, user_ids, n_per_item[codes])
    undefined = np.full(len(user_ids), np.nan)
    history = np.divide(total * percent, n_interactions, out=undefined, where=n_interactions > 0)
    table.expect(
        "users",
        bool((n_interactions > 0).any()),
        f"{table.where}: none of the audited users has a row there. "
        "Check that its user ids are those of the predictions.",
    )
    absent = f"{N} of {N} candidate items do not occur in {table.where}; their popularity is 0"
    note = note_items(absent, int((at < 0).sum()), len(item_ids))
    is_head = (at >= 0) & most_popular(n_per_item)[np.maximum(at, 0)]
    return Popularity(per_item, history, percent, is_head), note


def most_popular(n_per_item: IntArray) -> BoolArray:
    """(n_items,), whether each is in the fifth with most interactions; ties in their order.

    >>> most_popular(np.array([1, 9, 3, 9, 1])).tolist()
    [False, True, False, False, False]
    """
    is_head = np.zeros(len(n_per_item), dtype=bool)
    is_head[np.argsort(-n_per_item, kind="stable")[: round(HEAD * len(n_per_item))]] = True
    return is_head


@dataclass(frozen=True, slots=True)
class UserProfiles:
    """Category codes and shares of histories: `codes[offsets[p]:offsets[p + 1]]` of `p`.

    An item counts with an equal share for each of its categories; the shares of a profile sum to 1.

    Parameters
    ----------
    value_of_lists : (n_lists,), the profile of each list's user, -1 without history
    """

    offsets: IntArray
    codes: CodeArray
    shares: FloatArray
    value_of_lists: IntArray

    @property
    def n_codes(self) -> int:
        """One more than the highest code."""
        return int(self.codes.max(initial=-1)) + 1

    def for_lists(self, lists: IntArray) -> UserProfiles:
        """The same for some lists, in that order."""
        return replace(self, value_of_lists=self.value_of_lists[lists])


def read_user_profiles(history: Table, items: Table, user_ids: pl.Series) -> UserProfiles:
    """The profiles of some users, in the order of their lists."""
    interactions = read_history(history)
    categories, _ = read_categories(items, interactions.item_ids)
    return compute_user_profiles(interactions, categories, interactions.users_at(user_ids))


def compute_user_profiles(
    history: Interactions, categories: Categories, value_of_lists: IntArray
) -> UserProfiles:
    """The profiles of all users of a history."""
    n_users, n_codes = len(history.user_ids), int(categories.codes.max(initial=-1)) + 1
    owners = np.repeat(np.arange(n_users), np.diff(history.offsets))
    n_of_item = np.diff(categories.offsets)[history.items]
    users = np.repeat(owners, n_of_item)
    codes = gather_lists(categories.codes, categories.offsets, history.items.astype(np.int64))
    weights = np.repeat(1 / np.maximum(n_of_item, 1), n_of_item)
    pairs, pair_of_row = np.unique(users * n_codes + codes, return_inverse=True)
    user_of_pair, code_of_pair = np.divmod(pairs, max(n_codes, 1))
    shares = np.bincount(pair_of_row, weights) / np.bincount(users, weights)[user_of_pair]
    offsets = list_bounds(np.bincount(user_of_pair, minlength=n_users))
    return UserProfiles(offsets, code_of_pair.astype(np.int32), shares, value_of_lists)


@dataclass(frozen=True, slots=True)
class OtherLists:
    """Another ranked list of each user: list `u` has `items[offsets[u]:offsets[u + 1]]`.

    Parameters
    ----------
    offsets : (n_lists + 1,); a user without another list has an empty one
    items : best first, positions among the candidate items; further ones are no candidates
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
) -> tuple[OtherLists, Note]:
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
    # items that are no candidates come behind those that are
    at = find_positions(read.item_ids, item_ids).astype(np.int64)
    is_new = at < 0
    at[is_new] = len(item_ids) + np.arange(is_new.sum())
    n_items = len(item_ids) + int(is_new.sum())
    # the empty list behind all others is that of users without one
    list_of_row = np.full(len(everyone.keys), read.n_users, dtype=np.int64)
    list_of_row[rows] = np.arange(read.n_users)
    offsets = np.concatenate([other.offsets, other.offsets[-1:]])
    items = at[other.items].astype(np.int32)
    found = OtherLists(offsets, items, n_items).for_lists(list_of_row[row_of_list])
    n_without = int((np.diff(found.offsets) == 0).sum())
    text = f"{N} of {N} users have no list in {table.where}, so nothing to compare theirs with"
    return found, Note(text, (n_without, len(row_of_list)))


@dataclass(frozen=True, slots=True)
class SideData:
    """What a metric may need beyond the ranked lists.

    Parameters
    ----------
    values : (n_lists,) each, given numbers, by name
    per_item : (n_items,) each, what metrics ask of a column of the items; NaN where not known
    user_profiles : what users chose before, by categories
    against : other lists of the same users
    """

    categories: Categories | None = None
    popularity: Popularity | None = None
    notes: Notes = field(default=())
    values: Mapping[str, FloatArray] = field(default_factory=dict)
    per_item: Mapping[str, FloatArray] = field(default_factory=dict)
    user_profiles: UserProfiles | None = None
    against: OtherLists | None = None

    def for_lists(self, lists: IntArray) -> SideData:
        """The same for some candidate lists, in that order."""
        popularity = self.popularity and self.popularity.for_lists(lists)
        values = {name: column[lists] for name, column in self.values.items()}
        profiles = self.user_profiles and self.user_profiles.for_lists(lists)
        against = self.against and self.against.for_lists(lists)
        return replace(
            self, popularity=popularity, values=values, user_profiles=profiles, against=against
        )
