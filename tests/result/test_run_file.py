"""When and where a result was made, and that nothing else tells it."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fairrec.auditing import named_result as workflow
from fairrec.core.errors import InputError, OutputError
from fairrec.report.text.markdown import to_markdown
from fairrec.report.text.view import build_view
from fairrec.result.saved import AuditRun, load_audit_run, load_saved, load_summary, place_of
from tests.builders import audit, make_tables, two_groups

HOSTILE = "client <script>alert(1)</script>; 'acme' é"
"""No slash, which no name may hold: the browser sees `&lt;` in its place."""
HOSTILE = HOSTILE.replace("/", "\\")


def write_audit(folder: Path, name: str = "out", **options) -> Path:
    """An audit of files of a folder, called by their whole paths."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = make_tables()
    for table in ("predictions", "users"):
        getattr(tables, table).write_parquet(folder / f"{table}.parquet")
    paths = [str(folder / f"{table}.parquet") for table in ("predictions", "users")]
    command = f"fairrec audit '{paths[0]}'"
    result = audit(*paths, by="gender", command=options.pop("command", command), **options)
    return result.save(folder / name)


def test_the_same_audit_elsewhere_and_later_has_the_same_bytes(tmp_path, monkeypatch):
    first = write_audit(tmp_path / "one")
    later = datetime.now(UTC) + timedelta(days=400)

    class Clock:
        now = staticmethod(lambda zone: later)

    monkeypatch.setattr(workflow, "datetime", Clock)
    monkeypatch.chdir(tmp_path)
    second = write_audit(tmp_path / "two", "another")
    assert (first / "result.json").read_bytes() == (second / "result.json").read_bytes()
    runs = [load_audit_run(folder, load_saved(folder)[1]) for folder in (first, second)]
    assert runs[1].made_at - runs[0].made_at > timedelta(days=399)
    assert runs[1].output.absolute == str(second)


@pytest.mark.parametrize("search", [None, "adaptive"])
def test_no_page_and_no_result_tells_where_it_was_made(tmp_path, search):
    home = tmp_path / HOSTILE
    home.mkdir()
    (home / "fairrec.toml").write_text('title = "Spring"')
    more = {} if search is None else {"search": search}
    folder = write_audit(home, settings=home / "fairrec.toml", **more)
    told = (folder / "result.json").read_text() + (folder / "report.html").read_text()
    told += to_markdown(build_view(load_summary(folder)))
    for part in (tmp_path.name, "acme", "alert(1)"):
        assert part not in told
    assert {"predictions.parquet", "fairrec.toml", "Spring"} <= {*re.findall(r"[\w.]+", told)}
    run = json.loads((folder / "run.json").read_text())
    assert run["inputs"]["users"] == {
        "given": str(home / "users.parquet"),
        "absolute": str(home / "users.parquet"),
    }
    assert [*run["inputs"]] == ["predictions", "users", "settings"]
    assert run["output"]["absolute"] == str(home / "out")
    assert HOSTILE in run["command"]


def test_a_ledger_is_not_told_by_the_call_either(tmp_path):
    from fairrec import SearchOptions

    options = SearchOptions("random", ledger=tmp_path / "paid.ledger")
    result = audit(*make_tables()[:2], by="gender", search=options)
    assert "paid.ledger" in result.summary.command
    assert str(tmp_path) not in result.to_json()
    assert result.run.seconds_in_ledger is not None
    assert "seconds" not in result.to_json().replace("budget_seconds", "")


def test_what_a_run_holds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = datetime.now(UTC).replace(microsecond=0)
    result = audit(*two_groups(), by="group", command="fairrec audit x")
    run = result.run
    assert before <= run.made_at <= datetime.now(UTC)
    assert (run.inputs, run.command, run.folder) == ({}, "fairrec audit x", str(tmp_path))
    assert run.output is None and run.seconds_in_ledger is None and run.seconds > 0
    result.save("out", report=False)
    kept = load_audit_run("out", load_saved("out")[1])
    assert kept.output == place_of("out")
    assert (kept.output.given, kept.output.absolute) == ("out", str(tmp_path / "out"))
    text = Path("out/run.json").read_text()
    assert re.search(r'"made_at": "\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"', text)
    assert kept == run.model_copy(update={"output": kept.output})


def test_a_working_folder_that_was_removed_stops_no_audit_in_memory(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    try:
        assert audit(*two_groups(), by="group").run.folder == ""
    finally:
        os.chdir(tmp_path)


@pytest.mark.parametrize("force", [False, True])
def test_a_trained_run_is_not_overwritten(tmp_path, force):
    (tmp_path / "run.json").write_text('{"model": "deepfm", "hyper_parameters": {}}')
    with pytest.raises(InputError, match="is no run of an audit") as said:
        load_audit_run(tmp_path, "")
    # what to do, and not a page of the validator's
    assert str(said.value).endswith("a result can be read without it.")
    assert "\n" not in str(said.value)
    with pytest.raises(OutputError, match="is of a trained run, and would be overwritten"):
        audit(*two_groups(), by="group").save(tmp_path, force=force)
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_the_schema_refuses_what_it_does_not_know():
    with pytest.raises(ValueError, match="surprise"):
        AuditRun.model_validate({"surprise": 1})
