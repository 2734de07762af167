"""Two opinions of the same candidates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pytest import approx

from fairrec.mitigation.reranker import RERANKERS
from fairrec.mitigation.rerankers import blends as item_knn
from fairrec.mitigation.rerankers import blends as second_opinion_module
from fairrec.mitigation.rerankers.blends import (
    PRIOR,
    GroupPrior,
    ItemKnn,
    SecondOpinion,
    blended_orders,
)
from fairrec.scoring.ease import Ease
from tests.metrics.metric_lists import World, random_world, user
from tests.mitigation.rerank_world import RerankWorld
from tests.mitigation.rerankers.slow_rerankers import (
    BLENDS,
    blend_keys,
    dense_interactions,
    model_order,
)

SEEDS = st.integers(0, 10_000)
STRENGTHS = st.sampled_from([0.05, 0.3, 0.5, 0.85, 1.0])
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


def test_at_full_strength_the_opinion_decides_and_equal_ones_keep_the_models_order():
    assert blended_orders(LISTS, np.array([1.0, 2.0, 2.0]))(1.0).tolist() == [1, 2, 0]


@pytest.mark.parametrize("name", BLENDS)
@given(seed=SEEDS, strength=STRENGTHS)
# its opinions of one list are equal but for rounding
@example(seed=259, strength=0.85)
@settings(max_examples=20)
def test_blend_ranks_by_both_opinions(name, seed, strength):
    drawn = random_world(np.random.default_rng(seed), n_users=12, n_items=15)
    group = np.random.default_rng(seed).integers(0, 3, 12)
    world = RerankWorld(drawn, group=group)
    order = world.order(name, strength)
    for one, opinion in enumerate(BLENDS[name](world)):
        keys = blend_keys(world, one, strength, opinion)
        rows = world.part(order, one)
        fallen = np.diff([keys[row] for row in rows])
        assert (fallen <= 1e-9).all()
        # where opinions are equal but for rounding, either may come first
        if (fallen < -1e-9).all():
            assert rows == sorted(model_order(world, one), key=lambda row: -keys[row])


# users 0 and 2 are in group 0, users 1 and 3 in group 1; nobody had item 2
HISTORY = [(0, 1), (2, 1), (1, 0), (3, 0)]
WORLD = RerankWorld(World([user([0, 0, 0], [1, 2, 3])] * 4, {0: frozenset("a")}, HISTORY), k=3)


def test_few_interactions_of_a_group_weigh_little_beside_those_of_everyone():
    # each item has half of all interactions; group 0 has both of its own with item 1
    shares = np.exp(GroupPrior(WORLD.training)._log_share)
    half = PRIOR / 2
    expected = np.array([[half, half + 2], [half + 2, half]]) / (PRIOR + 2)
    assert WORLD.history.item_ids.to_list() == [0, 1]
    assert shares == approx(expected)


def test_each_user_gets_what_the_own_group_chose_and_what_nobody_had_counts_as_the_rarest():
    order = WORLD.order("group_prior", 1.0)
    # items 0 and 2 are equally rare in group 0, so the model has item 2 first
    assert [WORLD.part(order, one) for one in (0, 2)] == [[1, 2, 0], [7, 8, 6]]
    assert [WORLD.part(order, one) for one in (1, 3)] == [[3, 5, 4], [9, 11, 10]]


def test_second_opinion_turns_to_neighbours_for_a_large_catalogue(monkeypatch):
    world = RerankWorld(random_world(np.random.default_rng(0)))
    assert isinstance(SecondOpinion(world.training)._opinion, Ease)
    monkeypatch.setattr(second_opinion_module, "LARGEST_EASE", 5)
    assert isinstance(SecondOpinion(world.training)._opinion, ItemKnn)
    # it ranks by what they say: at full strength the keys are the scores of the neighbours
    order = world.order("second_opinion", 1.0)
    model = ItemKnn.fit(*np.nonzero(dense_interactions(world)), *dense_interactions(world).shape)
    n_compared = 0
    for one in np.flatnonzero(world.lists.user >= 0):
        rows = world.part(order, one)
        at = world.lists.history_item[world.lists.items[rows]]
        said = model.score(np.full(len(rows), world.lists.user[one]), np.maximum(at, 0))
        said[at < 0] = 0.0
        assert (np.diff(said) <= 1e-12).all()
        n_compared += len(rows) > 1 and said[0] > said[-1]
    assert n_compared > 10


def test_the_oracle_puts_relevant_items_first():
    world = RerankWorld(random_world(np.random.default_rng(2), n_users=50))
    shown = world.ranked_after(world.order("oracle", 1.0))
    np.testing.assert_array_equal(shown.labels(12), shown.ideal_labels(12))


def test_items_with_equal_labels_keep_the_models_order():
    world = RerankWorld(
        World([user([0, 1, 0, 2, 1], [9, 7, 5, 3, 1])], {0: frozenset("a")}, [(0, 0)]), k=5
    )
    assert world.order("oracle", 1.0).tolist() == [3, 1, 4, 0, 2]


def test_nothing_else_sees_the_labels():
    assert [name for name in RERANKERS if RERANKERS[name].is_upper_bound] == ["oracle"]


def dense_similarity(x: np.ndarray, shrinkage: float) -> np.ndarray:
    """Cosine of the columns, drawn to 0; nothing is its own neighbour."""
    norm = np.sqrt((x**2).sum(axis=0))
    similarity = (x.T @ x) / (np.outer(norm, norm) + shrinkage)
    np.fill_diagonal(similarity, 0.0)
    return similarity


def some_interactions(seed: int, n_users: int = 25, n_items: int = 12) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = (rng.random((n_users, n_items)) < rng.random(n_items)).astype(float)
    # every item has someone, one user has nothing
    x[0], x[-1] = 1.0, 0.0
    return x


def all_scores(model: ItemKnn, x: np.ndarray) -> np.ndarray:
    users, items = np.nonzero(np.ones_like(x))
    return model.score(users, items).reshape(x.shape)


@given(st.integers(0, 1000), st.sampled_from([0.5, 10.0, 100.0]))
@settings(max_examples=20)
def test_with_room_for_all_neighbours_scores_are_those_of_the_dense_formula(seed, shrinkage):
    x = some_interactions(seed)
    model = ItemKnn.fit(*np.nonzero(x), *x.shape, n_neighbours=50, shrinkage=shrinkage)
    assert all_scores(model, x) == approx(x @ dense_similarity(x, shrinkage), abs=1e-12)


@pytest.mark.parametrize("n_neighbours", [1, 3])
def test_only_its_nearest_neighbours_speak_for_an_item(n_neighbours):
    x = some_interactions(3, n_users=60)
    similarity = dense_similarity(x, 10.0)
    model = ItemKnn.fit(*np.nonzero(x), *x.shape, n_neighbours=n_neighbours)
    heard = np.zeros_like(similarity)
    for item, own in enumerate(similarity):
        part = slice(model.offsets[item], model.offsets[item + 1])
        # of neighbours equally near any may be kept
        assert model.similarity[part] == approx(np.sort(own)[::-1][:n_neighbours])
        assert own[model.neighbours[part]] == approx(model.similarity[part])
        heard[model.neighbours[part], item] = model.similarity[part]
    assert all_scores(model, x) == approx(x @ heard, abs=1e-12)


def test_blocks_of_items_change_nothing(monkeypatch):
    x = some_interactions(5)
    whole = ItemKnn.fit(*np.nonzero(x), *x.shape, n_neighbours=4)
    monkeypatch.setattr(item_knn, "_ITEMS_AT_ONCE", 5)
    parts = ItemKnn.fit(*np.nonzero(x), *x.shape, n_neighbours=4)
    for name in ("offsets", "neighbours", "similarity"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))


def test_pairs_in_any_order_have_the_same_scores():
    x = some_interactions(7)
    model = ItemKnn.fit(*np.nonzero(x), *x.shape)
    users, items = np.nonzero(np.ones_like(x))
    mixed = np.random.default_rng(0).permutation(len(users))
    scores = model.score(users, items)
    np.testing.assert_array_equal(model.score(users[mixed], items[mixed]), scores[mixed])


def test_a_pair_that_comes_twice_counts_once():
    x = some_interactions(9)
    users, items = np.nonzero(x)
    once = ItemKnn.fit(users, items, *x.shape)
    twice = ItemKnn.fit(np.repeat(users, 2), np.repeat(items, 2), *x.shape)
    np.testing.assert_array_equal(all_scores(twice, x), all_scores(once, x))


def test_a_single_item_has_no_neighbours():
    model = ItemKnn.fit(np.array([0, 1]), np.array([0, 0]), 3, 1)
    assert model.score(np.array([0, 2]), np.array([0, 0])).tolist() == [0, 0]
