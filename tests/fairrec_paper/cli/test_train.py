"""Data, training, scoring and the audit of a run, through the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import polars as pl
import pytest

from tests.end_to_end.command_line import run_here, run_process
from tests.fairrec_paper.command_line import run_paper

SMALL = ("--users", "300", "--items", "120", "--seed", "1", "--quiet")
QUICK = ("--epochs", "2", "--batch-size", "512", "--hyper", "layers=16,embedding=4", "--quiet")


@pytest.fixture
def world(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    made = run_paper("synthetic", "--out", "world", *SMALL)
    assert made.code == 0, made.stderr
    return tmp_path / "world"


def train(*options: str, model: str = "deepfm"):
    return run_paper("train", "--data", "world", "--model", model, "--out", "run", *options)


def test_three_commands_lead_from_data_to_an_audit(world):
    trained = train(*QUICK)
    assert trained.code == 0, trained.stderr
    assert "validation AUC" in trained.stdout
    assert "rows kept out of training: log loss" in trained.stdout
    audited = run_here("audit", "--run", "run", "--permutations", "19", "--format", "json")
    assert audited.code == 0, audited.stderr
    result = json.loads(audited.stdout)
    assert list(result["attributes"]) == ["gender", "age", "occupation"]
    assert set(result["metrics"]) == {"auc", "mrr@5", "ndcg@5", "urd@5", "urp@5"}
    record = json.loads(Path("run/run.json").read_text())
    assert result["metrics"]["auc"]["mean"] == pytest.approx(record["test"]["auc"], abs=1e-12)


def test_a_model_is_trained_as_the_reference_trains_it(world):
    trained = train(
        *QUICK,
        *("--fixed-negatives", "--best-by", "holdout-loss", "--l2", "0.001", "--data-seed", "7"),
    )
    assert trained.code == 0, trained.stderr
    record = json.loads(Path("run/run.json").read_text())
    asked = {"fixed_negatives": True, "best_by": "holdout-loss", "l2": 0.001, "data_seed": 7}
    assert {name: record["options"][name] for name in asked} == asked
    losses = [epoch["holdout_loss"] for epoch in record["epochs"]]
    assert record["best_epoch"] == 1 + losses.index(min(losses))


@pytest.mark.slow
def test_a_run_on_a_path_that_is_no_unicode_is_audited(world):
    home = world.parent
    assert train(*QUICK).code == 0
    common = ("--permutations", "19", "--format", "json", "--no-report")
    before = run_here("audit", "--run", "run", *common)
    (home / "run").rename(home / os.fsdecode(b"caf\xe9"))
    after = run_process("audit", "--run", b"caf\xe9", *common, folder=home)
    assert after.code == 0, after.stderr
    assert json.loads(after.stdout)["metrics"] == json.loads(before.stdout)["metrics"]


def test_scored_candidates_can_be_audited_as_a_table(world):
    assert train(*QUICK).code == 0
    scored = run_paper("score", "--run", "run", "--out", "p.parquet", "--device", "cpu")
    assert scored.code == 0, scored.stderr
    table = pl.read_parquet("p.parquet")
    assert set(table.columns) == {"user_id", "item_id", "score", "label"}
    by_table = run_here(
        *("audit", "p.parquet", "--users", "run/users.parquet", "--by", "gender"),
        *("--metrics", "auc", "--format", "json", "--permutations", "19"),
    )
    by_run = run_here(
        *("audit", "--run", "run", "--by", "gender", "--metrics", "auc"),
        *("--format", "json", "--permutations", "19"),
    )
    tables = [json.loads(ran.stdout)["metrics"] for ran in (by_table, by_run)]
    assert tables[0] == tables[1]
    other = run_paper("score", "--run", "run", "--out", "v.parquet", "--target", "validation")
    assert other.code == 0
    assert not pl.read_parquet("v.parquet").equals(table)


def test_every_option_of_training_is_taken(world):
    ran = train(
        *("--epochs", "1", "--patience", "1", "--batch-size", "256", "--learning-rate", "0.01"),
        *("--holdout", "0.3", "--candidates", "10", "--all-positive", "--hyper", "cross_layers=2"),
        *("--device", "cpu", "--seed", "3", "--restart", "--debug", "--quiet"),
        model="dcn",
    )
    assert ran.code == 0, ran.stderr
    record = json.loads(Path("run/run.json").read_text())
    assert record["hyper_parameters"]["cross_layers"] == 2
    assert record["options"]["candidates"] == 10
    assert pl.read_parquet("run/test.parquet")["item_id"].list.len().unique().to_list() == [10]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--model", "deepmf"), "Did you mean 'deepfm'"),
        (("--model", "dcn", "--hyper", "layers"), "invalid --hyper: expected name=number"),
        (("--model", "dcn", "--hyper", "depth=2"), "no hyper-parameter 'depth'"),
        (
            ("--model", "dcn", "--epochs", "0"),
            "invalid --epochs: expected a whole number from 1, got 0",
        ),
    ],
)
def test_bad_training_options_are_refused(world, arguments, says):
    ran = run_paper("train", "synthetic", "--data", "world", "--out", "run", *arguments)
    assert ran.code == 2
    assert says in ran.stderr
    assert not Path("run").exists()


def test_another_data_set_than_the_bundle_holds_is_refused(world):
    ran = run_paper("train", "movielens-1m", "--data", "world", "--model", "dcn", "--out", "run")
    assert ran.code == 2
    assert "holds the data set 'synthetic', not 'movielens-1m'" in ran.stderr
