"""TestSGD (Zhang, Sun, Wang and Sun 2022): every combination with a share of at least theta."""

from __future__ import annotations

from dataclasses import dataclass

from fairrec.search.searcher import Task, require, searcher
from fairrec.search.searchers.listed import ListedGroups, in_order_of_values


@dataclass(frozen=True, slots=True)
class TestSGDParameters:
    """theta: combinations with a smaller share of the users are left out."""

    __test__ = False
    theta: float = 0.01

    def __post_init__(self) -> None:
        require(0 <= self.theta <= 1, "theta", self.theta, "a share from 0 to 1")


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
    return in_order_of_values(space, space.full[is_large])


testsgd.__test__ = False
