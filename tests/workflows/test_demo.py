"""The demo: its tables, its models and the command it offers."""

from __future__ import annotations

import json
import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import InputError, OutputError
from fairrec.datasets.synthetic import synthetic_bundle
from fairrec.models.deep.training_data import training_data
from fairrec.workflows import demo
from tests.end_to_end.command_line import run_here


@pytest.fixture
def small_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        demo,
        "synthetic_bundle",
        lambda options: synthetic_bundle(replace(options, n_users=300, n_items=120)),
    )


def test_the_command_names_the_tables_whatever_the_folder_is_called():
    folder = Path("my demo; it's")
    program, command, predictions, *options = shlex.split(demo.demo_audit_command(folder, seed=3))
    assert (program, command) == ("fairrec", "audit")
    assert predictions == str(folder / "predictions.parquet")
    named = dict(zip(options[::2], options[1::2], strict=True))
    assert named == {
        **{f"--{name}": str(folder / f"{name}.parquet") for name in ("users", "items", "history")},
        "--by": "gender,age,occupation",
        "--seed": "3",
        "--out": str(folder / "audit"),
    }


@pytest.mark.usefixtures("small_world")
def test_the_recommender_of_the_demo_is_audited_on_items_it_has_not_seen(tmp_path):
    stages = []
    result = demo.run_demo(
        tmp_path / "d", progress=lambda *step: stages.append(step[0]), report=False
    )
    assert stages[:2] == ["making synthetic data", "training ease"]
    assert stages[-1] == "writing"
    tables = {file.stem: pl.read_parquet(file) for file in (tmp_path / "d").glob("*.parquet")}
    assert {*tables} == {"users", "items", "history", "predictions"}
    assert result.summary.n_users == tables["users"].height == 300
    lists = tables["predictions"].group_by("user_id").agg(pl.len(), pl.col("label").sum())
    assert (lists["label"] == 1).all()
    assert (
        tables["predictions"]
        .filter(label=1)
        .join(tables["history"], on=["user_id", "item_id"], how="semi")
        .is_empty()
    )
    # chance would put a target in the middle of its list
    assert result.metrics["auc"].mean > 0.6
    assert (tmp_path / "d" / "audit" / "result.json").is_file()
    assert not (tmp_path / "d" / "audit" / "report.html").exists()


def test_predictions_are_the_candidates_of_each_user_in_a_row():
    bundle = synthetic_bundle(demo.WorldOptions(n_users=60, n_items=80, seed=1))
    data = training_data(bundle, seed=1)
    table = demo._score_with_ease(bundle, data)
    targets = data.test
    n_candidates = targets.items.shape[1]
    at = n_candidates * 7
    assert table["user_id"][at] == bundle.users["user_id"][int(targets.users[7])]
    own = table[at : at + n_candidates]
    items = bundle.items["item_id"].gather(targets.items[7].astype(np.int64))
    assert own["item_id"].to_list() == items.to_list()
    assert own["label"].to_list() == targets.is_target[7].astype(int).tolist()


def test_the_demo_refuses_an_unknown_model_and_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = run_here("demo", "--model", "deepmf", "--out", "d")
    assert ran.code == 2
    assert "Did you mean 'deepfm'" in ran.stderr
    assert not Path("d").exists()


@pytest.mark.usefixtures("small_world")
def test_the_next_step_of_the_demo_names_the_audit_it_wrote(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = run_here("demo", "--out", "d", "--quiet")
    assert ran.code == 0, ran.stderr
    (step,) = re.findall(r"fairrec (?:mitigate|plan|init) (\S+)", ran.stdout)
    assert step == "d/audit" and Path(step, "result.json").exists()
    assert "save this audit" not in ran.stdout


@pytest.mark.usefixtures("small_world")
def test_the_demo_takes_a_deep_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = run_here("demo", "--model", "wide_deep", "--out", "d", "--quiet", "--format", "json")
    assert ran.code == 0, ran.stderr
    assert json.loads(Path("d/run/run.json").read_text())["model"] == "wide_deep"


def test_a_deep_model_without_its_packages_says_what_to_install(tmp_path, monkeypatch):
    # as if it could not be imported
    monkeypatch.setitem(sys.modules, "fairrec.models.deep.registry", None)
    with pytest.raises(InputError, match=r"pip install 'fairrec\[models\]'"):
        demo.run_demo(tmp_path / "d", model="deepfm")
    assert not (tmp_path / "d").exists()


def test_tables_of_others_are_not_replaced_by_a_demo(tmp_path, small_world):
    (tmp_path / "users.parquet").write_text("mine")
    pl.DataFrame({"user_id": [1], "score": [0.5]}).write_parquet(tmp_path / "predictions.parquet")
    with pytest.raises(OutputError, match=r": users.parquet, predictions.parquet there is of no"):
        demo.run_demo(tmp_path, report=False)
    assert (tmp_path / "users.parquet").read_text() == "mine"
