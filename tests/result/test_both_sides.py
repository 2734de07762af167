"""Both sides in a folder: two audits, one page, and what vouches for them."""

from __future__ import annotations

import json
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
    # it is replaced by one of its kind, and by no other
    both.save(folder, report=False)
    assert not (folder / "report.html").exists()
    for force in (False, True):
        with pytest.raises(OutputError, match="both sides, whose folders would stay beside an"):
            both.users.save(folder, force=force)


def test_a_side_that_another_audit_wrote_meanwhile_is_not_vouched_for(tmp_path: Path, monkeypatch):
    mine, other = audit_two_sides(permutations=0), audit_two_sides(permutations=0, seed=1)
    folder, save = tmp_path / "audit", type(mine.items).save

    def overtaken(result, path, *rest):
        if path.name == "items":
            save(other.users, folder / "users", False)
        return save(result, path, *rest)

    monkeypatch.setattr(type(mine.items), "save", overtaken)
    with pytest.raises(OutputError, match=r"users/result\.json was written by another audit"):
        mine.save(folder, report=False)
    assert not (folder / "both.json").exists()


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
