"""Searchers that know beforehand which groups they will look at."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from fairrec.core.arrays import IntArray
from fairrec.groups.grouping import EVERYONE, Grouping
from fairrec.search.evidence import Evidence
from fairrec.search.searcher import (
    NoHyperParameters,
    Request,
    Share,
    Task,
    hyper_dataclass,
    searcher,
)


class ListedGroups:
    """Asks for one group after the other, whatever their values.

    Parameters
    ----------
    n_queried : combinations looked at up to each group and, one number more, after the last
    """

    def __init__(self, groups: IntArray, n_queried: Sequence[int] | None = None) -> None:
        self._groups = groups
        self._n_queried = n_queried
        self._n_asked = 0

    def ask(self) -> Request:
        """The next group."""
        at, self._n_asked = self._n_asked, self._n_asked + 1
        groups = self._groups[at : at + 1]
        if self._n_queried is None or at > len(self._groups):
            return Request(groups)
        return Request(groups, n_queried=[self._n_queried[at], *[0] * len(groups)])

    def tell(self, request: Request, evidence: Evidence) -> None:
        """Nothing to learn."""


def list_by_values(space: Grouping, groups: IntArray) -> ListedGroups:
    """These intersections among all combinations, which are gone through by their values."""
    places = [0] * len(groups)
    for n, column in zip(space.cells.n_values, space.lattice.codes[groups].T.tolist(), strict=True):
        places = [place * n + code for place, code in zip(places, column, strict=True)]
    return ListedGroups(groups, _count_between(places, space.n_combinations))


def _count_between(places: Sequence[int], n: int) -> list[int]:
    """How many of `n` in a row are looked at up to each place, and after the last."""
    return [b - a for a, b in pairwise([-1, *places, n - 1])]


@searcher("exact", "scores all users", searches_all=True)
def exact(task: Task, hyper: NoHyperParameters) -> ListedGroups:
    """Everyone, once."""
    return ListedGroups(np.array([EVERYONE]))


@searcher("random", "combinations in random order", searches_all=True)
def random_order(task: Task, hyper: NoHyperParameters) -> ListedGroups:
    """Each eligible combination once, scattered at random among all combinations."""
    space, rng = task.space, task.rng
    groups = rng.permutation(space.full)
    n = min(space.n_combinations, 2**62)
    places = np.sort(rng.choice(n, len(groups), replace=False)).tolist()
    return ListedGroups(groups, _count_between(places, space.n_combinations))


@hyper_dataclass
class TestSGDParameters:
    """theta: combinations with a smaller share of the users are left out."""

    __test__ = False
    theta: Share = 0.01


@searcher(
    "testsgd",
    "every combination with a share of at least theta",
    hyper_parameters=TestSGDParameters,
    searches_all=True,
)
def testsgd(task: Task, hyper: TestSGDParameters) -> ListedGroups:
    """The large combinations in the order of their values."""
    # a share times a count may be a hair above a whole number
    space = task.space
    is_large = space.sizes >= hyper.theta * space.n_users - 1e-9
    return list_by_values(space, space.full[is_large])


testsgd.__test__ = False


@searcher("themis", "every combination in turn", searches_all=True)
def themis(task: Task, hyper: NoHyperParameters) -> ListedGroups:
    """The combinations in the order of their values; those without enough users cost nothing."""
    return list_by_values(task.space, task.space.full)
