"""What a re-ranker is, and the table of all re-rankers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from fairrec.core.arrays import IntArray
from fairrec.core.registry import Registry
from fairrec.inputs.history import Interactions
from fairrec.inputs.side import Categories
from fairrec.metrics.registry import Need
from fairrec.mitigation.lists import RerankLists

Orders = Callable[[float], IntArray]
"""Strength from 0 to 1 -> the rows of each list in their new order."""
R = TypeVar("R", bound=type)


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """What a re-ranker may learn from: training interactions, never the targets.

    Parameters
    ----------
    history : None where there is none
    categories : of the items of the history, numbered as those of the lists
    group_of_user : (n_history_users,), the group to re-rank each user is in; -1 for none
    n_groups : groups to re-rank
    rest : mean of the metric over the users outside these groups, where it needs no labels
    """

    history: Interactions | None
    categories: Categories | None
    group_of_user: IntArray
    n_groups: int
    rest: float | None = None


class Reranker(Protocol):
    """Puts candidates into another order. Learns from training interactions when it is made."""

    def __init__(self, training: TrainingSet) -> None: ...

    def orders(self, lists: RerankLists) -> Orders:
        """How these lists are ordered at each strength; a strength of 0 is never asked for."""


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

    @property
    def is_upper_bound(self) -> bool:
        """It sees the labels, so it can only show how much there would be to gain."""
        return "labels" in self.needs


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
