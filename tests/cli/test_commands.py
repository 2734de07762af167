"""`fairrec count`, `doctor`, `list` and `report`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from fairrec.commands import app
from fairrec.metrics import METRICS
from fairrec.schemas import FILES, schema
from fairrec.search.searcher import SEARCHERS
from tests.counts.small_counts import BY, halves, tables, values
from tests.end_to_end.command_line import AUDIT, run_here, write_tables


def run(*words: object):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def files(tmp_path):
    given = tables()
    for name in ("predictions", "users"):
        given[name].write_parquet(tmp_path / f"{name}.parquet")
    return tmp_path


def counting(folder, *more):
    return run(
        "count", folder / "predictions.parquet", "--users", folder / "users.parquet", "--by", BY,
        "--metrics", "auc,mrr@8", "--out", folder / "counts.parquet", *more,
    )  # fmt: skip


def test_counts_are_written_and_audited(files):
    made = counting(files, "--part", "all")
    assert made.exit_code == 0
    assert "580 users in" in made.stderr
    found = run("audit", "--counts", files / "counts.parquet", "--out", files / "audit", "--quiet")
    assert found.exit_code == 0
    assert "gender=F is served worse" in found.stdout
    assert (files / "audit" / "report.html").exists()
    assert not (files / "audit" / "per_user.parquet").exists()
    assert "per_user" not in found.stderr


def test_counts_in_the_place_of_predictions_are_told(files):
    assert counting(files).exit_code == 0
    beside = ("--users", files / "users.parquet", "--by", BY)
    found = run("audit", files / "counts.parquet", *beside)
    assert found.exit_code == 2
    assert "counts.parquet holds counts of users" in found.stderr
    assert "Give it alone: --counts FILE" in found.stderr


def test_parts_are_audited_together(files):
    for name, half in zip(("a", "b"), halves(tables()), strict=True):
        folder = files / name
        folder.mkdir()
        for table in ("predictions", "users"):
            half[table].write_parquet(folder / f"{table}.parquet")
        assert counting(folder, "--part", name).exit_code == 0
    both = [word for name in "ab" for word in ("--counts", files / name / "counts.parquet")]
    found = run("audit", *both, "--format", "json", "--quiet")
    assert found.exit_code == 0
    assert '"n_users": 580' in found.stdout
    again = run("audit", *both, *both[:2])
    assert again.exit_code != 0
    assert "counted twice" in again.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["audit", "--counts", "{}/counts.parquet", "--users", "{}/users.parquet"], "themselves"),
        (["audit", "--disjoint", "{}/predictions.parquet"], "--disjoint is about --counts"),
        (["count", "--out", "{}/other.parquet"], "The predictions table is missing"),
        (
            ["count", "{}/predictions.parquet", "--out", "{}/predictions.parquet",
             "--users", "{}/users.parquet", "--by", "gender"],
            "--out",
        ),
        (["count", "{}/predictions.parquet", "--out", "{}/o.parquet", "--by", "gender"], "--users"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(files, words, message):
    before = (files / "predictions.parquet").read_bytes()
    counting(files)
    found = run(*(word.format(files) for word in words))
    assert found.exit_code != 0
    assert message in found.stderr
    assert (files / "predictions.parquet").read_bytes() == before


def test_values_are_counted_on_levels_of_a_file(tmp_path):
    values()["values"].write_parquet(tmp_path / "values.parquet")
    named = ("--values", tmp_path / "values.parquet", "--by", "group", "--metrics", "revenue")
    levels, out = tmp_path / "levels.toml", tmp_path / "counts.parquet"
    refused = run("count", *named, "--out", out)
    assert refused.exit_code != 0
    assert "--make-levels" in refused.stderr
    assert run("count", *named, "--make-levels", levels, "--out", out).exit_code == 0
    again = tmp_path / "again.parquet"
    assert run("count", *named, "--levels", levels, "--out", again).exit_code == 0
    assert pl.read_parquet(again).equals(pl.read_parquet(out))


@pytest.mark.parametrize("command", ["count", "audit"])
def test_an_engine_is_chosen_and_its_options_go_with_it(files, command):
    tables = (files / "predictions.parquet", "--users", files / "users.parquet", "--by", "gender")
    out = files / ("out.parquet" if command == "count" else "out")
    here = ("--engine", "local", "--workers", "1", "--scratch", files)
    assert run(command, *tables, "--out", out, *here).exit_code == 0
    refused = run(command, *tables, "--out", out, "--address", "auto")
    assert refused.exit_code != 0
    assert "--engine ray" in refused.stderr


MODULE = "def score(user_ids, item_ids):\n    return [0.5 for _ in user_ids]\n"


@pytest.fixture
def ranked_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_tables(tmp_path)
    (tmp_path / "flat_ranker.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_a_model_that_spoils_an_audit_ends_with_another_exit_code(ranked_tables: Path):
    ran = run_here("doctor", "predictions.parquet", "--scorer", "flat_ranker:score")
    assert ran.code == 1
    assert "problem " in ran.stdout


def test_a_model_must_be_named_and_its_options_must_fit(ranked_tables: Path):
    ran = run_here("doctor", "predictions.parquet")
    assert (ran.code, ran.stdout) == (2, "")
    assert "Name the model: --scorer, --endpoint or --onnx." in ran.stderr
    ran = run_here(
        "doctor", "predictions.parquet", "--scorer", "flat_ranker:score", "--concurrency", "0"
    )
    assert (ran.code, ran.stdout) == (2, "")
    assert "invalid --concurrency: expected a whole number from 1 to 256, got 0" in ran.stderr


def test_metrics_and_searchers_are_listed_by_name():
    for command, registry in (("metrics", METRICS), ("searchers", SEARCHERS)):
        lines = run_here("list", command).stdout.splitlines()
        assert {*registry} <= {re.split("[@ ]", line)[0] for line in lines}


def test_schemas_are_listed_by_name_and_printed_as_json():
    listed = [line.split()[0] for line in run_here("list", "schema").stdout.splitlines()]
    assert listed == [*FILES]
    for name in listed:
        assert json.loads(run_here("list", "schema", name).stdout) == schema(name)


COMMAND = (*AUDIT, "--by", "gender,member", "--out", "out")


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path)
    assert run_here(*COMMAND, "--no-report").code == 0
    return tmp_path / "out"


def test_the_page_of_a_saved_audit_is_the_one_written_with_it(saved: Path):
    assert not (saved / "report.html").exists()
    assert run_here(*COMMAND).code == 0
    written = (saved / "report.html").read_bytes()
    (saved / "report.html").unlink()
    ran = run_here("report", "out")
    assert ran.code == 0
    assert ran.stderr == "Written: out/report.html\n"
    assert (saved / "report.html").read_bytes() == written


def test_a_page_can_be_written_elsewhere(saved: Path):
    ran = run_here("report", "out", "--out", "page.html", "--quiet")
    assert (ran.code, ran.stderr) == (0, "")
    assert 'href="out/groups.parquet"' in Path("page.html").read_text("utf-8")


def test_without_a_report_no_page_is_written(saved: Path):
    ran = run_here(*COMMAND, "--no-report")
    assert "result.json" in ran.stderr
    assert "report.html" not in ran.stderr
    assert not (saved / "report.html").exists()


def test_what_is_no_audit_is_refused(saved: Path):
    for folder, says in (("nowhere", "is no folder"), (".", "cannot be read")):
        ran = run_here("report", folder)
        assert ran.code == 2
        assert says in ran.stderr
    (saved / "groups.parquet").write_text("nothing")
    assert "groups.parquet: cannot be read" in run_here("report", "out").stderr
    pl.DataFrame({"metric": ["auc"]}).write_parquet(saved / "groups.parquet")
    assert "is of another result" in run_here("report", "out").stderr
