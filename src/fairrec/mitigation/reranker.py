"""The lists that a re-ranker gets, the registry of re-rankers, and one fitted to a history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np

from fairrec.core.arrays import CodeArray, FloatArray, IntArray
from fairrec.core.errors import InputError
from fairrec.core.kernels import kernel
from fairrec.core.options import spell
from fairrec.core.registry import Registry
from fairrec.core.threads import chunks, map_in_threads
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.ids import gather_lists
from fairrec.inputs.order import rows_in_order
from fairrec.inputs.side_data import Interactions, SideData, find_leak, read_history
from fairrec.metrics.ranked import FEW_LISTS
from fairrec.metrics.registry import Need


@dataclass(frozen=True)
class RerankLists:
    """The candidates of the users to re-rank, as the model scored them, and never their labels.

    List `u` has the rows `offsets[u]:offsets[u + 1]`.

    Parameters
    ----------
    offsets : (n_lists + 1,)
    items : (n_rows,), positions of items in the side data
    scores : (n_rows,)
    by_score : (n_rows,), the rows of each list in the model's order
    side : categories and popularity, where there are any
    user : (n_lists,), position in the history; -1 without one
    history_item : (n_items,), position of each item in the history; -1 where it has none
    group : (n_lists,), which of the groups to re-rank the user belongs to
    k : how many places are re-ranked; below them the model's order stays
    """

    offsets: IntArray
    items: CodeArray
    scores: FloatArray
    by_score: IntArray
    side: SideData
    user: IntArray
    history_item: IntArray
    group: IntArray
    k: int
    threads: int = 1

    @property
    def n_lists(self) -> int:
        """The number of lists."""
        return len(self.offsets) - 1

    @cached_property
    def relevance(self) -> FloatArray:
        """(n_rows,), scores from 0 for the lowest to 1 for the highest of each list."""
        scaled = np.empty(len(self.scores))
        self.in_chunks(_to_unit, self.scores, scaled)
        return scaled

    def standardised(self, values: FloatArray) -> FloatArray:
        """(n_rows,), values with mean 0 and spread 1 in each list; 0 where all are equal."""
        scaled = np.empty(len(values))
        self.in_chunks(_standardise, values, scaled)
        return scaled

    def sorted_by(self, keys: FloatArray) -> IntArray:
        """Rows of each list by falling key; equal keys keep the model's order."""
        order = np.empty(len(keys), dtype=np.int64)
        self.in_chunks(_sort_rows, keys, self.by_score, order)
        return order

    def in_chunks(self, kernel: Callable[..., None], *arrays: Any) -> None:
        """Call `kernel(offsets, first list, *arrays)` for parts of the lists, in threads."""

        def work(part: slice) -> None:
            kernel(self.offsets[part.start : part.stop + 1], part.start, *arrays)

        parts = chunks(self.n_lists, self.threads, FEW_LISTS)
        for _ in map_in_threads(work, parts, self.threads):
            pass

    def scores_in(self, order: IntArray) -> FloatArray:
        """(n_rows,), scores that put the rows into this order.

        A list keeps its own scores, permuted among its rows; where the model's order stays, they
        stay to the last digit.
        """
        scores = self.scores.copy()
        self.in_chunks(_permute, self.by_score, order, self.scores, scores)
        return scores


@kernel
def _to_unit(offsets: IntArray, _first: int, values: FloatArray, scaled: FloatArray) -> None:
    for one in range(len(offsets) - 1):
        part = values[offsets[one] : offsets[one + 1]]
        if not len(part):
            continue
        low, width = part.min(), part.max() - part.min()
        for row in range(offsets[one], offsets[one + 1]):
            scaled[row] = (values[row] - low) / width if width > 0 else 0.0


@kernel
def _standardise(offsets: IntArray, _first: int, values: FloatArray, scaled: FloatArray) -> None:
    for one in range(len(offsets) - 1):
        part = values[offsets[one] : offsets[one + 1]]
        if not len(part):
            continue
        mean, spread = part.mean(), part.std()
        # a hair of spread among equal numbers is rounding
        is_flat = spread <= 1e-12 * np.abs(part).max()
        for row in range(offsets[one], offsets[one + 1]):
            scaled[row] = 0.0 if is_flat else (values[row] - mean) / spread


@kernel
def _sort_rows(
    offsets: IntArray, _first: int, keys: FloatArray, before: IntArray, order: IntArray
) -> None:
    for one in range(len(offsets) - 1):
        start, stop = offsets[one], offsets[one + 1]
        rows = before[start:stop]
        order[start:stop] = rows[np.argsort(-keys[rows], kind="mergesort")]


@kernel
def _permute(
    offsets: IntArray,
    _first: int,
    by_score: IntArray,
    order: IntArray,
    model: FloatArray,
    scores: FloatArray,
) -> None:
    for one in range(len(offsets) - 1):
        start, stop = offsets[one], offsets[one + 1]
        if np.array_equal(by_score[start:stop], order[start:stop]):
            continue
        last = np.inf
        for at in range(start, stop):
            # equal scores would leave the order to chance, so the later one gives way by a hair
            last = min(model[by_score[at]], np.nextafter(last, -np.inf))
            scores[order[at]] = last


Orders = Callable[[float], IntArray]
"""Strength from 0 to 1 -> the rows of each list in their new order."""
R = TypeVar("R", bound=type)


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """What a re-ranker may learn from: training interactions, never the targets.

    Parameters
    ----------
    history : None where there is none
    rest : mean of the metric over the users outside the groups, where it needs no labels
    """

    history: Interactions | None
    rest: float | None = None


class Reranker(Protocol):
    """Puts candidates into another order. Learns from training interactions when it is made."""

    def __init__(self, training: TrainingSet) -> None: ...

    def orders(self, lists: RerankLists) -> Orders:
        """The order of these lists at each strength above 0."""


@dataclass(frozen=True, slots=True)
class RerankerKind:
    """A registered re-ranker.

    Parameters
    ----------
    about : one line
    serves : metrics, without cut-off, that it is made for
    needs : what it cannot do without
    """

    build: Callable[[TrainingSet], Reranker]
    about: str
    serves: tuple[str, ...]
    needs: frozenset[Need]


RERANKERS: Registry[RerankerKind] = Registry("re-ranker", "fairrec.mitigation.rerankers")


def reranker(
    name: str, about: str, *, serves: tuple[str, ...] = (), needs: tuple[Need, ...] = ()
) -> Callable[[R], R]:
    """Register the decorated class under a name."""

    def register(build: R) -> R:
        RERANKERS.add(name, RerankerKind(build, about, serves, frozenset(needs)))
        return build

    return register


def default_reranker(metric: str) -> str | None:
    """The first re-ranker made for a metric, named without its cut-off.

    >>> default_reranker("urd"), default_reranker("ndcg")
    ('mmr', 'second_opinion')
    """
    return next((name for name in RERANKERS if metric in RERANKERS[name].serves), None)


class FittedReranker:
    """A re-ranker fitted to the history.

    Parameters
    ----------
    k : places that are re-ranked
    rest : mean of the metric over all others, where it aims at it
    inputs : the tables it learns from, without their labels
    """

    def __init__(
        self, name: str, k: int, rest: float | None, inputs: AuditInputs, threads: int = 1
    ) -> None:
        kind, tables = RERANKERS[name], inputs.tables
        self.rest, self._k, self._threads = rest, k, threads
        for need in ("items", "history"):
            if need in kind.needs and need not in tables:
                raise InputError(
                    f"The re-ranker '{name}' needs the {need} table. Give it as {spell(need)}."
                )
        self._history = read_history(tables["history"]) if "history" in tables else None
        self._reranker = kind.build(TrainingSet(self._history, rest))

    def rescore(
        self, inputs: AuditInputs, group_of_user: IntArray
    ) -> Callable[[float], FloatArray]:
        """Strength -> new scores of all candidates, those of users outside the groups as they are.

        Parameters
        ----------
        group_of_user : (n_users,), position of the group of each user to re-rank, -1 for others
        """
        users, model = np.flatnonzero(group_of_user >= 0), inputs.candidates.scores
        if not len(users):
            return lambda _: model
        lists = self._select_lists(inputs, users, group_of_user[users])
        offsets, orders = inputs.candidates.offsets, self._reranker.orders(lists)
        rows = gather_lists(np.arange(offsets[-1]), offsets, inputs.list_of_user[users])

        def at(strength: float) -> FloatArray:
            scores = model.copy()
            if strength > 0:
                scores[rows] = lists.scores_in(orders(strength))
            return scores

        return at

    def find_leak(self, inputs: AuditInputs) -> str:
        """A note where the history holds what is relevant; empty where it does not."""
        if self._history is None:
            return ""
        where = inputs.tables["history"].where
        return find_leak(self._history, inputs.candidates, inputs.ids_of_lists, where)

    def _select_lists(self, inputs: AuditInputs, users: IntArray, groups: IntArray) -> RerankLists:
        """The lists of some users, as a re-ranker sees them."""
        part, history = inputs.for_users(users), self._history
        candidates = part.candidates
        at_user, at_item = np.full(len(users), -1), np.full(len(candidates.item_ids), -1)
        if history is not None:
            at_user = history.users_at(part.user_ids)
            at_item = history.items_at(candidates.item_ids)
        return RerankLists(
            offsets=candidates.offsets,
            items=candidates.items,
            scores=candidates.scores,
            by_score=rows_in_order(candidates),
            side=part.side,
            user=at_user,
            history_item=at_item,
            group=groups,
            k=self._k,
            threads=self._threads,
        )
