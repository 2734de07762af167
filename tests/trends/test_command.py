"""`fairrec trend`, with the real command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end_to_end.command_line import run_here
from tests.trends.trend_builders import six_releases


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for number, audit in enumerate(six_releases(), start=1):
        audit.save(tmp_path / "audits" / f"r{number}", report=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_releases_are_named_one_by_one_and_written(here: Path):
    folders = [f"audits/r{number}" for number in range(1, 7)]
    ran = run_here("trend", *folders, "--out", "out")
    assert ran.code == 0, ran.stderr
    assert ran.stdout.startswith("gender=F, age=old is worse since 1.4 in score")
    assert ran.stderr == "Written to out: trend.json, report.html\n"
    told = json.loads((here / "out" / "trend.json").read_text())
    assert told["command"] == f"fairrec trend {' '.join(folders)}"
    assert told["order"] == "as given"
    page = (here / "out" / "report.html").read_bytes()
    assert run_here("report", "out", "--out", "again.html").code == 0
    assert (here / "again.html").read_bytes() == page


def test_a_history_is_looked_at_as_a_whole(here: Path):
    ran = run_here(
        *("trend", "--history", "audits", "--format", "json", "--alpha", "0.01"),
        *("--group", "gender=F,age=old", "--group", "gender=M", "--metric", "score"),
        *("--out", "out", "--no-report", "--quiet"),
    )
    assert (ran.code, ran.stderr) == (0, "")
    told = json.loads(ran.stdout)
    assert [line["group"] for line in told["lines"]] == [
        {"gender": "F", "age": "old"},
        {"gender": "M"},
    ]
    assert (told["alpha"], told["order"], told["n_groups"]) == (0.01, "made_at", 2)
    assert [file.name for file in (here / "out").iterdir()] == ["trend.json"]


def test_markdown_is_for_a_pull_request(here: Path):
    ran = run_here("trend", "--history", "audits", "--format", "markdown")
    assert ran.stdout.startswith("# FairRec trend\n\n**gender=F, age=old is worse since 1.4")


def test_a_release_that_is_looked_at_is_not_replaced(here: Path):
    ran = run_here("trend", "audits/r1", "audits/r2", "--out", "audits/r1", "--force")
    assert ran.code == 2 and "result.json there is read for a trend" in ran.stderr
    assert (here / "audits/r1/result.json").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "Name the audits to look at one by one"),
        (("audits/r1",), "two releases at least"),
        (("audits/r1", "nowhere"), "is no folder"),
        (("--history", "audits", "--group", "gender"), "invalid --group: expected"),
        (("--history", "audits", "--metric", "scor"), "Did you mean 'score'"),
    ],
)
def test_bad_input_is_one_message_and_exit_2(here: Path, arguments: tuple[str, ...], says: str):
    ran = run_here("trend", *arguments)
    assert ran.code == 2
    assert says in ran.stderr and "Traceback" not in ran.stderr
