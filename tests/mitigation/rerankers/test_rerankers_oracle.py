"""Every re-ranker against a slow loop that computes all anew for each place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairrec.scoring.ease import Ease
from tests.metrics.metric_lists import Candidate, World, random_world
from tests.mitigation.rerank_world import RerankWorld
from tests.mitigation.rerankers.slow_rerankers import (
    GREEDY,
    categories_of,
    dense_ease,
    dense_interactions,
    item_of,
    model_order,
)

SEEDS = st.integers(0, 10_000)
STRENGTHS = st.sampled_from([0.05, 0.3, 0.5, 0.85, 1.0])


def assert_greedy(world: RerankWorld, name: str, strength: float) -> None:
    """Each place has the most valuable of the rows left, below them the model's order."""
    order = world.order(name, strength)
    for one in range(world.lists.n_lists):
        rows, left = world.part(order, one), model_order(world, one)
        value = GREEDY[name](world, one, strength) if left else None
        if value is None:
            assert rows == left
            continue
        for place in range(min(world.lists.k, len(rows))):
            worth = {row: value(rows[:place], row) for row in left}
            best, taken = max(worth.values()), rows[place]
            assert worth[taken] == pytest.approx(best, abs=1e-9)
            # of candidates that differ in nothing the one the model has first is taken
            twins = [
                row
                for row in left
                if world.lists.scores[row] == world.lists.scores[taken]
                and categories_of(world, row) == categories_of(world, taken)
                and popularity_of(world, row) == popularity_of(world, taken)
            ]
            assert twins[0] == taken
            left.remove(taken)
        assert rows[world.lists.k :] == left


def popularity_of(world: RerankWorld, row: int) -> float:
    return float(world.lists.side.popularity.per_item[world.lists.items[row]])


@pytest.mark.parametrize("name", GREEDY)
@given(seed=SEEDS, strength=STRENGTHS, k=st.sampled_from([1, 3, 5, 20]), has_ties=st.booleans())
@settings(max_examples=15)
def test_each_place_is_filled_with_the_most_valuable_candidate(name, seed, strength, k, has_ties):
    drawn = random_world(np.random.default_rng(seed), n_users=8, n_items=15, has_ties=has_ties)
    assert_greedy(RerankWorld(drawn, k=k), name, strength)


def slow_order(world: RerankWorld, name: str, one: int, strength: float) -> list[int]:
    """The whole order of one list by the slow loop."""
    left, chosen = model_order(world, one), []
    value = GREEDY[name](world, one, strength) if left else None
    if value is None:
        return left
    while left and len(chosen) < world.lists.k:
        best = max(left, key=lambda row: value(chosen, row))
        chosen.append(best)
        left.remove(best)
    return [*chosen, *left]


@pytest.mark.parametrize("name", GREEDY)
@pytest.mark.parametrize("seed", range(5))
def test_without_ties_the_order_is_that_of_the_slow_loop(name, seed):
    rng = np.random.default_rng(seed)
    drawn = random_world(rng, n_users=15, n_items=15)
    users = [[Candidate(c.item, rng.random(), c.label) for c in one] for one in drawn.users]
    world = RerankWorld(World(users, drawn.categories, drawn.history), k=4)
    for strength in (0.1, 0.5, 0.9):
        order = world.order(name, strength)
        for one in range(world.lists.n_lists):
            assert world.part(order, one) == slow_order(world, name, one, strength)


def test_ease_scores_are_those_of_the_dense_formula():
    world = RerankWorld(random_world(np.random.default_rng(1)))
    x = dense_interactions(world)
    users, items = np.nonzero(np.ones_like(x))
    for penalty in (0.5, 50.0, 1000.0):
        # a pair that comes twice counts once
        twice = [np.repeat(part, 2) for part in np.nonzero(x)]
        scores = Ease.fit(*twice, *x.shape, penalty).score(users, items)
        assert scores == pytest.approx(dense_ease(x, penalty).ravel(), abs=1e-9)


def test_item_of_reads_the_item_behind_a_row():
    world = RerankWorld(random_world(np.random.default_rng(0), n_users=5))
    rows = [c.item for one in world.world.users for c in one]
    assert [item_of(world, row) for row in range(len(rows))] == rows
