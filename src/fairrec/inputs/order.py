"""What puts a user's items in order: score (higher is better), rank (1 is best) or place."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.errors import InputError, listed, plain
from fairrec.core.kernels import kernel
from fairrec.core.options import Blank, spelled
from fairrec.inputs.tables import Table

_ENOUGH_ROWS = 20
"""Fewer rows may run 1, 2, 3 by chance."""


def order_columns(table: Table, is_recommended: bool) -> dict[str, str]:
    """The columns that say the order: `score`, `rank`, or both where they have to agree.

    One that is mapped wins. A table of candidates has a score, and a rank beside it may be
    anything; of recommendations both are about the list.
    """
    score = table.find("score")
    if score is not None and table.is_mapped("score"):
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
            return -numbers["rank"]
        starts = np.repeat(offsets[:-1], np.diff(offsets))
        return (starts - np.arange(offsets[-1])).astype(np.float64)
    scores = numbers["score"]
    if not table.is_mapped("score"):
        _refuse_ranks(scores, columns["score"], offsets, table.where)
    if "rank" in numbers:
        n_other = _n_in_another_order(offsets, scores, numbers["rank"])
        if n_other:
            raise InputError(
                f"{table.where}: '{plain(columns['score'])}' and '{plain(columns['rank'])}' put "
                f"the items of {n_other:,} of {len(offsets) - 1:,} users in different orders. Say "
                f"which counts: {spelled('columns', {'rank': columns['rank']})} (1 is best) or "
                f"{spelled('columns', {'score': columns['score']})} (higher is better)"
            )
    return scores


def _refuse_ranks(scores: FloatArray, column: str, offsets: IntArray, where: str) -> None:
    """An error where every user's scores count 1, 2, 3 down the list, as ranks do."""
    if len(scores) >= _ENOUGH_ROWS and len(offsets) > 2 and _all_count_up(offsets, scores):
        raise InputError(
            f"{where}: '{plain(column)}' counts up from {scores[0]:g} in every user's list, as a "
            "rank does, of which the first is best; of a score the highest is. Map it as what it "
            f"is: {spelled('columns', {'rank': column})}, or "
            f"{spelled('columns', {'score': column})} if higher is better"
        )


@kernel
def _all_count_up(offsets: IntArray, scores: FloatArray) -> bool:
    n_long = 0
    for one in range(len(offsets) - 1):
        start, stop = offsets[one], offsets[one + 1]
        if stop - start < 2:
            continue
        n_long += 1
        if scores[start] != 0 and scores[start] != 1:
            return False
        for row in range(start + 1, stop):
            if scores[row] != scores[row - 1] + 1:
                return False
    return n_long > 1


@kernel
def _n_in_another_order(offsets: IntArray, scores: FloatArray, ranks: FloatArray) -> int:
    """Lists in which an item of a better rank has a lower score."""
    n_lists = 0
    for one in range(len(offsets) - 1):
        start, stop = offsets[one], offsets[one + 1]
        row = start + 1
        while row < stop and ranks[row] > ranks[row - 1] and scores[row] <= scores[row - 1]:
            row += 1
        if row >= stop:
            # most lists come in their order
            continue
        order = np.argsort(ranks[start:stop], kind="mergesort")
        lowest = np.inf
        # of equal ranks any order will do, so that only what ranks better so far counts
        at = 0
        is_other = False
        while at < len(order) and not is_other:
            end = at
            least = np.inf
            while end < len(order) and ranks[start + order[end]] == ranks[start + order[at]]:
                score = scores[start + order[end]]
                is_other = is_other or score > lowest
                least = min(least, score)
                end += 1
            lowest = min(lowest, least)
            at = end
        n_lists += is_other
    return n_lists
