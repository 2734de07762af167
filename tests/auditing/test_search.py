from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.groups.grouping import EVERYONE
from fairrec.search.searcher import SEARCHERS, Task, searcher
from fairrec.search.searchers.listed import ListedGroups
from tests.builders import make_tables


@pytest.fixture
def tasks() -> Iterator[list[Task]]:
    """What the searchers 'plain' and 'guided' were built for; they score everyone."""
    built: list[Task] = []

    def probe(task: Task, hyper: object) -> ListedGroups:
        built.append(task)
        return ListedGroups(np.array([EVERYONE]))

    searcher("plain", "notes its task", searches_all=True)(probe)
    searcher("guided", "notes its task", searches_all=True, uses_proxy=True)(probe)
    yield built
    SEARCHERS.remove("plain")
    SEARCHERS.remove("guided")


def audit(search: str, **options: Any) -> fairrec.AuditResult:
    tables = make_tables()
    given = {"users": tables.users, "by": "gender,member", "metrics": "auc"}
    given |= {"permutations": 19, "min_support": 1}
    return fairrec.audit(tables.predictions, **{**given, **options}, search=search)


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_a_searcher_knows_the_significance_level_of_the_audit(tasks, alpha):
    audit("plain", alpha=alpha)
    assert [task.alpha for task in tasks] == [alpha]


def test_the_history_is_read_only_for_a_searcher_that_uses_the_popularity_proxy(tasks):
    unusable = pl.DataFrame({"user_id": [1]})
    audit("plain", history=unusable)
    with pytest.raises(InputError, match="item_id"):
        audit("guided", history=unusable)


def test_the_popularity_proxy_is_computed_only_for_a_searcher_that_uses_it(tasks):
    # urp needs the history, whoever searches
    settings = {"history": make_tables().history, "metrics": "auc,urp"}
    audit("plain", **settings)
    audit("guided", **settings)
    assert [(task.evidence.proxy_variance > 0).tolist() for task in tasks] == [
        [False, False],
        [True, True],
    ]
