from __future__ import annotations

import numpy as np
import pytest

from fairrec.search.loop import search
from fairrec.search.searcher import hyper_parameters
from fairrec_paper.reproduction.queries import Queries
from tests.search.search_worlds import evidence_of, gap_found, product_space, space_of


def searched(space, name, limit=None, seed=0, hyper=None, values=None):
    queries = Queries(limit)
    values = np.arange(space.n_users, dtype=float) if values is None else values
    outcome = search(
        name,
        evidence_of(space, values),
        hyper_parameters(name, hyper or {}),
        seed=seed,
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


def test_order_of_values_meets_the_diagonal_at_its_places():
    # the places are 0, 11, 22, ..., so that 23 combinations hold three of them
    for limit, found in ((1, 1), (22, 2), (23, 3), (99, 9), (100, 10)):
        queries, outcome = searched(diagonal(), "themis", limit)
        assert (queries.n, outcome.evidence.users_scored) == (limit, found)


def test_random_order_finds_as_many_groups_as_its_share_of_combinations_in_the_mean():
    found = [
        searched(diagonal(), "random", 30, seed)[1].evidence.users_scored for seed in range(200)
    ]
    assert np.mean(found) == pytest.approx(3.0, abs=0.4)
    assert len(set(found)) > 3


@pytest.mark.parametrize("name", ["dpso", "pso", "fairas"])
def test_searches_count_each_combination_once_with_empty_ones(name):
    queries, outcome = searched(diagonal(), name)
    assert outcome.evidence.users_scored < queries.n <= 100
    full, _ = searched(product_space((4, 5)), name)
    assert full.n <= 20


@pytest.mark.parametrize("name", ["dpso", "pso", "fairas", "adaptive"])
@pytest.mark.parametrize("limit", [1, 7, 19])
def test_a_limit_is_kept_within_a_request_and_what_comes_before_is_the_same(name, limit):
    space = product_space((6, 7))
    rng = np.random.default_rng(3)
    values = rng.normal(size=space.n_users)
    queries, outcome = searched(space, name, limit, values=values)
    # all combinations are groups of one user, so that each query scores one
    assert queries.n == limit == outcome.evidence.users_scored
    more, whole = searched(space, name, values=values)
    assert more.n > limit
    assert gap_found(outcome) <= gap_found(whole)
    assert outcome.history.gaps == whole.history.gaps[: len(outcome.history.gaps)]
