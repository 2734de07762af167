from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec_paper.reproduction.trained_models import outcome_of_quality, plan_quality


def test_only_models_that_are_trained_are_in_it(setting):
    with pytest.raises(InputError, match="table1 is about trained models"):
        plan_quality(setting)
    both = replace(setting, options=replace(setting.options, models=("dcn", "taste")))
    assert [trial.labels["model"] for trial in plan_quality(both)] == ["dcn"]


ROW = {
    **{"dataset": "movielens-1m", "model": "wide_deep", "training": 0},
    **{"loss": 0.31764, "loss_with_penalty": 0.34, "auc": 0.94134},
    **{"test_auc": 0.9, "test_mrr@5": 0.4, "test_ndcg@5": 0.5},
    **{"n_train": 1280, "epochs": 3, "best_epoch": 2, "seconds": 1.5},
}


def test_ours_stands_beside_the_published(setting):
    table, _ = outcome_of_quality(setting, {"training": pl.DataFrame([ROW])}).tables
    assert table.view.rows[0][1:8] == (
        *("Wide&Deep", "0.3176", "0.3400", "0.3865", "0.9413", "0.9143"),
        "0.900",
    )


def test_several_trainings_are_a_mean_with_a_spread_and_each_by_itself(setting):
    again = {**ROW, "training": 1, "auc": 0.94334}
    table, each = outcome_of_quality(setting, {"training": pl.DataFrame([ROW, again])}).tables
    at = table.view.columns.index("AUC")
    # half of the difference, times the square root of 2
    assert table.view.rows[0][at] == "0.9423 ±0.0014"
    assert [row[2] for row in each.view.rows] == ["0", "1"]
