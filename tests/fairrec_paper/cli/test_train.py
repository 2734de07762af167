"""Data, training, scoring and the audit of a run, through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairrec_paper.datasets.bundle import read_bundle
from tests.end_to_end.command_line import run_here
from tests.fairrec_paper.command_line import run_paper

SMALL = ("--users", "300", "--items", "120", "--seed", "1", "--quiet")


def test_worlds_of_every_kind_are_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = run_paper(
        *("synthetic", "--out", "w", "--shape", "blackfriday", "--users", "200", "--items", "90"),
        *("--worse-served", "gender=F", "--gap", "diversity", "--strength", "0.5", "--skew", "1"),
        *("--categories", "30", "--interactions", "12", "--taste", "0.7"),
    )
    assert ran.code == 0, ran.stderr
    assert "planted in gender=F" in read_bundle(Path("w")).manifest.source
    ran = run_paper("synthetic", "--out", "v", "--attributes", "a:2,b:3", *SMALL)
    assert ran.code == 0, ran.stderr
    assert read_bundle(Path("v")).manifest.attributes == ("a", "b")
    for arguments, says in (
        (("--attributes", "a"), "name:number"),
        (("--worse-served", "gender"), "attribute=value"),
        (("--shape", "movielens"), "Did you mean 'movielens-1m'"),
    ):
        ran = run_paper("synthetic", "--out", "u", *arguments)
        assert ran.code == 2
        assert says in ran.stderr
        assert not Path("u").exists()


def test_data_sets_are_listed_and_prepared(movielens, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = run_paper("datasets")
    assert ran.code == 0
    assert "movielens-1m" in ran.stdout
    assert "294" in ran.stdout
    ran = run_paper("prepare", "movielens-1m", "--raw", str(movielens), "--out", "ml", "--quiet")
    assert ran.code == 0, ran.stderr
    assert "6,040 users" in ran.stdout
    ran = run_paper("prepare", "movielens", "--raw", str(movielens), "--out", "x")
    assert ran.code == 2
    assert "Did you mean 'movielens-1m'" in ran.stderr


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
