from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import fairrec
from fairrec.search import SEARCHERS
from fairrec.search.searcher import Task, searcher
from fairrec.search.searchers.listed import ListedGroups
from fairrec.search.space import EVERYONE
from tests.builders import make_tables


@pytest.fixture
def tasks() -> Iterator[list[Task]]:
    """What the searcher 'probe' was built for; it scores everyone."""
    built: list[Task] = []

    @searcher("probe", "notes its task", searches_all=True)
    def probe(task: Task, hyper: object) -> ListedGroups:
        built.append(task)
        return ListedGroups(np.array([EVERYONE]))

    yield built
    SEARCHERS.remove("probe")


def audit(search: str, **options: Any) -> fairrec.AuditResult:
    tables = make_tables()
    given = {"users": tables.users, "by": "gender,member", "metrics": "auc", "permutations": 19}
    return fairrec.audit(tables.predictions, **{**given, **options}, search=search)


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_a_searcher_knows_the_significance_level_of_the_audit(tasks, alpha):
    audit("probe", alpha=alpha)
    assert [task.alpha for task in tasks] == [alpha]
