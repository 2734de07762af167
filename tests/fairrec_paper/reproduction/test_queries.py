from __future__ import annotations

import numpy as np
import pytest

from fairrec.search.loop import search
from fairrec.search.searcher import hyper_parameters
from fairrec_paper.reproduction.methods import QueryCounter
from tests.search.search_worlds import evidence_of, product_space, space_of


def searched(space, name):
    queries = QueryCounter()
    outcome = search(
        name,
        evidence_of(space, np.arange(space.n_users, dtype=float)),
        hyper_parameters(name, {}),
        seed=0,
        watch=queries.watch,
    )
    return queries, outcome


def diagonal(n=10):
    """Of all combinations of two attributes only those on the diagonal have users."""
    return space_of([range(n), range(n)], (n, n))


@pytest.mark.parametrize("name", ["themis", "testsgd", "random"])
def test_who_enumerates_looks_at_every_combination(name):
    queries, outcome = searched(diagonal(), name)
    assert queries.n == 100
    assert outcome.evidence.users_scored == 10


def test_who_knows_sizes_looks_at_groups_alone_and_one_pass_at_none():
    assert searched(diagonal(), "adaptive")[0].n == 10
    assert searched(diagonal(), "exact")[0].n == 0


@pytest.mark.parametrize("name", ["dpso", "pso", "fairas"])
def test_searches_count_each_combination_once_with_empty_ones(name):
    queries, outcome = searched(diagonal(), name)
    assert outcome.evidence.users_scored < queries.n <= 100
    full, _ = searched(product_space((4, 5)), name)
    assert full.n <= 20
