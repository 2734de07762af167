"""The quality of a model whose scores are known."""

from __future__ import annotations

import numpy as np
import pytest

from fairrec.demo.held_out import Targets
from fairrec_paper.models import evaluation
from fairrec_paper.models.evaluation import target_auc, target_scores

TARGETS = Targets(
    users=np.array([0, 1]),
    items=np.array([[5, 6, 7], [8, 5, 6]]),
    is_target=np.array([[True, False, False], [False, True, False]]),
)


@pytest.fixture(autouse=True)
def scores(monkeypatch):
    """A model that scores an item by its number, for user 1 the other way round."""

    def score_pairs(model, users, items):
        return np.where(users == 0, items, -items).astype(np.float64)

    monkeypatch.setattr(evaluation, "score_pairs", score_pairs)


def test_every_candidate_is_scored_for_its_user():
    assert target_scores(None, TARGETS).tolist() == [[5, 6, 7], [-8, -5, -6]]


def test_auc_is_the_mean_share_of_candidates_below_the_target():
    # user 0 has none of two below, user 1 both
    assert target_auc(None, TARGETS) == (0 / 2 + 2 / 2) / 2


def test_a_tie_counts_half(monkeypatch):
    monkeypatch.setattr(evaluation, "score_pairs", lambda model, users, items: np.zeros(len(users)))
    assert target_auc(None, TARGETS) == 0.5


def test_metrics_are_those_of_the_targets_places():
    top = evaluation._top_metrics(target_scores(None, TARGETS), TARGETS)
    # third and first place
    assert top["mrr@5"] == pytest.approx((1 / 3 + 1) / 2)
    assert top["ndcg@5"] == pytest.approx((1 / np.log2(4) + 1) / 2)
    assert (top["auc"], top["hit@5"]) == (0.5, 1.0)
