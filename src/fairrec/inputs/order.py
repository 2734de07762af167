"""What puts a user's items in order: score (higher is better), rank (1 is best) or place."""

from __future__ import annotations

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.errors import InputError, listed, plain
from fairrec.core.kernels import kernel
from fairrec.core.options import Blank, spelled
from fairrec.inputs.columns import ALIASES, plain_name
from fairrec.inputs.notes import Note, RowsNote
from fairrec.inputs.tables import EXACT, Table

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
                f"no score. Map it as one: {spelled('columns', {'rank': score})}, or rename it."
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
        f"{table.where}: no column 'score' (higher is better) and none 'rank' (1 is best), so the "
        f"order is not known. Columns here: {listed(table.columns)}. If one has another name, map "
        f"it: {spelled('columns', {'score': Blank('NAME')})} or "
        f"{spelled('columns', {'rank': Blank('NAME')})}"
    )


def exact_order(
    values: pl.Series, column: str, table: Table, bounds: IntArray | None
) -> FloatArray:
    """The values as floats; where floats would make some of them equal, numbers in their order.

    Parameters
    ----------
    bounds : of the rows where each holds a list of values
    """
    numbers = table.numbers(values, column, bounds)
    is_wide = values.dtype.is_integer() and (numbers.abs().max() or 0) > EXACT  # type: ignore[operator]
    if not (is_wide or values.dtype.is_decimal()) or numbers.n_unique() == values.n_unique():
        return numbers.to_numpy()
    places = values.rank("dense").to_numpy().astype(np.float64)
    # between 0 and 1, where nothing looks like a rank
    return np.asarray(places / (places.max() + 1))


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
    if "score" not in numbers:
        if "rank" in numbers:
            _refuse_negative_ranks(numbers["rank"], columns["rank"], table)
            _refuse_constant(numbers["rank"], columns["rank"], offsets, table)
            return -numbers["rank"]
        starts = np.repeat(offsets[:-1], np.diff(offsets))
        return (starts - np.arange(offsets[-1])).astype(np.float64)
    scores = numbers["score"]
    if not table.is_mapped("score"):
        _refuse_ranks(scores, columns["score"], offsets, table)
    if "rank" in numbers:
        scores = _in_one_order(scores, numbers["rank"], columns, offsets, table.where)
    _refuse_constant(scores, columns["score"], offsets, table)
    return scores


def note_skipped_places(
    scores: FloatArray, offsets: IntArray, columns: dict[str, str], where: str
) -> Note:
    """How many lists have ranks beyond their length, so that rows may have been lost.

    Parameters
    ----------
    scores : as `scores_in_order` gives them, ranks below 0
    columns : those that say the order
    """
    words = (
        "",
        " of ",
        f" lists in {where} have a '{plain(columns.get('rank', ''))}' beyond their length, as if "
        "rows were left out; items count in the place that they have among the rows given",
    )
    lengths = np.diff(offsets)
    starts = offsets[:-1][lengths > 0]
    # ranks too large for floats came as fractions in their order
    if "score" in columns or "rank" not in columns or not len(starts) or scores.min() > -1:
        return RowsNote(words, (0, 0))
    last = -np.minimum.reduceat(scores, starts)
    first = min(1.0, -float(scores.max()))
    n_skipping = int((last - first + 1 > lengths[lengths > 0]).sum())
    return RowsNote(words, (n_skipping, len(starts)))


def _refuse_constant(scores: FloatArray, column: str, offsets: IntArray, table: Table) -> None:
    """An error where no list has two different scores, so that there is no order to judge."""
    look = _look_for_order(offsets, scores)
    if look > 0:
        table.clear("one score")
    elif look < 0:
        table.doubt(
            "one score",
            f"{table.where}: '{plain(column)}' is the same for all items of each user, so their "
            "order is not known. Give the score (higher is better) or the rank (1 is best) of "
            "each item.",
        )


def _in_one_order(
    scores: FloatArray, ranks: FloatArray, columns: dict[str, str], offsets: IntArray, where: str
) -> FloatArray:
    """The scores, or numbers by rank where equal scores need them; both have to agree."""
    is_apart = np.zeros(len(offsets) - 1, dtype=bool)
    _mark_out_of_place(offsets, scores, ranks, is_apart)
    if not is_apart.any():
        return scores
    # lists whose rows come in their order, which are most, need no sorting
    lengths = np.diff(offsets)
    rows = np.flatnonzero(np.repeat(is_apart, lengths))
    lists = np.repeat(np.arange(len(lengths)), lengths)[rows]
    rows = rows[np.lexsort((-scores[rows], ranks[rows], lists))]
    is_pair = np.diff(lists) == 0
    is_rising = is_pair & (np.diff(scores[rows]) > 0)
    if is_rising.any():
        n_other = len(np.unique(lists[1:][is_rising]))
        raise InputError(
            f"{where}: '{plain(columns['score'])}' and '{plain(columns['rank'])}' put the items of "
            f"{n_other:,} of {len(lengths):,} users in different orders. Say which counts: "
            f"{spelled('columns', {'rank': columns['rank']})} (1 is best) or "
            f"{spelled('columns', {'score': columns['score']})} (higher is better)"
        )
    if not (is_pair & (np.diff(scores[rows]) == 0)).any():
        return scores
    # by rank, and by score where ranks are equal
    lists = np.repeat(np.arange(len(lengths)), lengths)
    rows = np.lexsort((-scores, ranks, lists))
    is_next = (np.diff(ranks[rows]) != 0) | (np.diff(scores[rows]) != 0)
    in_order = np.empty(len(scores))
    in_order[rows] = -np.cumsum(np.append(0, is_next))
    return in_order


def _refuse_ranks(scores: FloatArray, column: str, offsets: IntArray, table: Table) -> None:
    """An error where every user's scores are 1, 2, 3 and so on, as ranks are."""
    look = _look_like_ranks(offsets, scores)
    if look < 0:
        table.clear("ranks")
    elif look and len(scores) >= _ENOUGH_ROWS and len(offsets) > 2:
        table.doubt(
            "ranks",
            f"{table.where}: '{plain(column)}' counts up in every user's list, as a rank does, of "
            "which the first is best; of a score the highest is. Map it as what it is: "
            f"{spelled('columns', {'rank': column})}, or "
            f"{spelled('columns', {'score': column})} if higher is better",
        )


def _refuse_negative_ranks(ranks: FloatArray, column: str, table: Table) -> None:
    if len(ranks) and ranks.min() < 0:
        raise InputError(
            f"{table.where}: '{plain(column)}' has values below 0 (such as {ranks.min():g}), and "
            "of ranks 1 is best. If higher is better, map it: "
            f"{spelled('columns', {'score': column})}"
        )


@kernel
def _look_for_order(offsets: IntArray, scores: FloatArray) -> int:
    """1 where a list has two different scores, -1 where none has, 0 where that cannot be told."""
    look = 0
    for one in range(len(offsets) - 1):
        for row in range(offsets[one] + 1, offsets[one + 1]):
            if scores[row] != scores[row - 1]:
                return 1
            look = -1
    return look


@kernel
def _look_like_ranks(offsets: IntArray, scores: FloatArray) -> int:
    """1 where all lists have rising whole numbers, or 1 to n in an order that no score has.

    -1 where one has not, 0 where that cannot be told. A score may well be n to 1 from the first
    row to the last: that list is in order.
    """
    n_lists, n_rising, n_falling = 0, 0, 0
    for one in range(len(offsets) - 1):
        start, stop = offsets[one], offsets[one + 1]
        n = stop - start
        if n < 2:
            continue
        n_lists += 1
        is_rising, is_falling, is_numbered, total = True, True, True, 0.0
        for row in range(start, stop):
            score = scores[row]
            if score != np.floor(score) or score < 0:
                return -1
            is_numbered = is_numbered and 1 <= score <= n
            total += score
            if row > start:
                is_rising = is_rising and score > scores[row - 1]
                is_falling = is_falling and score < scores[row - 1]
        if not is_rising and not (is_numbered and total == n * (n + 1) / 2):
            return -1
        n_rising += is_rising
        n_falling += is_falling
    return 1 if n_lists > 1 and n_falling < n_lists else 0


@kernel
def _mark_out_of_place(
    offsets: IntArray, scores: FloatArray, ranks: FloatArray, is_apart: BoolArray
) -> None:
    """Mark lists whose rows do not come by rising rank and falling score."""
    for one in range(len(offsets) - 1):
        for row in range(offsets[one] + 1, offsets[one + 1]):
            if not (ranks[row] > ranks[row - 1] and scores[row] < scores[row - 1]):
                is_apart[one] = True
                break
