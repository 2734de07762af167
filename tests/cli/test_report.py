"""`fairrec report` and `--no-report`; no browser needed."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.end_to_end.command_line import AUDIT, run_here, write_tables

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
    for folder, says in (("nowhere", "cannot be read"), (".", "cannot be read")):
        ran = run_here("report", folder)
        assert ran.code == 2
        assert says in ran.stderr
    (saved / "groups.parquet").write_text("nothing")
    assert "groups.parquet: cannot be read" in run_here("report", "out").stderr
    pl.DataFrame({"metric": ["auc"]}).write_parquet(saved / "groups.parquet")
    assert "is of another result" in run_here("report", "out").stderr


def test_a_page_that_cannot_be_written_is_an_error_in_words(saved: Path):
    ran = run_here("report", "out", "--out", "no/such/folder/page.html")
    assert ran.code == 2
    assert "cannot be written" in ran.stderr
