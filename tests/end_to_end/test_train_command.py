"""Data, training, scoring and the audit of a run, through the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import torch
from safetensors.torch import load_file

from fairrec.datasets.bundle import read_bundle
from fairrec.datasets.synthetic import synthetic_bundle
from fairrec.workflows import demo
from tests.end_to_end.command_line import run_here, run_process

SMALL = ("--users", "300", "--items", "120", "--seed", "1", "--quiet")
QUICK = ("--epochs", "2", "--batch-size", "512", "--hyper", "layers=16,embedding=4", "--quiet")


@pytest.fixture
def world(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    made = run_here("synthetic", "--out", "world", *SMALL)
    assert made.code == 0, made.stderr
    return tmp_path / "world"


def train(*options: str, model: str = "deepfm"):
    return run_here(
        "train", "synthetic", "--data", "world", "--model", model, "--out", "run", *options
    )


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
    scored = run_here("score", "--run", "run", "--out", "p.parquet", "--device", "cpu")
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
    other = run_here("score", "--run", "run", "--out", "v.parquet", "--target", "validation")
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
        (("--model", "dcn", "--hyper", "layers"), "not of the form name=number"),
        (("--model", "dcn", "--hyper", "depth=2"), "no hyper-parameter 'depth'"),
        (("--model", "dcn", "--epochs", "0"), "--epochs must be at least 1"),
    ],
)
def test_bad_training_options_are_refused(world, arguments, says):
    ran = run_here("train", "synthetic", "--data", "world", "--out", "run", *arguments)
    assert ran.code == 2
    assert says in ran.stderr
    assert not Path("run").exists()


def test_another_data_set_than_the_bundle_holds_is_refused(world):
    ran = run_here("train", "movielens-1m", "--data", "world", "--model", "dcn", "--out", "run")
    assert ran.code == 2
    assert "holds the data set 'synthetic', not 'movielens-1m'" in ran.stderr


def test_a_run_or_a_table_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments in ((), ("p.parquet", "--run", "run")):
        ran = run_here("audit", *arguments)
        assert ran.code == 2
        assert "Name either a table of predictions or a run" in ran.stderr
    ran = run_here("audit", "--run", "nowhere")
    assert ran.code == 2
    assert "no run there" in ran.stderr
    ran = run_here("audit", "p.parquet", "--by", "gender")
    assert ran.code == 2
    assert "--users is missing" in ran.stderr


def test_worlds_of_every_kind_are_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = run_here(
        *("synthetic", "--out", "w", "--shape", "blackfriday", "--users", "200", "--items", "90"),
        *("--worse-served", "gender=F", "--gap", "diversity", "--strength", "0.5", "--skew", "1"),
        *("--categories", "30", "--interactions", "12", "--taste", "0.7"),
    )
    assert ran.code == 0, ran.stderr
    assert "planted in gender=F" in read_bundle(Path("w")).manifest.source
    ran = run_here("synthetic", "--out", "v", "--attributes", "a:2,b:3", *SMALL)
    assert ran.code == 0, ran.stderr
    assert read_bundle(Path("v")).manifest.attributes == ("a", "b")
    for arguments, says in (
        (("--attributes", "a"), "name:number"),
        (("--worse-served", "gender"), "attribute=value"),
        (("--shape", "movielens"), "Did you mean 'movielens-1m'"),
        (("--attributes", "user_id:2"), "cannot be called user_id"),
        (("--skew", "nan"), "--skew nan is not possible"),
        (("--seed", "-1"), "--seed -1 is not possible"),
    ):
        ran = run_here("synthetic", "--out", "u", *arguments)
        assert ran.code == 2
        assert says in ran.stderr
        assert not Path("u").exists()


def test_data_sets_are_listed_and_prepared(movielens, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = run_here("datasets")
    assert ran.code == 0
    assert "movielens-1m" in ran.stdout
    assert "294" in ran.stdout
    ran = run_here("prepare", "movielens-1m", "--raw", str(movielens), "--out", "ml", "--quiet")
    assert ran.code == 0, ran.stderr
    assert "6,040 users" in ran.stdout
    ran = run_here("prepare", "movielens", "--raw", str(movielens), "--out", "x")
    assert ran.code == 2
    assert "Did you mean 'movielens-1m'" in ran.stderr


def test_the_demo_refuses_an_unknown_model_and_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = run_here("demo", "--model", "deepmf", "--out", "d")
    assert ran.code == 2
    assert "Did you mean 'deepfm'" in ran.stderr
    assert not Path("d").exists()


def test_the_demo_takes_a_deep_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        demo,
        "synthetic_bundle",
        lambda options: synthetic_bundle(replace(options, n_users=300, n_items=120)),
    )
    ran = run_here("demo", "--model", "wide_deep", "--out", "d", "--quiet", "--format", "json")
    assert ran.code == 0, ran.stderr
    assert json.loads(Path("d/run/run.json").read_text())["model"] == "wide_deep"


def test_a_training_killed_at_once_goes_on_to_the_same_weights(world):
    command = ["train", "synthetic", "--data", "world", "--model", "deepfm", "--epochs", "6"]
    command += ["--patience", "6", "--batch-size", "64", *QUICK[-3:], "--out"]
    killed = subprocess.Popen(
        [sys.executable, "-m", "fairrec.cli", *command, "broken"], stdout=subprocess.DEVNULL
    )
    record = Path("broken/run.json")
    while not (record.exists() and json.loads(record.read_text())["epochs"]):
        assert killed.poll() is None, "training ended before it could be killed"
        time.sleep(0.01)
    killed.kill()
    killed.wait()
    done = len(json.loads(record.read_text())["epochs"])
    assert 1 <= done < 6
    assert [run_here(*command, folder).code for folder in ("broken", "whole")] == [0, 0]
    whole, broken = (load_file(Path(f, "model.safetensors")) for f in ("whole", "broken"))
    assert all(torch.equal(whole[name], broken[name]) for name in whole)
