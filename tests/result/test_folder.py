"""The files of a result: what they replace, the id they share, where they tell they were made."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

import fairrec
from fairrec.auditing import build_result as workflow
from fairrec.core.errors import InputError, OutputError
from fairrec.report.text import to_markdown
from fairrec.report.view import build_view
from fairrec.result.folder import (
    AUDIT,
    load_audit_run,
    load_groups,
    load_saved,
)
from fairrec.result.parts import ID
from tests.builders import audit, make_tables, two_groups
from tests.end_to_end.command_line import files_in

RESULT = audit(*two_groups(), by="group")


@pytest.mark.parametrize("name", AUDIT.files[:3])
def test_a_file_of_somebody_else_is_not_overwritten_without_insisting(tmp_path: Path, name: str):
    (tmp_path / name).write_text("a year of work")
    (tmp_path / "notes.txt").write_text("mine")
    before = files_in(tmp_path)
    with pytest.raises(OutputError, match=f"{name} there is of no result.*insist: force=True"):
        RESULT.save(tmp_path, report=False)
    assert files_in(tmp_path) == before
    RESULT.save(tmp_path, report=False, force=True)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert (tmp_path / "result.json").is_file()
    assert (tmp_path / name).exists() == (name != "report.html")


def test_an_audit_replaces_one_of_any_version_and_one_that_was_interrupted(tmp_path: Path):
    RESULT.save(tmp_path)
    older = json.loads((tmp_path / "result.json").read_text())
    older = {"schema_version": "0", "fairrec_version": "0.0.1", "n_users": older["n_users"]}
    (tmp_path / "result.json").write_text(json.dumps(older))
    RESULT.save(tmp_path, report=False)
    assert "report.html" not in files_in(tmp_path)
    # result.json goes first and comes last
    (tmp_path / "result.json").unlink()
    (tmp_path / ".writing").mkdir()
    with pytest.raises(InputError, match="a command was stopped while it replaced the files"):
        fairrec.load(tmp_path)
    RESULT.save(tmp_path)
    assert files_in(tmp_path).keys() == {*AUDIT.files}
    assert not (tmp_path / ".writing").exists()


def test_what_was_read_is_never_replaced(tmp_path: Path):
    tables = make_tables()
    tables.predictions.write_parquet(tmp_path / "groups.parquet")
    tables.users.write_parquet(tmp_path / "users.parquet")
    before = files_in(tmp_path)
    paths = [str(tmp_path / f"{name}.parquet") for name in ("groups", "users")]
    result = audit(*paths, by="gender")
    with pytest.raises(OutputError, match=r"groups\.parquet there is read for an audit"):
        result.save(tmp_path, force=True)
    assert files_in(tmp_path) == before
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "run.json").hardlink_to(paths[1])
    with pytest.raises(OutputError, match=r"run\.json there is read for an audit"):
        result.save(tmp_path / "linked", force=True)
    result.save(tmp_path / "out")


def test_a_link_to_nothing_is_not_replaced_without_insisting(tmp_path: Path):
    (tmp_path / "result.json").symlink_to(tmp_path / "nowhere")
    with pytest.raises(OutputError, match=r"result\.json there is of no result"):
        RESULT.save(tmp_path, report=False)


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
    told += to_markdown(build_view(load_saved(folder)[0]))
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


OTHER = "is of another result than the files beside it"


@pytest.fixture
def two(tmp_path: Path) -> list[Path]:
    """Two audits of the same users, whose numbers fit each other's."""
    results = [audit(*two_groups(), by="group", seed=seed) for seed in (1, 2)]
    return [one.save(tmp_path / f"{at}") for at, one in enumerate(results)]


def ids_in(folder: Path) -> dict[str, str]:
    found = {file.name: pl.read_parquet_metadata(file)[ID] for file in folder.glob("*.parquet")}
    found |= {file.name: json.loads(file.read_text())["id"] for file in folder.glob("*.json")}
    page = (folder / "report.html").read_text().splitlines()[-1]
    return {**found, "report.html": page.removeprefix(f"<!-- {ID} ").removesuffix(" -->")}


def test_all_files_of_a_result_carry_one_id_which_is_that_of_its_content(two, tmp_path):
    ids = [ids_in(folder) for folder in two]
    names = {"groups.parquet", "per_user.parquet", "report.html", "result.json", "run.json"}
    assert [one.keys() for one in ids] == [names, names]
    assert [len({*one.values()}) for one in ids] == [1, 1]
    assert ids[0] != ids[1]
    again = audit(*two_groups(), by="group", seed=1).save(tmp_path / "again")
    assert ids_in(again) == ids[0]
    assert fairrec.load(again).save(tmp_path / "copy") and ids_in(tmp_path / "copy") == ids[0]


@pytest.mark.parametrize("name", ["groups.parquet", "per_user.parquet", "run.json", "result.json"])
def test_a_file_of_another_audit_is_refused(two, name):
    shutil.copy(two[1] / name, two[0])
    with pytest.raises(InputError, match=rf"{OTHER}. Read it again if .* else write"):
        fairrec.load(two[0])


def test_a_result_replaced_while_it_is_read_is_refused(two):
    _, id = load_saved(two[0])
    for file in two[1].iterdir():
        shutil.copy(file, two[0])
    with pytest.raises(InputError, match=OTHER):
        load_groups(two[0], id)
    with pytest.raises(InputError, match=rf"run.json: {OTHER}"):
        load_audit_run(two[0], id)


def test_result_is_kept_when_its_page_fails(tmp_path, monkeypatch):
    def fail(*_, **options):
        raise ValueError("no page today")

    monkeypatch.setattr("fairrec.report.audit_result.page_html", fail)
    result = audit(*two_groups(), by="group", permutations=0)
    with pytest.raises(OutputError, match=r"the result is written.*no page today.*report=False"):
        result.save(tmp_path / "out")
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        "groups.parquet",
        "per_user.parquet",
        "result.json",
        "run.json",
    ]
