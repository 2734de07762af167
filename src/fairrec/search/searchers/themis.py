"""Themis (Galhotra, Brun and Meliou 2017): the full Cartesian product, one by one."""

from __future__ import annotations

from fairrec.search.searcher import NoHyperParameters, Task, searcher
from fairrec.search.searchers.listed import ListedGroups, in_order_of_values


@searcher("themis", "every combination in turn", searches_all=True)
def themis(task: Task, hyper: NoHyperParameters) -> ListedGroups:
    """The combinations in the order of their values; those without enough users cost nothing."""
    return in_order_of_values(task.space, task.space.full)
