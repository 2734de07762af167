"""Tables on trained models: their quality, and mitigation."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec_paper.reproduction.data import full_combinations
from fairrec_paper.reproduction.trained_models import (
    FRESH,
    SAME,
    SIGNED,
    mitigation_trial,
    report_quality,
)
from tests.fairrec_paper.reproduction.trial_rows import silent

ROW = {
    **{"dataset": "movielens-1m", "model": "wide_deep", "training": 0},
    **{"loss": 0.31764, "loss_with_penalty": 0.34, "auc": 0.94134},
    **{"test_auc": 0.9, "test_mrr@5": 0.4, "test_ndcg@5": 0.5},
    **{"n_train": 1280, "epochs": 3, "best_epoch": 2, "seconds": 1.5},
}


def test_ours_stands_beside_the_published(setting):
    table, _ = report_quality(setting, {"training": pl.DataFrame([ROW])}).tables
    assert table.view.rows[0][1:8] == (
        *("Wide&Deep", "0.3176", "0.3400", "0.3865", "0.9413", "0.9143"),
        "0.900",
    )


def test_several_trainings_are_a_mean_with_a_spread_and_each_by_itself(setting):
    again = {**ROW, "training": 1, "auc": 0.94334}
    table, each = report_quality(setting, {"training": pl.DataFrame([ROW, again])}).tables
    at = table.view.columns.index("AUC")
    # half of the difference, times the square root of 2
    assert table.view.rows[0][at] == "0.9423 ±0.0014"
    assert [row[2] for row in each.view.rows] == ["0", "1"]


def mitigation_row(subject, way, metric="mrr@5"):
    (only,) = mitigation_trial(subject, metric, way, 9).work(silent)
    return only


def test_groups_are_chosen_on_the_same_or_on_other_targets(subject):
    same, fresh = mitigation_row(subject, SAME), mitigation_row(subject, FRESH)
    assert same["chosen_by"] == pytest.approx(same["before"])
    assert fresh["chosen_by"] != pytest.approx(fresh["before"])
    assert same["n_users"] == fresh["n_users"] == 240


def test_the_highest_signed_urp_is_lowered_and_told_as_it_is(subject):
    signed, absolute = mitigation_row(subject, SAME, SIGNED), mitigation_row(subject, SAME, "urp@5")
    assert (signed["reranker"], absolute["reranker"]) == ("swap", "popularity_calibrated")
    values = subject.values[subject.metric_names.index("urp@5")]
    cells = full_combinations(subject.inputs.attributes).cells
    sizes = np.bincount(cells.of_user)
    means = np.bincount(cells.of_user, values) / sizes
    highest = np.argsort(-means)[: signed["n_groups"]]
    expected = np.average(means[highest], weights=sizes[highest])
    assert signed["before"] == signed["chosen_by"] == pytest.approx(expected)
    assert signed["after"] < signed["before"] <= absolute["before"]
    assert signed["gap_before"] == absolute["gap_before"]
