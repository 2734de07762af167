from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec_paper.reproduction.data import DataCatalogue
from fairrec_paper.reproduction.trained_models import (
    gaps_over_trainings,
    outcome_of_trainings,
    plan_trainings,
    with_spread,
)
from tests.fairrec_paper.reproduction.experiments.test_table1_model_quality import ROW
from tests.fairrec_paper.reproduction.trial_rows import chance


@pytest.fixture
def both(setting, tmp_path):
    """A setting that can be had by both protocols."""
    options = replace(setting.options, models=("deepfm",), training_seeds=(0, 4))
    catalogue = DataCatalogue([], tmp_path, quick=True)
    return replace(setting, options=options, catalogue=catalogue)


def test_every_model_is_trained_and_tested_with_every_seed_by_both_protocols(both):
    labels = [trial.labels for trial in plan_trainings(both)]
    seen = [(one["protocol"], one["training"]) for one in labels]
    assert seen == [*([("ours", 0), ("ours", 4)] * 2), *([("paper", 0), ("paper", 4)] * 2)]
    names = [trial.name for trial in plan_trainings(both) if trial.kind == "training"]
    assert len({*names}) == 4
    with pytest.raises(InputError, match="trainings is about trained models"):
        plan_trainings(replace(both, options=replace(both.options, models=("taste",))))


def test_the_spread_over_trainings_stands_beside_that_of_chance():
    rows = pl.DataFrame(
        [
            {**chance("auc", gap, [0.1, 0.3]), "protocol": "ours", "training": at, "p_value": p}
            for at, (gap, p) in enumerate([(0.2, 0.5), (0.4, 0.04)])
        ]
    )
    (row,) = gaps_over_trainings(with_spread(rows)).to_dicts()
    assert (row["trainings"], row["gap"], row["p_value_most"]) == (2, pytest.approx(0.3), 0.5)
    assert row["gap_sd"] == row["chance_sd"] == pytest.approx(0.02**0.5)
    assert row["share"] == pytest.approx(0.02**0.5 / 0.3)


def test_each_training_has_a_column(both):
    gaps = [
        {**chance("auc", 0.1 + at, [0.1, 0.3]), "protocol": "ours", "training": at, "p_value": 0.5}
        for at in (0, 4)
    ]
    frames = {"training": pl.DataFrame([{**ROW, "protocol": "ours"}]), "chance": pl.DataFrame(gaps)}
    quality, table = outcome_of_trainings(both, frames).tables
    assert quality.view.rows[0][:2] == ("ours", "Wide&Deep")
    assert table.view.columns[3:6] == ("seed 0", "seed 4", "mean")
    assert table.view.rows[0][3:6] == ("0.100", "4.10", "2.10")
    assert table.data["chance_sd"].to_list() == pytest.approx([0.02**0.5] * 2)
    assert "by_chance" not in table.data.columns
