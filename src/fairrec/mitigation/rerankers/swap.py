"""Exchanges between a group's lists and the candidates below, the cheapest first."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.core.threads import map_in_threads
from fairrec.inputs.ids import gather_lists
from fairrec.mitigation.reranker import Orders, RerankLists, TrainingSet, reranker

_NEAR = 1e-3
"""Prices this near, as a share, differ in few exchanges, which are then made one by one."""
_NOTHING = 1e-12


@reranker(
    "swap",
    "the cheapest exchanges that bring the group's popularity bias to that of the others",
    serves=("urp",),
    needs=("history",),
)
class Swap:
    """Least total loss of relevance that closes a share of the group's gap in URP.

    The strength is that share. The lists of a group are chosen together: their items are the
    solution of an integer programme with one condition, on the group's mean. Exchanges are made in
    order of loss per gain, which is optimal but for the last exchange.
    """

    def __init__(self, training: TrainingSet) -> None:
        self._rest = training.rest or 0.0

    def orders(self, lists: RerankLists) -> Orders:
        """The order at each strength; a user without history keeps the model's."""
        popularity = lists.side.popularity
        assert popularity is not None
        lengths = np.diff(lists.offsets)
        is_top = _in_top(lists)
        # what each row adds to the mean popularity of its list
        per_list = np.maximum(np.minimum(lengths, lists.k), 1)
        part = popularity.per_item[lists.items] / np.repeat(per_list, lengths)
        in_list = np.add.reduceat(np.append(np.where(is_top, part, 0.0), 0.0), lists.offsets[:-1])
        bias = np.where(lengths == 0, np.nan, in_list) - popularity.history_per_user
        known = np.flatnonzero(~np.isnan(bias))
        by_group = known[np.argsort(lists.group[known], kind="stable")]
        bounds = np.flatnonzero(np.diff(lists.group[by_group])) + 1
        groups = np.split(by_group, bounds) if len(known) else []

        def order(strength: float) -> IntArray:
            """The chosen items of each list in the model's order, then the others in it."""
            chosen = is_top.astype(np.float64)

            def settle(members: IntArray) -> None:
                """Mark the items in the lists of one group."""
                distance = float(bias[members].mean()) - self._rest
                needed = strength * abs(distance) * len(members)
                if needed <= 0:
                    return
                # of equals the one that the model has first is taken
                rows = gather_lists(lists.by_score, lists.offsets, members)
                bounds = np.concatenate([[0], np.cumsum(lengths[members])])
                # how much nearer to the rest an item brings the group
                gain = -np.sign(distance) * part[rows]
                target = float(gain[is_top[rows]].sum()) + needed
                chosen[rows] = choose(lists.relevance[rows], gain, bounds, lists.k, target)

            for _ in map_in_threads(settle, groups, lists.threads):
                pass
            return lists.sorted_by(chosen)

        return order


def choose(
    relevance: FloatArray, gain: FloatArray, bounds: IntArray, k: int, target: float
) -> BoolArray:
    """The items of the lists: most relevance in all with a total gain of `target`.

    Exchanges are made in order of their loss per gain until the target is reached. At a price
    every list takes its best items by relevance + price * gain. Two near prices, one too low and
    one high enough, enclose the last exchanges.

    Parameters
    ----------
    bounds : list `u` has the rows `bounds[u]:bounds[u + 1]`, of which up to `k` are chosen
    target : where it is out of reach, the lists with most gain
    """
    most = _best_at(gain, relevance, bounds, k)
    reach = float(gain[most].sum())
    if target >= reach - 1e-9 * max(1.0, abs(reach), abs(target)):
        return most
    low, high = 0.0, 1.0
    below = _best_at(relevance, relevance, bounds, k)
    while gain[above := _best_at(relevance + high * gain, relevance, bounds, k)].sum() < target:
        low, below, high = high, above, 4 * high
        if high > 1e12:
            return most
    # where exchanges cost nothing the price goes towards 0, which no share of it ends
    while high - low > _NEAR * high and high > _NOTHING:
        price = (low + high) / 2
        taken = _best_at(relevance + price * gain, relevance, bounds, k)
        if gain[taken].sum() >= target:
            high, above = price, taken
        else:
            low, below = price, taken
    return _exchange(relevance, gain, bounds, below, above, target)


def _exchange(
    relevance: FloatArray,
    gain: FloatArray,
    bounds: IntArray,
    below: BoolArray,
    above: BoolArray,
    target: float,
) -> BoolArray:
    """From lists that miss the target towards lists that reach it, the cheapest exchange first."""
    owner = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    side = above.astype(np.float64) - below
    differs = np.unique(owner[side != 0])
    more = np.bincount(owner, side * gain)[differs]
    loss = -np.bincount(owner, side * relevance)[differs]
    chosen = below.copy()
    reached = float(gain[below].sum())
    for one in differs[np.argsort(loss / np.maximum(more, 1e-300), kind="stable")]:
        if reached >= target:
            break
        rows = slice(bounds[one], bounds[one + 1])
        reached += float(gain[rows][above[rows]].sum() - gain[rows][below[rows]].sum())
        chosen[rows] = above[rows]
    return chosen if gain[chosen].sum() >= target else above


def _in_top(lists: RerankLists) -> BoolArray:
    """(n_rows,), whether a row is among the first k of its list."""
    place = np.arange(len(lists.items)) - np.repeat(lists.offsets[:-1], np.diff(lists.offsets))
    is_top = np.zeros(len(lists.items), dtype=bool)
    is_top[lists.by_score[place < lists.k]] = True
    return is_top


@kernel
def _best_at(keys: FloatArray, ties: FloatArray, bounds: IntArray, k: int) -> BoolArray:
    """(n_rows,), the k rows of each list with the largest keys, of equal ones the most relevant."""
    best = np.zeros(len(keys), dtype=np.bool_)
    top = np.empty(k, dtype=np.int64)
    for one in range(len(bounds) - 1):
        held = 0
        for row in range(bounds[one], bounds[one + 1]):
            place = held if held < k else k - 1
            if held == k:
                last = top[k - 1]
                if keys[row] < keys[last] or (keys[row] == keys[last] and ties[row] <= ties[last]):
                    continue
            while place > 0:
                above = top[place - 1]
                if keys[row] < keys[above] or (
                    keys[row] == keys[above] and ties[row] <= ties[above]
                ):
                    break
                top[place] = above
                place -= 1
            top[place] = row
            held = min(held + 1, k)
        for place in range(held):
            best[top[place]] = True
    return best
