"""Two opinions of the same candidates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pytest import approx

from fairrec.mitigation.rerankers import blends
from fairrec.mitigation.rerankers.blends import ItemKnn, SecondOpinion, blended_orders
from fairrec.scoring.ease import Ease
from tests.metrics.metric_lists import World, random_world, user
from tests.mitigation.rerank_world import RerankWorld
from tests.mitigation.rerankers.slow_rerankers import (
    blend_keys,
    dense_interactions,
    model_order,
    second_opinion,
)

LISTS = RerankWorld(World([user([0, 0, 0], [3, 2, 1])], {0: frozenset("a")}, [(0, 0)])).lists


def test_each_opinion_is_scaled_within_the_list_and_weighed_by_the_strength():
    # scores 3, 2, 1 are a, 0, -a and opinions 0, 0, 6 are -b, -b, 2b
    a, b = np.sqrt(3 / 2), np.sqrt(1 / 2)
    order = blended_orders(LISTS, np.array([0.0, 0.0, 6.0]))
    # the last passes the second where -(1 - s) a + 2 s b = -s b, the first where it is (1 - s) a
    past_second, past_first = a / (a + 3 * b), 2 * a / (2 * a + 3 * b)
    assert order(past_second - 0.01).tolist() == [0, 1, 2]
    assert order(past_second + 0.01).tolist() == [0, 2, 1]
    assert order(past_first - 0.01).tolist() == [0, 2, 1]
    assert order(past_first + 0.01).tolist() == [2, 0, 1]
    # at full strength the opinion decides, and equal ones keep the model's order
    assert blended_orders(LISTS, np.array([1.0, 2.0, 2.0]))(1.0).tolist() == [1, 2, 0]


@given(st.integers(0, 10_000), st.sampled_from([0.05, 0.3, 0.5, 0.85, 1.0]))
# its opinions of one list are equal but for rounding
@example(seed=259, strength=0.85)
@settings(max_examples=20)
def test_second_opinion_ranks_by_both(seed, strength):
    world = RerankWorld(random_world(np.random.default_rng(seed), n_users=12, n_items=15))
    order = world.order("second_opinion", strength)
    for one, opinion in enumerate(second_opinion(world)):
        keys = blend_keys(world, one, strength, opinion)
        rows = world.part(order, one)
        fallen = np.diff([keys[row] for row in rows])
        assert (fallen <= 1e-9).all()
        # where opinions are equal but for rounding, either may come first
        if (fallen < -1e-9).all():
            assert rows == sorted(model_order(world, one), key=lambda row: -keys[row])


def test_second_opinion_is_of_neighbours_for_a_large_catalogue(monkeypatch):
    world = RerankWorld(random_world(np.random.default_rng(0)))
    assert isinstance(SecondOpinion(world.training)._opinion, Ease)
    monkeypatch.setattr(blends, "LARGEST_EASE", 5)
    assert isinstance(SecondOpinion(world.training)._opinion, ItemKnn)
    # at full strength it ranks by what they say
    order = world.order("second_opinion", 1.0)
    x = dense_interactions(world)
    scores = x @ dense_similarity(x, 10.0, 50)
    n_compared = 0
    for one in np.flatnonzero(world.lists.user >= 0):
        at = world.lists.history_item[world.lists.items[world.part(order, one)]]
        said = np.where(at >= 0, scores[world.lists.user[one], at], 0.0)
        assert (np.diff(said) <= 1e-9).all()
        n_compared += len(said) > 1 and said[0] > said[-1]
    assert n_compared > 10


def dense_similarity(x: np.ndarray, shrinkage: float, n_neighbours: int) -> np.ndarray:
    """Cosine of the columns, drawn to 0, of the nearest alone; nothing is its own neighbour."""
    norm = np.sqrt((x**2).sum(axis=0))
    similarity = (x.T @ x) / (np.outer(norm, norm) + shrinkage)
    np.fill_diagonal(similarity, 0.0)
    for own in similarity:
        own[np.argsort(-own, kind="stable")[n_neighbours:]] = 0.0
    return similarity.T


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("n_at_once", "n_neighbours"), [(5, 3), (5, 50), (2048, 50)])
def test_scores_of_neighbours_are_those_of_the_dense_formula(
    seed, n_at_once, n_neighbours, monkeypatch
):
    rng = np.random.default_rng(seed)
    x = (rng.random((25, 12)) < rng.random(12)).astype(float)
    x[0] = 1.0
    # a pair that comes twice counts once
    twice = [np.repeat(part, 2) for part in np.nonzero(x)]
    monkeypatch.setattr(blends, "ITEMS_AT_ONCE", n_at_once)
    monkeypatch.setattr(blends, "N_NEIGHBOURS", n_neighbours)
    model = ItemKnn.fit(*twice, *x.shape)
    near = model.similarity.toarray()
    # of neighbours equally near any may be kept
    expected = dense_similarity(x, 10.0, n_neighbours).T
    assert np.sort(near) == approx(np.sort(expected), abs=1e-12)
    users, items = np.nonzero(np.ones_like(x))
    mixed = rng.permutation(len(users))
    scores = model.score(users[mixed], items[mixed])
    assert scores == approx((x @ near.T)[users[mixed], items[mixed]], abs=1e-12)
