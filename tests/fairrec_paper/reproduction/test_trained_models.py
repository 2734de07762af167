"""Tables on trained models: their quality, the spread of gaps over trainings, and mitigation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec_paper.reproduction.data import DataCatalogue
from fairrec_paper.reproduction.mitigations import (
    FRESH,
    METRICS,
    ORACLE,
    SAME,
    SIGNED,
    mitigation_trial,
    plan_mitigation,
    report_mitigation,
)
from fairrec_paper.reproduction.subject import full_combinations
from fairrec_paper.reproduction.trained_models import (
    add_chance_spread,
    gaps_over_trainings,
    plan_trainings,
    report_quality,
    report_trainings,
    training_trials,
)
from tests.fairrec_paper.reproduction.trial_rows import chance, silent


def test_only_models_that_are_trained_are_in_it(setting):
    with pytest.raises(InputError, match="table1 is about trained models"):
        training_trials(setting, "table1")
    both = replace(setting, options=replace(setting.options, models=("dcn", "taste")))
    assert [trial.subject.model for trial in training_trials(both, "table1")] == ["dcn"]


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
    (row,) = gaps_over_trainings(add_chance_spread(rows)).to_dicts()
    assert (row["trainings"], row["gap"], row["p_value_most"]) == (2, pytest.approx(0.3), 0.5)
    assert row["gap_sd"] == row["chance_sd"] == pytest.approx(0.02**0.5)
    assert row["share"] == pytest.approx(0.02**0.5 / 0.3)


def test_each_training_has_a_column(both):
    gaps = [
        {**chance("auc", 0.1 + at, [0.1, 0.3]), "protocol": "ours", "training": at, "p_value": 0.5}
        for at in (0, 4)
    ]
    frames = {"training": pl.DataFrame([{**ROW, "protocol": "ours"}]), "chance": pl.DataFrame(gaps)}
    quality, table = report_trainings(both, frames).tables
    assert quality.view.rows[0][:2] == ("ours", "Wide&Deep")
    assert table.view.columns[3:6] == ("seed 0", "seed 4", "mean")
    assert table.view.rows[0][3:6] == ("0.100", "4.10", "2.10")
    assert table.data["chance_sd"].to_list() == pytest.approx([0.02**0.5] * 2)
    assert "by_chance" not in table.data.columns


def mitigation_row(subject, way, metric="mrr@5"):
    (only,) = mitigation_trial(subject, metric, way, 9).work(silent)
    return only


def test_an_oracle_puts_every_target_of_the_chosen_groups_first(subject):
    oracle = mitigation_row(subject, ORACLE)
    assert (oracle["reranker"], oracle["strength"], oracle["after"]) == ("oracle", 1.0, 1.0)
    assert oracle["ndcg_after"] > oracle["ndcg_before"]


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


def test_an_oracle_is_only_asked_for_what_labels_tell(setting):
    ways = {metric: [] for metric in METRICS}
    full = replace(setting, options=replace(setting.options, quick=False))
    for trial in plan_mitigation(full):
        ways[trial.labels["metric"]].append(trial.labels["way"])
    assert ways["mrr@5"] == ways["ndcg@5"] == [FRESH, SAME, ORACLE]
    assert ways["urd@5"] == ways["urp@5"] == ways[SIGNED] == [FRESH, SAME]


def mitigated(metric: str) -> dict[str, object]:
    values = dict.fromkeys(
        [
            *("strength", "n_groups", "n_chosen", "n_users", "chosen_by", "before", "after"),
            *("p_change", "gap_before", "gap_after", "chance_before", "chance_after"),
            *("p_before", "p_after", "ndcg_before", "ndcg_after"),
        ],
        0.5,
    )
    row = {"dataset": "movielens-1m", "model": "deepfm", "metric": metric, "way": FRESH}
    return {**row, "reranker": f"for {metric}", **values}


def shown(table) -> list[dict[str, str]]:
    return [dict(zip(table.view.columns, row, strict=True)) for row in table.view.rows]


def test_both_published_tables_and_the_reranker_stand_beside_ours(setting):
    groups, gaps = report_mitigation(
        setting, {"mitigation": pl.DataFrame([mitigated("mrr@5")])}
    ).tables
    assert groups.data["published_before"].to_list() == [0.1783]
    for table, published in ((groups, "0.178 to 0.335"), (gaps, "0.577 to 0.396")):
        (row,) = shown(table)
        assert (row["published"], row["re-ranker"]) == (published, "for mrr@5")


def test_the_published_urp_of_groups_stands_beside_the_signed_one(setting):
    rows = pl.DataFrame([mitigated("urp@5"), mitigated(SIGNED)])
    result = report_mitigation(setting, {"mitigation": rows})
    groups, gaps = result.tables
    assert [row["published"] for row in shown(groups)] == ["-", "0.0119 to 0.0102"]
    assert [row["published"] for row in shown(gaps)] == ["0.0594 to 0.0525"] * 2
    assert any("Gomez" in note for note in result.notes)
