"""The demo: its tables, its models and the command it offers."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from fairrec.core.errors import OutputError
from fairrec.demo import demo
from fairrec.demo.world import make_world
from fairrec.result.folder import load_saved
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


@pytest.mark.usefixtures("small_world")
def test_the_next_step_of_the_demo_names_the_audit_it_wrote(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = run_here("demo", "--out", "d", "--quiet")
    assert ran.code == 0, ran.stderr
    *_, step, page = ran.stdout.splitlines()
    assert step.startswith("next: ") and "after saving this audit" not in step
    assert page == "page: d/audit/report.html" and Path("d/audit/report.html").exists()


def test_tables_of_others_are_not_replaced_by_a_demo(tmp_path, small_world):
    (tmp_path / "users.parquet").write_text("mine")
    pl.DataFrame({"user_id": [1], "score": [0.5]}).write_parquet(tmp_path / "predictions.parquet")
    with pytest.raises(OutputError, match=r": users.parquet, predictions.parquet there is of no"):
        demo.run_demo(tmp_path, report=False)
    assert (tmp_path / "users.parquet").read_text() == "mine"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The folder of one demo, and what it prints."""
    folder = tmp_path_factory.mktemp("world") / "demo"
    done = run_here("demo", "--out", str(folder), "--quiet", "--seed", "1")
    assert done.code == 0, done.stderr
    return folder, done.stdout.splitlines()


def test_the_demo_finds_the_planted_group_and_says_what_to_do_next(found):
    folder, lines = found
    summary = load_saved(folder / "audit")[0]
    for name in ("auc", "mrr@5", "ndcg@5"):
        worst = summary.metrics[name].findings[0]
        assert worst.group == demo.PLANTED
        assert worst.difference < 0
    planted = ", ".join(f"{name}={value}" for name, value in demo.PLANTED.items())
    assert lines[0].startswith(f"{planted} is ")
    assert f"Synthetic data with a planted harm in {planted}" in lines
    assert lines[-1] == f"page: {folder / 'audit' / 'report.html'}"
    step = " ".join(lines).partition("next: ")[2]
    assert step.startswith(f"re-rank their lists: fairrec mitigate {folder / 'audit'} --metric ")
    assert pl.read_parquet(folder / "predictions.parquet").height == 4000 * 50


def test_the_command_of_the_result_gives_the_same_result(found):
    folder, _ = found
    first = load_saved(folder / "audit")[0]
    again = run_here(*shlex.split(demo.demo_audit_command(folder, 1))[1:], "--quiet", "--no-report")
    assert again.code == 0, again.stderr
    assert load_saved(folder / "audit")[0].metrics == first.metrics
