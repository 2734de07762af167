"""The demo: its tables, its models and the command it offers."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import OutputError
from fairrec.demo import demo
from fairrec.demo.held_out import split_data
from fairrec.demo.world import make_world
from tests.end_to_end.command_line import run_here


@pytest.fixture
def small_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        demo,
        "make_world",
        lambda options: make_world(replace(options, n_users=300, n_items=120)),
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
    world = make_world(demo.WorldOptions(n_users=60, n_items=80, seed=1))
    data = split_data(world.interactions, world.users, world.items, seed=1)
    table = demo._score_with_ease(world, data)
    targets = data.test
    n_candidates = targets.items.shape[1]
    at = n_candidates * 7
    assert table["user_id"][at] == world.users["user_id"][int(targets.users[7])]
    own = table[at : at + n_candidates]
    items = world.items["item_id"].gather(targets.items[7].astype(np.int64))
    assert own["item_id"].to_list() == items.to_list()
    assert own["label"].to_list() == targets.is_target[7].astype(int).tolist()


@pytest.mark.usefixtures("small_world")
def test_the_next_step_of_the_demo_names_the_audit_it_wrote(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = run_here("demo", "--out", "d", "--quiet")
    assert ran.code == 0, ran.stderr
    (step,) = re.findall(r"fairrec (?:mitigate|plan|init) (\S+)", ran.stdout)
    assert step == "d/audit" and Path(step, "result.json").exists()
    assert "save this audit" not in ran.stdout


def test_tables_of_others_are_not_replaced_by_a_demo(tmp_path, small_world):
    (tmp_path / "users.parquet").write_text("mine")
    pl.DataFrame({"user_id": [1], "score": [0.5]}).write_parquet(tmp_path / "predictions.parquet")
    with pytest.raises(OutputError, match=r": users.parquet, predictions.parquet there is of no"):
        demo.run_demo(tmp_path, report=False)
    assert (tmp_path / "users.parquet").read_text() == "mine"
