"""Fast metrics equal the slow loops, and are undefined in the same places."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from fairrec.metrics import METRICS, parse_metric
from fairrec.metrics.accuracy import pooled_auc as fast_pooled_auc
from fairrec.metrics.ranked import RankedLists
from tests.metrics.metric_lists import (
    World,
    asked_for,
    per_user,
    random_world,
    ranked_lists,
    world_values,
)
from tests.metrics.slow_metrics import (
    SLOW_FROM_LABELS,
    SLOW_FROM_SIDE_DATA,
    SLOW_FROM_THE_LISTS_ALONE,
    auc,
    n_orders,
    over_orders,
    pooled_auc,
)

LONGEST = 12
MOST_ORDERS = 24
"""Lists with more orders of equal scores would take a while."""
SLOW_FROM_CANDIDATES = SLOW_FROM_LABELS | SLOW_FROM_THE_LISTS_ALONE
CUTOFFS = [1, 2, 5, LONGEST, 3 * LONGEST]

WORLDS = {
    "graded labels and ties": {},
    "single targets": {"share_relevant": 0.1, "max_label": 1},
    "many positives": {"share_relevant": 0.8},
    "no positives": {"share_relevant": 0.0},
    "no ties": {"has_ties": False},
    "very short lists": {"max_length": 2},
    "long lists, both ways to count AUC": {"max_length": 40, "share_relevant": 0.5},
}


@cache
def world_called(name: str) -> World:
    return random_world(np.random.default_rng(11), **WORLDS[name])


@pytest.fixture(params=WORLDS)
def world(request) -> World:
    return world_called(request.param)


@cache
def lists_of(name: str, k: int) -> RankedLists:
    """The lists of a world, ranked as deep as an audit with this cut-off does."""
    world = world_called(name)
    return ranked_lists(world.users, world.categories, world.history, k)


def assert_same(fast, slow) -> None:
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("called", WORLDS)
@pytest.mark.parametrize("name", SLOW_FROM_CANDIDATES)
def test_metric_from_candidates_equals_the_slow_loop(name, called):
    users = world_called(called).users
    is_quick = np.array([n_orders(one) <= MOST_ORDERS for one in users])
    assert called.startswith("long") or is_quick.mean() > 0.5
    for k in CUTOFFS:
        slow = [
            over_orders(SLOW_FROM_CANDIDATES[name], one, k)
            for one, is_looked_at in zip(users, is_quick, strict=True)
            if is_looked_at
        ]
        fast = per_user(parse_metric(asked_for(name, k)), lists_of(called, k))
        assert_same(fast[is_quick], slow)


@pytest.mark.parametrize("called", WORLDS)
@pytest.mark.parametrize("name", SLOW_FROM_SIDE_DATA)
def test_metric_from_side_data_equals_the_slow_loop(name, called):
    world = world_called(called)
    for k in CUTOFFS:
        slow = [SLOW_FROM_SIDE_DATA[name](one, k, world) for one in world.users]
        assert_same(per_user(parse_metric(asked_for(name, k)), lists_of(called, k)), slow)


def test_auc_equals_the_slow_loop(world):
    assert_same(world_values("auc", world), [auc(candidates) for candidates in world.users])


def test_pooled_auc_equals_the_slow_loop(world):
    for users in (world.users, world.users[:3], world.users[:1]):
        candidates = ranked_lists(users).candidates
        assert_same(fast_pooled_auc(candidates.scores, candidates.labels), pooled_auc(users))


@pytest.mark.parametrize("called", WORLDS)
def test_a_deeper_metric_beside_it_changes_nothing(called):
    for name in (*SLOW_FROM_CANDIDATES, *SLOW_FROM_SIDE_DATA):
        metric = parse_metric(asked_for(name, 3))
        alone, shared = (per_user(metric, lists_of(called, k)) for k in (3, 20))
        np.testing.assert_array_equal(shared, alone, err_msg=name)


def test_the_worlds_hold_the_hard_cases():
    worlds = [random_world(np.random.default_rng(11), **options) for options in WORLDS.values()]
    users = [candidates for world in worlds for candidates in world.users if candidates]
    n_relevant = [sum(candidate.label > 0 for candidate in candidates) for candidates in users]
    assert any(not candidates for world in worlds for candidates in world.users)
    assert any(n == 0 for n in n_relevant)
    assert any(n == len(candidates) for n, candidates in zip(n_relevant, users, strict=True))
    assert any(8 < n < len(candidates) for n, candidates in zip(n_relevant, users, strict=True))
    assert any(len({c.score for c in candidates}) < len(candidates) for candidates in users)
    assert any(len({c.label for c in candidates}) > 2 for candidates in users)


def test_every_metric_has_a_slow_loop():
    slow = {*SLOW_FROM_CANDIDATES, *SLOW_FROM_SIDE_DATA, "auc", "pooled_auc"}
    # those of two lists have theirs in test_list_change
    of_two = {name for name in METRICS if "against_lists" in METRICS[name].needs}
    assert slow | of_two == set(METRICS)
