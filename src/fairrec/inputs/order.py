"""What puts a user's items in order: score (higher is better), rank (1 is best), place or id."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray, CodeArray, FloatArray, IntArray
from fairrec.core.errors import InputError, listed, plain
from fairrec.core.kernels import kernel
from fairrec.core.options import Blank, spell
from fairrec.inputs.columns import ALIASES, plain_name
from fairrec.inputs.tables import Table

if TYPE_CHECKING:
    from fairrec.inputs.candidates import CandidateLists


_ENOUGH_ROWS = 20
"""Fewer rows may run 1, 2, 3 by chance."""


def order_columns(table: Table, is_recommended: bool) -> dict[str, str]:
    """The columns that say the order: `score`, `rank`, or both where they have to agree.

    One that is mapped wins. A table of candidates has a score, and a rank beside it may be
    anything; of recommendations both are about the list.
    """
    score = table.find("score")
    if score is not None and table.is_mapped("score"):
        if plain_name(score).lower() in ("rank", *ALIASES["rank"]):
            raise InputError(
                f"{table.where}: '{plain(score)}' is a rank by its name, of which 1 is best, and "
                f"no score. Map it as one: {spell('columns', {'rank': score})}, or rename it."
            )
        return {"score": score}
    if score is not None and not (is_recommended or table.is_mapped("rank")):
        return {"score": score}
    rank = table.find("rank")
    if rank is not None and table.is_mapped("rank"):
        return {"rank": rank}
    both = {"score": score, "rank": rank}
    return {name: column for name, column in both.items() if column is not None}


def no_order(table: Table) -> InputError:
    """The error for one row a recommendation with nothing that orders them."""
    return InputError(
        f"{table.where}: needs a column 'score' (higher is better) or 'rank' (1 is best). "
        f"Columns here: {listed(table.columns)}. If one has another name, map "
        f"it: {spell('columns', {'score': Blank('NAME')})} or "
        f"{spell('columns', {'rank': Blank('NAME')})}"
    )


def scores_in_order(
    numbers: dict[str, FloatArray], columns: dict[str, str], offsets: IntArray, table: Table
) -> FloatArray:
    """(n_candidates,), scores in the order that the columns say, higher is better.

    Parameters
    ----------
    numbers : the columns `score` and `rank`, those that there are
    columns : their names in the table
    offsets : the lists; without any column their items are in order already
    """
    if not numbers:
        starts = np.repeat(offsets[:-1], np.diff(offsets))
        return (starts - np.arange(offsets[-1])).astype(np.float64)
    if "score" not in numbers:
        ranks, column = numbers["rank"], columns["rank"]
        if ranks.min(initial=0) < 0:
            raise InputError(
                f"{table.where}: '{plain(column)}' has values below 0 (such as {ranks.min():g}), "
                "and of ranks 1 is best. If higher is better, map it: "
                f"{spell('columns', {'score': column})}"
            )
        _refuse_constant(ranks, column, offsets, table)
        return -ranks
    scores = numbers["score"]
    if not table.is_mapped("score"):
        _refuse_ranks(scores, columns["score"], offsets, table)
    if "rank" in numbers:
        scores = _in_one_order(scores, numbers["rank"], columns, offsets, table.where)
    _refuse_constant(scores, columns["score"], offsets, table)
    return scores


def _refuse_constant(scores: FloatArray, column: str, offsets: IntArray, table: Table) -> None:
    """An error where no list has two different scores, so that there is no order to judge."""
    lengths = np.diff(offsets)
    if lengths.max(initial=0) < 2:
        return
    starts = offsets[:-1][lengths > 0]
    is_varied = np.maximum.reduceat(scores, starts) > np.minimum.reduceat(scores, starts)
    table.expect(
        "one score",
        bool(is_varied.any()),
        f"{table.where}: '{plain(column)}' is the same for all items of each user, so their order "
        "is not known. Give the score (higher is better) or the rank (1 is best) of each item.",
    )


def _in_one_order(
    scores: FloatArray, ranks: FloatArray, columns: dict[str, str], offsets: IntArray, where: str
) -> FloatArray:
    """The scores, or numbers by rank where equal scores need them; both have to agree."""
    lists = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    rows = np.lexsort((-scores, ranks, lists))
    # compared, not subtracted: a difference of the largest numbers is infinite
    by_rank, is_pair = scores[rows], np.diff(lists) == 0
    is_rising = is_pair & (by_rank[1:] > by_rank[:-1])
    is_new = by_rank[1:] != by_rank[:-1]
    if is_rising.any():
        n_other = len(np.unique(lists[1:][is_rising]))
        raise InputError(
            f"{where}: '{plain(columns['score'])}' and '{plain(columns['rank'])}' put the items of "
            f"{n_other:,} of {len(offsets) - 1:,} users in different orders. Choose one: "
            f"{spell('columns', {'rank': columns['rank']})} (1 is best) or "
            f"{spell('columns', {'score': columns['score']})} (higher is better)"
        )
    if not (is_pair & ~is_new).any():
        return scores
    # by rank, and by score where ranks are equal
    in_order = np.empty(len(scores))
    in_order[rows] = -np.cumsum(np.append(0, (np.diff(ranks[rows]) != 0) | is_new))
    return in_order


def _refuse_ranks(scores: FloatArray, column: str, offsets: IntArray, table: Table) -> None:
    """An error where every user's scores are whole numbers that rise row by row, as ranks do."""
    n_long = int((np.diff(offsets) > 1).sum())
    if not n_long:
        return
    is_rising = np.append(scores[1:] > scores[:-1], True)
    is_rising[offsets[1:] - 1] = True
    are_whole = ((scores >= 0) & (scores == np.floor(scores))).all()
    is_ranked = bool(is_rising.all() and are_whole)
    if is_ranked and (n_long < 2 or len(scores) < _ENOUGH_ROWS):
        return
    table.expect(
        "ranks",
        not is_ranked,
        f"{table.where}: '{plain(column)}' counts up in every user's list, as a rank does. "
        f"Map it: {spell('columns', {'rank': column})} (1 is best), or "
        f"{spell('columns', {'score': column})} (higher is better)",
    )


_BASIS, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)


def hash_ids(ids: pl.Series) -> AnyArray:
    """(n_ids,), 64 bits of the text of each id: the same in every table, process and version.

    >>> (hash_ids(pl.Series([7, 10])) == hash_ids(pl.Series(["7", "10"]))).tolist()
    [True, True]
    """
    text = ids.cast(pl.String)
    bounds = np.concatenate([[0], np.cumsum(text.str.len_bytes().to_numpy(), dtype=np.int64)])
    packed = str(text.str.join("")[0] or "").encode() if len(text) else b""
    hashes: AnyArray = _hash_texts(np.frombuffer(packed, dtype=np.uint8), bounds)
    return hashes


def tie_hashes(lists: CandidateLists) -> tuple[AnyArray, AnyArray]:
    """(n_lists,) and (n_items,), what orders equal scores: of each list's user and each item."""
    if lists.user_ids is None:
        return np.zeros(lists.n_users, dtype=np.uint64), hash_ids(lists.item_ids)
    return hash_ids(lists.user_ids), hash_ids(lists.item_ids)


def rows_in_order(lists: CandidateLists) -> IntArray:
    """(n_candidates,), the rows of each list from the best, equal scores by user and item."""
    users, items = tie_hashes(lists)
    owners = np.repeat(np.arange(lists.n_users), np.diff(lists.offsets))
    keys: Any = users[owners] * _FIRST + items[lists.items]
    return np.lexsort((_mixed(keys), -lists.scores, owners))


@kernel
def tied_rows(scores: FloatArray, best: IntArray, place: int, start: int, stop: int) -> IntArray:
    """The rows of a list whose score is that in a place.

    Parameters
    ----------
    best : the rows in the first places, in falling order
    start, stop : of the list, which may go on with equal scores below these places
    """
    end, n = place + 1, min(len(best), stop - start)
    while end < n and scores[best[end]] == scores[best[place]]:
        end += 1
    if end < len(best):
        return best[place:end].copy()
    return start + np.flatnonzero(scores[start:stop] == scores[best[place]])


@kernel
def sort_ties(
    tied: IntArray,
    offsets: IntArray,
    scores: FloatArray,
    items: CodeArray,
    user_hashes: AnyArray,
    item_hashes: AnyArray,
    best: IntArray,
) -> None:
    """Put rows of equal scores into the order of their users and items, where lists have some.

    Parameters
    ----------
    tied : positions of lists
    best : (n_lists, k), the rows in the first places of all lists
    """
    for one in tied:
        start, stop = offsets[one], offsets[one + 1]
        place, n = 0, min(best.shape[1], stop - start)
        while place < n:
            rows = tied_rows(scores, best[one], place, start, stop)
            inside = min(len(rows), n - place)
            if len(rows) > 1:
                order = _by_hash(rows, items, user_hashes[one], item_hashes)
                best[one, place : place + inside] = order[:inside]
            place += inside


@kernel
def _by_hash(
    rows: IntArray, items: CodeArray, user_hash: np.uint64, item_hashes: AnyArray
) -> IntArray:
    keys = np.empty(len(rows), dtype=np.uint64)
    for at in range(len(rows)):
        keys[at] = _mixed(user_hash * _FIRST + item_hashes[items[rows[at]]])
    return rows[np.argsort(keys)]


@kernel
def _hash_texts(packed: AnyArray, bounds: IntArray) -> AnyArray:
    """FNV-1a of each text, mixed so that every bit counts."""
    hashes = np.empty(len(bounds) - 1, dtype=np.uint64)
    for at in range(len(hashes)):
        key = _BASIS
        for byte in packed[bounds[at] : bounds[at + 1]]:
            key = (key ^ np.uint64(byte)) * _PRIME
        hashes[at] = _mixed(key)
    return hashes


@kernel
def _mixed(key: np.uint64) -> np.uint64:
    """The finaliser of SplitMix64."""
    key = (key ^ (key >> _30)) * _FIRST
    key = (key ^ (key >> _27)) * _SECOND
    return key ^ (key >> _31)


@dataclass(frozen=True, slots=True)
class TiedLists:
    """Lists with equal scores, of which chance decides what is in their first places.

    Parameters
    ----------
    k : the deepest cut-off of the metrics
    n_lists : of two or more candidates
    n_tied : an item in the first k places shares its score with another candidate
    n_at_cutoff : that in the last of these places does
    n_constant : all candidates have one score
    """

    k: int
    n_lists: int
    n_tied: int
    n_at_cutoff: int
    n_constant: int

    @property
    def is_without_order(self) -> bool:
        """Whether no list has two different scores."""
        return 0 < self.n_lists == self.n_constant

    def __add__(self, other: TiedLists) -> TiedLists:
        """Those of two parts of the lists."""
        counts = zip(astuple(self)[1:], astuple(other)[1:], strict=True)
        return TiedLists(self.k, *(one + two for one, two in counts))
