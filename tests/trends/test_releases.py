"""Audits over time: read, named, in order, and what differs among them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from fairrec.core.errors import InputError
from fairrec.result.schema import InputSummary
from fairrec.trends.releases import (
    differing_settings,
    held_out_in_common,
    read_releases,
)
from tests.builders import audit, two_groups
from tests.trends.trend_builders import release, six_releases


def saved(tmp_path, names, audits=None):
    audits = audits or six_releases()
    return [
        audit.save(tmp_path / name, report=False)
        for name, audit in zip(names, audits, strict=False)
    ]


def made_at(folder, when):
    file = folder / "run.json"
    run = json.loads(file.read_text())
    file.write_text(json.dumps({**run, "made_at": when}))


def test_a_history_is_in_the_order_it_was_made(tmp_path):
    folders = saved(tmp_path, ["a", "b", "deep/c"])
    for folder, day in zip(folders, (3, 1, 2), strict=True):
        made_at(folder, f"2026-01-0{day}T00:00:00Z")
    releases, order, notes = read_releases((), tmp_path)
    assert ([one.name for one in releases], order, notes) == (["1.2", "1.3", "1.1"], "made_at", [])
    assert [one.folder for one in releases] == ["b", "c", "a"]


def test_a_history_without_dates_is_in_the_order_of_names_and_says_so(tmp_path):
    folders = saved(tmp_path, ["b", "a"])
    (folders[0] / "run.json").unlink()
    (tmp_path / "notes").mkdir()
    releases, order, notes = read_releases((), tmp_path)
    assert ([one.folder for one in releases], order) == (["a", "b"], "name")
    assert notes == ["Releases are ordered by the names of their folders: no run.json in b"]


def test_a_mitigation_is_no_release(tmp_path):
    folders = saved(tmp_path, ["a", "b", "c"])
    (folders[1] / "mitigation.json").write_text("{}")
    releases, _, notes = read_releases((), tmp_path)
    assert [one.folder for one in releases] == ["a", "c"]
    assert "mitigations and no releases: b" in notes[0]


def test_another_order_than_audits_were_made_in_is_said(tmp_path):
    folders = saved(tmp_path, ["a", "b"])
    made_at(folders[0], "2026-02-01T00:00:00Z")
    made_at(folders[1], "2026-01-01T00:00:00Z")
    _, order, notes = read_releases(folders, None)
    assert order == "as given"
    assert notes == ["Releases are in the order given, though 1.2 was audited before 1.1"]


def test_names_are_versions_then_titles_then_folders_and_tell_releases_apart(tmp_path):
    audits = [
        release(1, model_version="2"),
        release(2, model_version="2", title="two"),
        release(3, title="three"),
        release(4),
    ]
    folders = saved(tmp_path, ["a", "b", "c", "d"], audits)
    releases, _, _ = read_releases([*folders, audits[0], audits[3]], None)
    names = [one.name for one in releases]
    assert names == ["2 (a)", "2 (b)", "three", "d", "2", "release 6"]
    twice, _, _ = read_releases([audits[0], audits[0]], None)
    assert [one.name for one in twice] == ["2 (1)", "2 (2)"]


@pytest.mark.parametrize(
    ("audits", "history", "says"),
    [
        ((), None, "Name the audits to look at"),
        (["nowhere", "nowhere"], None, "is no folder"),
        ((), "nowhere", "is no folder"),
    ],
)
def test_what_makes_no_trend_is_refused(audits, history, says):
    with pytest.raises(InputError, match=says):
        read_releases(audits, history)


def test_one_audit_is_no_trend(tmp_path):
    saved(tmp_path, ["a"])
    with pytest.raises(InputError, match="two releases at least"):
        read_releases((), tmp_path)


def test_files_of_two_audits_are_refused(tmp_path):
    folders = saved(tmp_path, ["a", "b"])
    other = release(1, by="age")
    other.save(tmp_path / "other", report=False)
    (tmp_path / "other" / "groups.parquet").replace(folders[0] / "groups.parquet")
    with pytest.raises(InputError, match="is of another result"):
        read_releases(folders, None)


def test_held_out_data_in_common_are_known_by_their_checksum():
    releases, _, _ = read_releases(six_releases()[:4], None)
    tested = []
    for one, checksum in zip(releases, ("a" * 64, "a" * 64, "b" * 64, None), strict=True):
        table = InputSummary(name="test.csv", sha256=checksum)
        inputs = {**one.summary.inputs, "test": table}
        tested.append(replace(one, summary=one.summary.model_copy(update={"inputs": inputs})))
    common = held_out_in_common(tested)
    assert common[0].tolist() == [1, 1, 0, 0]
    assert common[3].tolist() == [0, 0, 0, 1]
    assert (held_out_in_common(releases) == np.eye(4)).all()


def test_settings_that_differ_are_said_with_the_releases_that_have_them():
    audits = [
        release(1, model_version="a"),
        release(2, model_version="b", alpha=0.1, min_support=20),
        release(3, model_version="c", by="age"),
    ]
    releases, _, _ = read_releases(audits, None)
    notes = differing_settings(releases)
    assert notes == [
        "Releases differ in attributes: age, gender in a, b; age in c",
        "Releases differ in significance level: 0.05 in a, c; 0.1 in b",
        "Releases differ in smallest group: as usual in a, c; 20 in b",
    ]
    assert differing_settings(releases[:1] * 2) == []


def test_audits_named_come_after_those_of_the_history_and_are_read_once(tmp_path):
    folders = [
        audit(*two_groups(), by="group").save(tmp_path / name, report=False) for name in "ab"
    ]
    releases, *_ = read_releases([folders[0]], tmp_path)
    assert [one.folder for one in releases] == ["b", "a"]
