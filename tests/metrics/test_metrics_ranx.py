"""Where ranx defines the same thing, the values are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.metrics.metric_lists import User, random_world, user, value_of, values_of

PEERS = {
    "ndcg": "ndcg",
    "mrr": "mrr",
    "hit": "hit_rate",
    "recall": "recall",
    "precision": "precision",
}
LONGEST = 12
CUTOFFS = [1, 3, 5, LONGEST, 2 * LONGEST]


def ranx_values(ranx: Any, users: list[User], names: list[str]) -> dict[str, np.ndarray]:
    relevant = {
        str(position): {str(c.item): c.label for c in candidates if c.label > 0}
        for position, candidates in enumerate(users)
    }
    run = {
        str(position): {str(c.item): c.score for c in candidates}
        for position, candidates in enumerate(users)
    }
    return ranx.evaluate(relevant, run, names, return_mean=False)


@pytest.fixture(scope="module")
def users() -> list[User]:
    """Lists without ties, with whole labels from 1 and at least one relevant candidate."""
    world = random_world(np.random.default_rng(5), 150, LONGEST, share_relevant=0.4, has_ties=False)
    return [candidates for candidates in world.users if any(c.label > 0 for c in candidates)]


@pytest.mark.parametrize("name", PEERS)
def test_metric_is_the_one_of_ranx(name, ranx, users):
    peer = ranx_values(ranx, users, [f"{PEERS[name]}@{k}" for k in CUTOFFS])
    for k in CUTOFFS:
        ours = values_of(f"{name}@{k}", users)
        np.testing.assert_allclose(ours, peer[f"{PEERS[name]}@{k}"], rtol=0, atol=1e-12)


def test_map_is_the_one_of_ranx_but_for_the_divisor_where_more_than_k_are_relevant(ranx, users):
    peer = ranx_values(ranx, users, [f"map@{k}" for k in CUTOFFS])
    n_relevant = np.array([sum(c.label > 0 for c in candidates) for candidates in users])
    for k in CUTOFFS:
        ours = values_of(f"map@{k}", users)
        rescaled = ours * np.minimum(n_relevant, k) / n_relevant
        np.testing.assert_allclose(rescaled, peer[f"map@{k}"], rtol=0, atol=1e-12)
        fits = n_relevant <= k
        np.testing.assert_allclose(ours[fits], peer[f"map@{k}"][fits], rtol=0, atol=1e-12)
    assert (n_relevant > 3).any()


def test_ranx_counts_labels_from_1_as_relevant_and_we_from_above_0(ranx):
    half = user([0.5, 1])
    peer = ranx_values(ranx, [half], ["mrr@2", "hit_rate@1"])
    assert peer["mrr@2"] == pytest.approx(1 / 2)
    assert value_of("mrr@2", half) == 1
