"""What a result replaces in its folder, and what it leaves alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fairrec
from fairrec.core.errors import InputError, OutputError
from fairrec.result.folder import AUDIT, MITIGATION, names_to_replace
from tests.builders import audit, make_tables, two_groups
from tests.end_to_end.command_line import files_in
from tests.grouped_options import on_command_line

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


@pytest.mark.parametrize("text", ["{}", "[1]", "no JSON", '{"accuracy": 1}'])
def test_a_result_json_of_another_tool_is_not_overwritten(tmp_path: Path, text: str):
    (tmp_path / "result.json").write_text(text)
    with pytest.raises(OutputError, match=r"result\.json there is of no result of FairRec"):
        RESULT.save(tmp_path)
    assert files_in(tmp_path) == {"result.json": text.encode()}


def test_files_of_other_names_are_no_obstacle_and_stay(tmp_path: Path):
    # names of a mitigation among them, which an audit does not write
    for name in ("notes.txt", "predictions.parquet", "changes.parquet"):
        (tmp_path / name).write_text("mine")
    for _ in range(2):
        RESULT.save(tmp_path, report=False)
    for name in ("notes.txt", "predictions.parquet", "changes.parquet"):
        assert (tmp_path / name).read_text() == "mine"


def test_an_audit_replaces_one_of_any_version_and_one_that_was_interrupted(tmp_path: Path):
    RESULT.save(tmp_path)
    older = json.loads((tmp_path / "result.json").read_text())
    older = {"schema_version": "0", "fairrec_version": "0.0.1", "n_users": older["n_users"]}
    (tmp_path / "result.json").write_text(json.dumps(older))
    RESULT.save(tmp_path, report=False)
    assert "report.html" not in files_in(tmp_path)
    # result.json goes first and comes last
    (tmp_path / "result.json").unlink()
    (tmp_path / ".writing-1").mkdir()
    (tmp_path / ".writing-1" / "replacing").touch()
    with pytest.raises(InputError, match="a command was stopped while it replaced the files"):
        fairrec.load(tmp_path)
    RESULT.save(tmp_path)
    assert files_in(tmp_path).keys() == {*AUDIT.files}
    assert not (tmp_path / ".writing-1").exists()


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
    result.save(tmp_path / "out")


@pytest.mark.parametrize("way", ["a linked folder", "a linked table", "a folder of tables"])
def test_what_was_read_is_known_by_any_name(tmp_path: Path, way: str):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "groups.parquet").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "out")
    (tmp_path / "table.parquet").symlink_to(tmp_path / "out" / "groups.parquet")
    read = {
        "a linked folder": tmp_path / "link" / "groups.parquet",
        "a linked table": tmp_path / "table.parquet",
        "a folder of tables": tmp_path / "out",
    }[way]
    with pytest.raises(OutputError, match=r"groups\.parquet there is read"):
        names_to_replace(AUDIT, tmp_path / "out", force=True, inputs=[read])
    names_to_replace(AUDIT, tmp_path / "other", force=True, inputs=[read])


def test_the_command_line_is_told_its_own_spelling(tmp_path: Path):
    (tmp_path / "reranker.json").write_text("{}")
    names_to_replace(AUDIT, tmp_path, force=False)
    with pytest.raises(OutputError, match="or insist: --force"), on_command_line():
        names_to_replace(MITIGATION, tmp_path, force=False)
    with pytest.raises(OutputError, match=r"reranker\.json there is of no result"):
        names_to_replace(MITIGATION, tmp_path, force=False)
    assert names_to_replace(MITIGATION, tmp_path, force=True)[-1] == "result.json"


def test_an_audit_replaces_a_comparison_only_as_a_whole_and_if_insisted_on(tmp_path: Path):
    fairrec.compare(RESULT, RESULT).save(tmp_path)
    assert "comparison.json" in files_in(tmp_path)
    with pytest.raises(OutputError, match=r"holds a comparison, which an audit would replace"):
        RESULT.save(tmp_path, report=False)
    RESULT.save(tmp_path, report=False, force=True)
    assert files_in(tmp_path).keys() == {*AUDIT.files} - {"report.html"}


def test_a_name_that_is_a_folder_is_refused_before_any_work(tmp_path: Path):
    (tmp_path / "per_user.parquet").mkdir()
    with pytest.raises(OutputError, match=r"per_user\.parquet is a folder there"):
        names_to_replace(AUDIT, tmp_path, force=True)
