"""`fairrec report`, `--no-report`, `save()` and `show()`; no browser needed."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import polars as pl
import pytest

from tests.builders import audit, make_tables, two_groups
from tests.end_to_end.command_line import AUDIT, run_here, write_tables


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path)
    assert run_here(*AUDIT, "--by", "gender,member", "--out", "out").code == 0
    return tmp_path / "out"


def test_the_page_of_a_saved_audit_is_the_one_written_with_it(saved: Path):
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
    ran = run_here(*AUDIT, "--by", "gender", "--out", "bare", "--no-report")
    assert "report.html" not in ran.stderr
    assert not Path("bare/report.html").exists()


def test_what_is_no_audit_is_refused(saved: Path):
    for folder, says in (("nowhere", "cannot be read"), (".", "cannot be read")):
        ran = run_here("report", folder)
        assert ran.code == 2
        assert says in ran.stderr
    (saved / "groups.parquet").write_text("nothing")
    assert "is no Parquet file" in run_here("report", "out").stderr
    pl.DataFrame({"metric": ["auc"]}).write_parquet(saved / "groups.parquet")
    assert "does not belong to this result" in run_here("report", "out").stderr


def test_a_page_that_cannot_be_written_is_an_error_in_words(saved: Path):
    ran = run_here("report", "out", "--out", "no/such/folder/page.html")
    assert ran.code == 2
    assert "cannot be written" in ran.stderr


def test_show_writes_a_page_of_its_own_outside_a_notebook():
    tables = make_tables()
    result = audit(tables.predictions, tables.users, by="gender")
    file = result.show()
    assert file is not None
    page = file.read_text("utf-8")
    file.unlink()
    file.parent.rmdir()
    assert page.startswith("<!DOCTYPE html>")
    # the table of groups was not written, so there is nothing to link to
    assert 'href="groups.parquet"' not in page


def test_show_displays_the_page_in_a_notebook(monkeypatch: pytest.MonkeyPatch):
    shown: list[str] = []
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    display.HTML = lambda text: text  # type: ignore[attr-defined]
    display.display = shown.append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    assert audit(*two_groups(), by="group").show() is None
    (frame,) = shown
    assert frame.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert "<script" not in frame


def test_a_saved_result_is_written_whole_or_not_at_all(tmp_path: Path):
    (tmp_path / "report.html").mkdir()
    with pytest.raises(OSError, match="cannot be written"):
        audit(*two_groups(), by="group").save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
