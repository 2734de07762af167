"""Worlds without a gap give false findings at most as often as promised; planted gaps show."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.report.text.verdict import status_of
from tests.worlds import ATTRIBUTES, random_users, random_world

N_WORLDS = 250
ALPHA = 0.05
TOLERATED = ALPHA + 2 * np.sqrt(ALPHA * (1 - ALPHA) / N_WORLDS)


def audit(users, predictions, metrics, seed):
    return fairrec.audit(
        predictions,
        users=users,
        by=list(ATTRIBUTES),
        metrics=metrics,
        permutations=99,
        min_support=4,
        alpha=ALPHA,
        seed=seed,
        threads=1,
    )


def test_worlds_without_a_gap_have_findings_no_more_often_than_alpha():
    # small groups, skewed sizes, and metrics with 20, 6 and 2 different values
    with_finding = 0
    with_gap = dict.fromkeys(("auc", "mrr@5", "hit@5"), 0)
    for seed in range(N_WORLDS):
        users, predictions = random_world(400, seed=seed)
        result = audit(users, predictions, list(with_gap), seed)
        with_finding += any(status_of(found) == "gap found" for found in result.metrics.values())
        for name, found in result.metrics.items():
            with_gap[name] += found.chance.p_value <= ALPHA
    assert with_finding / N_WORLDS <= TOLERATED
    assert {name: n / N_WORLDS <= TOLERATED for name, n in with_gap.items()} == dict.fromkeys(
        with_gap, True
    )


def test_worlds_without_a_gap_stay_quiet_when_a_metric_is_undefined_for_many():
    with_finding = 0
    for seed in range(N_WORLDS):
        users, predictions = random_world(300, seed=seed)
        is_defined = np.random.default_rng(seed).random(300) < 0.7
        labels = np.stack(predictions["label"].to_list()) * is_defined[:, None]
        result = audit(users, predictions.with_columns(label=labels), ["auc", "mrr@5"], seed)
        with_finding += any(found.findings for found in result.metrics.values())
    assert with_finding / N_WORLDS <= TOLERATED


@pytest.mark.parametrize(
    "planted", [{"age": "65+"}, {"gender": "F", "age": "65+"}, {"gender": "F", "job": "job1"}]
)
def test_a_gap_of_six_standard_errors_is_found(planted):
    n_worlds, n_users, found, named = 100, 3000, 0, 0

    @fairrec.metric("planted", higher_is_better=True)
    def first_score(lists):
        """The score of the first candidate in the input."""
        return lists.candidates.scores[lists.candidates.offsets[:-1]]

    try:
        for seed in range(n_worlds):
            rng = np.random.default_rng(seed)
            users = random_users(n_users, rng)
            inside = np.ones(n_users, dtype=bool)
            for name, value in planted.items():
                inside &= (users[name] == value).to_numpy()
            value = rng.choice([0, 0, 0, 0, 0.2, 0.25, 1 / 3, 0.5, 1], n_users)
            n = inside.sum()
            error = value.std() * np.sqrt(n_users / (n * (n_users - n)))
            predictions = {
                "user_id": users["user_id"],
                "item_id": [[1]] * n_users,
                "score": (value - 6 * error * inside)[:, None],
                "label": [[1]] * n_users,
            }
            result = audit(users, pl.DataFrame(predictions), ["planted"], seed)
            groups = [finding.group for finding in result.findings("planted")]
            found += bool(groups)
            named += planted in groups
    finally:
        from fairrec.metrics import METRICS

        METRICS.remove("planted")
    assert result.metric("planted").n_groups > 250
    assert found / n_worlds >= 0.95
    assert named / n_worlds >= 0.90
