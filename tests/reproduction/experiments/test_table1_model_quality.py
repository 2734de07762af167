from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.reproduction.experiments.table1_model_quality import outcome, plan


def test_only_models_that_are_trained_are_in_it(setting):
    with pytest.raises(InputError, match="table1 is about trained models"):
        plan(setting)
    both = replace(setting, options=replace(setting.options, models=("dcn", "taste")))
    assert [trial.labels["model"] for trial in plan(both)] == ["dcn"]


def test_ours_stands_beside_the_published(setting):
    row = {"dataset": "movielens-1m", "model": "wide_deep", "loss": 0.31764, "auc": 0.94134}
    test = {"test_auc": 0.9, "test_mrr@5": 0.4, "test_ndcg@5": 0.5}
    effort = {"n_train": 1280, "epochs": 3, "seconds": 1.5}
    (table,) = outcome(setting, {"training": pl.DataFrame([row | test | effort])}).tables
    assert table.view.rows[0][1:7] == (
        *("Wide&Deep", "0.3176", "0.3865", "0.9413", "0.9143"),
        "0.900",
    )
