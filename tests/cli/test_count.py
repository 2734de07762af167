from __future__ import annotations

import json

import polars as pl
import pytest
from typer.testing import CliRunner

import fairrec
from fairrec.commands import app
from tests.counts.small_counts import BY, halves, tables, values


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


@pytest.mark.parametrize("beside", [[], ["--users", "{}/users.parquet", "--by", BY]])
def test_counts_in_the_place_of_predictions_are_told(files, beside):
    assert counting(files).exit_code == 0
    found = run("audit", files / "counts.parquet", *(word.format(files) for word in beside))
    assert found.exit_code == 2
    assert "counts.parquet holds counts of users" in found.stderr
    assert "Give it alone: --counts FILE" in found.stderr


def test_counts_are_read_by_whatever_name_they_were_written(files):
    named = ["--users", files / "users.parquet", "--by", BY, "--out", files / "cnt"]
    assert run("count", files / "predictions.parquet", *named).exit_code == 0
    found = run("audit", "--counts", files / "cnt", "--format", "json")
    assert found.exit_code == 0
    assert json.loads(found.stdout)["inputs"]["counts"]["name"] == "cnt"


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


def test_counts_that_do_not_say_whose_they_are_are_told_of(files):
    assert "--part NAME" in counting(files).stderr
    assert "--part NAME" not in counting(files, "--part", "all").stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["audit", "--counts", "{}/counts.parquet", "--users", "{}/users.parquet"], "themselves"),
        (["audit", "--disjoint", "{}/predictions.parquet"], "--disjoint is about --counts"),
        (["count", "--out", "{}/other.parquet"], "fairrec count PREDICTIONS"),
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


def test_small_cells_are_merged_on_request(files):
    assert counting(files, "--min-shown", "30").exit_code == 0
    result = fairrec.audit(counts=files / "counts.parquet", permutations=0)
    assert any("(other)" in note for note in result.summary.warnings)


def test_counts_are_not_written_among_the_files_of_a_table(files):
    (files / "folder").mkdir()
    (files / "predictions.parquet").rename(files / "folder" / "0.parquet")
    made = run(
        "count", files / "folder", "--users", files / "users.parquet", "--by", BY,
        "--out", files / "folder" / "counts.parquet",
    )  # fmt: skip
    assert made.exit_code == 2
    assert "read as one table" in made.stderr
    assert not (files / "folder" / "counts.parquet").exists()


def test_a_file_of_counts_is_named_once(files):
    counting(files)
    counts = ["--counts", files / "counts.parquet"]
    found = run("audit", *counts, *counts, "--disjoint")
    assert found.exit_code == 2
    assert "is named twice" in found.stderr


def test_what_is_about_tables_is_not_said_of_counts(files):
    counting(files)
    found = run("audit", "--counts", files / "counts.parquet", "--missing-lists", "drop")
    assert found.exit_code == 2
    assert "Leave out --missing-lists" in found.stderr


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
