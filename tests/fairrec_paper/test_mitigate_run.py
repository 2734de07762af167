"""`fairrec mitigate` of a trained run, and of an audit of one."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from safetensors.torch import load_file, save_file

from tests.end_to_end.command_line import run_here
from tests.fairrec_paper.command_line import run_paper

SMALL = ("--users", "300", "--items", "120", "--seed", "1", "--quiet")
QUICK = ("--epochs", "1", "--batch-size", "512", "--hyper", "layers=16,embedding=4", "--quiet")
METRIC = ("--metric", "urd@5", "--strength", "0.5", "--permutations", "0", "--quiet")
METRIC += ("--groups", "worst:10%")


def done(*arguments: str) -> str:
    ran = run_here(*arguments)
    assert ran.code == 0, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run_paper("synthetic", "--out", "world", *SMALL).code == 0
        names = ("--data", "world", "--model", "deepfm", "--out", "run")
        assert run_paper("train", "synthetic", *names, *QUICK).code == 0
    return folder


def test_an_audit_of_a_run_is_mitigated_from_the_tables_it_read(home: Path, monkeypatch):
    monkeypatch.chdir(home)
    users = pl.read_parquet("run/users.parquet")
    other = users.select("user_id", team=pl.int_range(pl.len()) % 2)
    other.write_parquet("teams.parquet")
    named = ("--users", "teams.parquet", "--by", "team", "--permutations", "0", "--quiet")
    done("audit", "--run", "run", *named, "--out", "audit")
    mitigation = json.loads(done("mitigate", "audit", *METRIC, "--format", "json"))
    assert {*mitigation["groups"][0]["group"]} == {"team"}
    assert mitigation["protocol"] == "validation targets"
    other.head(200).write_parquet("teams.parquet")
    changed = run_here("mitigate", "audit", *METRIC)
    assert changed.code == 2
    assert "teams.parquet has changed since this audit" in changed.stderr


def test_an_audit_of_a_run_that_was_trained_again_is_refused(home: Path, monkeypatch):
    monkeypatch.chdir(home)
    done("audit", "--run", "run", "--permutations", "0", "--quiet", "--out", "older")
    weights = load_file("run/model.safetensors")
    others = {name: part + part.is_floating_point() for name, part in weights.items()}
    save_file(others, "run/model.safetensors")
    again = run_here("mitigate", "older", *METRIC)
    save_file(weights, "run/model.safetensors")
    assert again.code == 2
    assert "run: was trained again since it was audited" in again.stderr
