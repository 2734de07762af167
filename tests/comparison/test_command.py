"""`fairrec compare`."""

from __future__ import annotations

import json

import polars as pl
import pytest

import fairrec
from tests.compared_audits import audited, users_table
from tests.end_to_end.command_line import run_here


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("audits")
    users = users_table()
    audited(users, 1).save(place / "v1", report=False)
    audited(users, 2, {"plan=free": 1.0}, tolerance=0.3).save(place / "v2", report=False)
    return place


@pytest.fixture
def here(folders, monkeypatch):
    monkeypatch.chdir(folders)
    return folders


def test_a_comparison_is_printed_and_written(here, tmp_path):
    ran = run_here("compare", "v1", "v2", "--out", str(tmp_path / "out"))
    assert ran.code == 0
    assert ran.stdout.startswith("On average clicks became worse (")
    assert "plan=free lost by more than 0.300 (" in ran.stdout
    assert "v1 (600 users) → v2 (600 users)" in ran.stdout
    assert "comparison.json, changes.parquet, report.html" in ran.stderr
    found = fairrec.load(tmp_path / "out")
    assert found.summary.base.name == "v1"
    assert str(here) not in (tmp_path / "out" / "report.html").read_text()
    ran = run_here("report", str(tmp_path / "out"), "--out", str(tmp_path / "again.html"))
    assert ran.code == 0
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "out/report.html").read_bytes()


def test_markdown_and_json_are_printed_where_asked_for(here):
    ran = run_here("compare", "v1", "v2", "--format", "markdown")
    assert ran.stdout.startswith("# FairRec comparison\n\n**On average clicks became worse ")
    assert "### Groups that changed" in ran.stdout
    ran = run_here("compare", "v1", "v2", "--format", "json", "--tolerance", "clicks=2")
    summary = json.loads(ran.stdout)
    assert summary["metrics"]["clicks"]["tolerance"] == 2
    assert summary["metrics"]["clicks"]["n_lost_by_more"] == 0


def test_without_a_page_there_is_none(here, tmp_path):
    ran = run_here("compare", "v1", "v2", "--out", str(tmp_path), "--no-report", "--quiet")
    assert (ran.code, ran.stderr) == (0, "")
    assert not (tmp_path / "report.html").exists()
    assert pl.read_parquet(tmp_path / "changes.parquet").height > 20


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("v1", "nowhere"), "nowhere: is no folder"),
        (("v1", "v2", "--tolerance", "likes=1"), "--tolerance: No audited metric 'likes'"),
        (("v1", "v2", "--out", "v1"), "v1: holds an audit"),
        (("v1", "v2", "--out", "v1", "--force"), "result.json there is read for a comparison"),
        ((".", "v2"), "Is it an audit?"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_two(here, arguments, says):
    ran = run_here("compare", *arguments)
    assert ran.code == 2
    assert says in ran.stderr
    assert "Traceback" not in ran.stderr
