"""Exchanges between a group's lists and the candidates below, the cheapest first."""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.core.threads import map_in_threads
from fairrec.mitigation.reranker import Orders, RerankLists, TrainingSet, reranker

MOST_EXACT = 200
"""Candidates of a group that could be chosen, up to which the optimum is found."""
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

    The strength is that share. The lists of a group are settled together: which items stand in
    them is an integer programme with one condition, on the group's mean. It is solved exactly for
    small groups; for large ones exchanges are made in order of loss per gain, which is optimal
    but for the last exchange.
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
                rows, bounds = _gather_rows(lists.offsets, members)
                # of equals the one that the model has first is taken
                rows = lists.by_score[rows]
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
    """Which items stand in the lists: most relevance in all with a total gain of `target`.

    Parameters
    ----------
    bounds : list `u` has the rows `bounds[u]:bounds[u + 1]`, of which up to `k` are chosen
    target : where it is out of reach, the lists with most gain
    """
    most = _best_at(gain, relevance, bounds, k)
    reach = float(gain[most].sum())
    slack = 1e-9 * max(1.0, abs(reach), abs(target))
    if target >= reach - slack:
        return most
    cheap = _by_price(relevance, gain, bounds, k, target)
    # a list has at least k candidates that could be chosen, so there is no need to count them
    if (len(bounds) - 1) * k > MOST_EXACT:
        return cheap
    rows = np.flatnonzero(_may_be_chosen(relevance, gain, bounds, k))
    return (
        cheap
        if len(rows) > MOST_EXACT
        else _exactly(relevance, gain, bounds, k, target, rows, cheap)
    )


def _by_price(
    relevance: FloatArray, gain: FloatArray, bounds: IntArray, k: int, target: float
) -> BoolArray:
    """Exchanges in order of their loss per gain until the target is reached.

    At a price every list takes its best items by relevance + price * gain. Two near prices, one
    too low and one high enough, enclose the last exchanges.
    """
    low, high = 0.0, 1.0
    below = _best_at(relevance, relevance, bounds, k)
    while gain[above := _best_at(relevance + high * gain, relevance, bounds, k)].sum() < target:
        low, below, high = high, above, 4 * high
        if high > 1e12:
            return _best_at(gain, relevance, bounds, k)
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


def _exactly(
    relevance: FloatArray,
    gain: FloatArray,
    bounds: IntArray,
    k: int,
    target: float,
    rows: IntArray,
    cheap: BoolArray,
) -> BoolArray:
    """The optimum over some rows, or `cheap` where the solver gives none."""
    n_lists, n_rows = len(bounds) - 1, len(rows)
    owner = np.repeat(np.arange(n_lists), np.diff(bounds))[rows]
    full = coo_array((np.ones(n_rows), (owner, np.arange(n_rows))), shape=(n_lists, n_rows))
    places = np.minimum(np.diff(bounds), k)
    scale = float(np.abs(gain).max()) or 1.0
    solved = milp(
        -relevance[rows],
        integrality=np.ones(n_rows),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(full.tocsr(), places, places),
            LinearConstraint(gain[None, rows] / scale, target / scale, np.inf),
        ],
        # no limit of time, or results would depend on the machine; its presolve may print
        options={"mip_rel_gap": 0, "node_limit": 10_000, "presolve": False},
    )
    if solved.x is None:
        return cheap
    exact = np.zeros(len(relevance), dtype=np.bool_)
    exact[rows] = solved.x > 0.5
    # the solver may miss the target by its tolerance; a list that meets it is preferred
    is_better = relevance[exact].sum() > relevance[cheap].sum() + 1e-9
    return exact if is_better and gain[exact].sum() >= target - 1e-6 * scale else cheap


@kernel
def _may_be_chosen(relevance: FloatArray, gain: FloatArray, bounds: IntArray, k: int) -> BoolArray:
    """(n_rows,), rows with fewer than k others in their list that are as good in both respects.

    With k such others in the list, one of them is left out and could take the row's place.
    """
    may = np.ones(len(relevance), dtype=np.bool_)
    for one in range(len(bounds) - 1):
        for row in range(bounds[one], bounds[one + 1]):
            n_better = 0
            for other in range(bounds[one], bounds[one + 1]):
                if other == row or relevance[other] < relevance[row] or gain[other] < gain[row]:
                    continue
                is_equal = relevance[other] == relevance[row] and gain[other] == gain[row]
                # of equals the first one stands before the others
                n_better += not is_equal or other < row
            may[row] = n_better < k
    return may


def _gather_rows(offsets: IntArray, members: IntArray) -> tuple[IntArray, IntArray]:
    """The rows of some lists, one list after the other, and their bounds."""
    lengths = offsets[members + 1] - offsets[members]
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    rows = np.arange(bounds[-1]) + np.repeat(offsets[members] - bounds[:-1], lengths)
    return rows, bounds


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
