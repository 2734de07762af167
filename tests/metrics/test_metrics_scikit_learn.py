"""Where scikit-learn defines the same thing, the values are the same."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, ndcg_score, roc_auc_score

from fairrec.metrics.accuracy import pooled_auc
from tests.metrics.metric_lists import (
    User,
    random_world,
    ranked_lists,
    values_of,
)

LONGEST = 30


def labels_and_scores(candidates: User) -> tuple[list[float], list[float]]:
    return [c.label for c in candidates], [c.score for c in candidates]


def random_users(has_ties: bool, seed: int) -> list[User]:
    """Lists with at least one relevant and one other candidate."""
    rng = np.random.default_rng(seed)
    world = random_world(rng, 150, LONGEST, share_relevant=0.4, has_ties=has_ties)
    labels = [[c.label > 0 for c in candidates] for candidates in world.users]
    return [
        candidates
        for candidates, relevant in zip(world.users, labels, strict=True)
        if any(relevant) and not all(relevant)
    ]


@pytest.mark.parametrize("has_ties", [True, False])
def test_auc_is_roc_auc_score_of_each_user(has_ties):
    users = random_users(has_ties, seed=1)
    peer = []
    for candidates in users:
        labels, scores = labels_and_scores(candidates)
        peer.append(roc_auc_score(np.array(labels) > 0, scores))
    np.testing.assert_allclose(values_of("auc", users), peer, rtol=0, atol=1e-12)


def test_pooled_auc_is_roc_auc_score_of_all_rows():
    candidates = ranked_lists(random_users(has_ties=True, seed=2)).candidates
    ours = pooled_auc(candidates.scores, candidates.labels)
    assert ours == pytest.approx(roc_auc_score(candidates.labels > 0, candidates.scores), abs=1e-12)


@pytest.mark.parametrize("has_ties", [True, False])
@pytest.mark.parametrize("k", [1, 3, 5, LONGEST + 5])
def test_ndcg_is_ndcg_score_of_each_user(k, has_ties):
    users = random_users(has_ties=has_ties, seed=3)
    peer = []
    for candidates in users:
        labels, scores = labels_and_scores(candidates)
        peer.append(ndcg_score([labels], [scores], k=k))
    assert max(c.label for candidates in users for c in candidates) > 1
    np.testing.assert_allclose(values_of(f"ndcg@{k}", users), peer, rtol=0, atol=1e-12)


def test_map_is_average_precision_score_without_ties_when_k_covers_the_list():
    users = random_users(has_ties=False, seed=4)
    peer = []
    for candidates in users:
        labels, scores = labels_and_scores(candidates)
        peer.append(average_precision_score(np.array(labels) > 0, scores))
    np.testing.assert_allclose(values_of(f"map@{LONGEST}", users), peer, rtol=0, atol=1e-12)
