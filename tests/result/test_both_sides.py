"""Both sides in a folder: two audits, one page, and what vouches for them."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import fairrec
from fairrec.core.errors import InputError, OutputError
from tests.workflows.two_sides import audit_two_sides, is_same


def test_both_are_saved_into_one_folder_and_loaded_again(tmp_path: Path):
    both = audit_two_sides(metrics="mrr@5,exposure@5")
    folder = both.save(tmp_path / "audit")
    assert sorted(file.name for file in folder.iterdir()) == [
        "both.json",
        "items",
        "report.html",
        "users",
    ]
    again = fairrec.load(folder)
    assert is_same(again.users, both.users)
    assert is_same(again.items, both.items)
    assert again.outcome == both.outcome == "worse"
    assert again.command == both.command
    assert repr(again) == repr(both)
    assert repr(both).startswith("audit of 400 users by gender, worse\n  mrr@5")
    assert "\naudit of 60 items by kind, worse\n" in repr(both)
    said = json.loads(both.to_json())
    assert said["outcome"] == "worse"
    assert said["items"] == json.loads(both.items.to_json())


def test_both_are_replaced_as_a_whole(tmp_path: Path):
    both = audit_two_sides(permutations=0)
    folder = both.save(tmp_path / "audit")
    for name in ("notes", "items/notes"):
        (folder / name).write_text("mine")
    both.save(folder, report=False)
    assert not [*folder.rglob("report.html")]
    with pytest.raises(OutputError, match="both sides, which an audit would replace as a whole"):
        both.users.save(folder)
    # a trained run that somebody put there is not replaced, insisted on or not
    run = (folder / "items" / "run.json").read_text()
    (folder / "items" / "run.json").write_text("{}")
    with pytest.raises(OutputError, match=r"items: its run\.json is of no audit"):
        both.users.save(folder, force=True)
    (folder / "items" / "run.json").write_text(run)
    both.users.save(folder, report=False, force=True)
    assert not (folder / "users").exists()
    assert is_same(fairrec.load(folder), both.users)
    assert (folder / "notes").exists() and (folder / "items" / "notes").exists()


def test_a_failure_leaves_both_as_they_were(tmp_path: Path, monkeypatch):
    old, new = audit_two_sides(permutations=0), audit_two_sides(permutations=0, seed=1)
    folder = old.save(tmp_path / "audit", report=False)
    monkeypatch.setattr("fairrec.result.both_sides.BothSummary", lambda **_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        new.save(folder, report=False)
    monkeypatch.undo()
    again = fairrec.load(folder)
    assert is_same(again.users, old.users) and is_same(again.items, old.items)
    assert [path.name for path in tmp_path.iterdir()] == ["audit"]


def test_what_lies_in_the_folder_of_a_side_is_replaced_only_if_it_is_an_audit(tmp_path: Path):
    both = audit_two_sides(permutations=0)
    folder = tmp_path / "audit"
    both.items.save(folder / "users", report=False)
    both.save(folder, report=False)
    assert fairrec.load(folder).users.summary.unit.is_users
    (tmp_path / "other" / "items").mkdir(parents=True)
    (tmp_path / "other" / "items" / "groups.parquet").write_text("mine")
    with pytest.raises(OutputError, match=r"items: groups\.parquet there is of no result"):
        both.save(tmp_path / "other", report=False)


def test_a_page_that_cannot_be_made_costs_no_result(tmp_path: Path):
    both = replace(audit_two_sides(permutations=0), page=lambda *_: 1 / 0)
    with pytest.raises(OutputError, match="the result is written, but its page could not be made"):
        both.save(tmp_path)
    assert (tmp_path / "items" / "report.html").exists()
    assert not (tmp_path / "report.html").exists()
    assert is_same(fairrec.load(tmp_path).users, both.users)


def test_a_side_in_the_place_of_the_other_is_told(tmp_path: Path):
    folder = audit_two_sides(permutations=0).save(tmp_path / "audit", report=False)
    shutil.rmtree(folder / "items")
    shutil.copytree(folder / "users", folder / "items")
    said = json.loads((folder / "both.json").read_text())
    said["files"]["items/result.json"] = said["files"]["users/result.json"]
    (folder / "both.json").write_text(json.dumps(said))
    with pytest.raises(InputError, match=r"items/result\.json is an audit of users"):
        fairrec.load(folder)


def test_a_pipe_in_the_place_of_a_side_is_told(tmp_path: Path):
    folder = audit_two_sides(permutations=0).save(tmp_path / "audit", report=False)
    (folder / "users" / "result.json").unlink()
    os.mkfifo(folder / "users" / "result.json")
    with pytest.raises(InputError, match="is a pipe or a device and no file"):
        fairrec.load(folder)


def test_two_audits_that_were_not_made_together_are_told(tmp_path: Path):
    folder = audit_two_sides(permutations=0).save(tmp_path / "audit", report=False)
    other = audit_two_sides(permutations=0, by_items="maker", min_support=1)
    other.items.save(folder / "items", report=False)
    with pytest.raises(InputError, match=r"items/result\.json is not the one that was written"):
        fairrec.load(folder)


def test_where_one_audit_is_needed_both_are_refused(tmp_path: Path):
    folder = audit_two_sides(permutations=0).save(tmp_path / "audit", report=False)
    with pytest.raises(InputError, match=r"holds an audit of both sides.*users or items in it"):
        fairrec.compare(folder, folder / "users")


def test_small_groups_and_users_are_left_out_of_both(tmp_path: Path):
    both = audit_two_sides(permutations=0, by_items="maker", min_support=1)
    folder = both.save(tmp_path / "audit", min_shown=10, aggregates_only=True)
    assert not (folder / "users" / "per_user.parquet").exists()
    shown = fairrec.load(folder)
    assert shown.items.summary.hidden.n_groups == 20
    assert "maker=7" not in (folder / "report.html").read_text(encoding="utf-8")


def test_nothing_tested_has_no_outcome():
    assert audit_two_sides(permutations=0).outcome is None
