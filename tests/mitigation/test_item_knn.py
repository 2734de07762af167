from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from fairrec.mitigation.rerankers import blends as item_knn
from fairrec.mitigation.rerankers.blends import ItemKnn


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
