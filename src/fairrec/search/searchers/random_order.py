"""The eligible combinations in random order: what any search must beat."""

from __future__ import annotations

from fairrec.search.searcher import NoHyperParameters, Task, searcher
from fairrec.search.searchers.listed import ListedGroups, in_random_order


@searcher("random", "combinations in random order", searches_all=True)
def random_order(task: Task, hyper: NoHyperParameters) -> ListedGroups:
    """Each eligible combination once."""
    return in_random_order(task.space, task.rng)
