"""Groups over releases, from audits to what is said."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from benchmarks.statistics.items import FEW, FULL, GREW, releases

import fairrec
from fairrec.core.errors import InputError, UnknownNameError
from fairrec.result.schema import InputSummary
from fairrec.trends.group_lines import build_lines
from fairrec.trends.options import TrendOptions
from fairrec.trends.release_overlap import (
    held_out_in_common,
    members_in_common,
    users_in_common,
)
from fairrec.trends.releases import differing_settings, read_releases
from tests.comparison.two_sides import audit_items
from tests.trends.trend_builders import N_USERS, release, six_releases, users_of

WORSE = {"gender": "F", "age": "old"}


def test_a_group_that_gets_worse_is_named_with_its_release():
    found = fairrec.trend(six_releases())
    first = found.worse[0]
    since = first.worse_since
    assert (first.group, first.metric) == (WORSE, "score")
    assert (since.since, since.release, since.shown_at) == (3, "1.4", "1.4")
    assert since.growth == pytest.approx(1.0, abs=0.2)
    assert since.p_adjusted < 0.05 and not since.is_back
    points = first.points
    assert [point.support for point in points] == [200] * 6
    assert points[0].interval[0] < points[0].harm < points[0].interval[1]
    assert points[-1].simultaneous[0] < points[-1].interval[0]
    assert points[-1].outcome == "worse"
    assert found.summary.users == "the same"
    assert found.summary.n_groups == 8


def test_releases_without_a_change_have_no_group_that_is_worse_since():
    found = fairrec.trend([release(seed) for seed in range(20, 26)])
    assert found.worse == ()
    # groups of one attribute are shown all the same
    assert {frozenset(line.group) for line in found.lines if line.why == "one attribute"} == {
        frozenset({"gender"}),
        frozenset({"age"}),
    }


def test_items_are_shown_less_since_a_release_by_what_other_users_would_change():
    """How much items differ among themselves says nothing of the same items a release later."""
    held_back = [0.0] * 3 + [0.5] * 2
    assert sum(releases(seed, FULL, held_back)[GREW][0] for seed in range(3)) >= 2
    assert sum(releases(seed, FEW, [0.0] * 4)[GREW][0] for seed in range(5)) <= 1


def test_a_group_that_was_always_worse_is_worse_by_all_releases_and_not_since_one():
    others = [users_of(first=1000 * seed) for seed in range(4)]
    audits = [release(seed, 0.6, users) for seed, users in enumerate(others)]
    (line,) = fairrec.trend(audits, group="gender=F,age=old").lines
    assert line.worse_since is None
    assert line.together.harm == pytest.approx(0.6, abs=0.1)
    assert line.why == "named"


def test_what_is_missing_in_a_release_is_a_gap_and_is_said():
    few = users_of().filter((users_of()["gender"] != "F") | (users_of()["age"] != "old"))
    audits = [*six_releases()[:4], release(9, users=few, title="few"), *six_releases()[4:]]
    found = fairrec.trend(audits, group=[WORSE])
    (line,) = found.lines
    assert [point is None for point in line.points] == [False] * 4 + [True] + [False] * 2
    assert line.worse_since.release == "1.4"
    assert any("not in every release" in note for note in found.summary.notes)
    assert found.summary.users == "partly the same"
    assert any("Some users were audited in several" in note for note in found.summary.notes)


def test_a_group_whose_members_were_exchanged_once_is_not_worse_since():
    """The same users and values in every release: only labels are others from the fifth on."""
    rng = np.random.default_rng(3)
    taste, place = rng.normal(size=N_USERS), np.repeat(["here", "there"], [40, N_USERS - 40])
    # by bad luck, as in one of twenty worlds
    dealt = sorted(
        (rng.permutation(place) for _ in range(20)), key=lambda place: taste[place == "here"].mean()
    )
    unlucky, lucky = dealt[0], dealt[10]
    values = pl.DataFrame({"user_id": range(N_USERS), "score": taste})

    def labelled(place):
        users = pl.DataFrame({"user_id": range(N_USERS), "place": place})
        return fairrec.audit(
            values=values,
            users=users,
            by="place",
            tables=fairrec.Tables(better="score=higher"),
            statistics=fairrec.Statistics(permutations=9),
        )

    few, many = labelled(lucky), labelled(unlucky)
    audits = [replace(few) for _ in range(4)] + [replace(many) for _ in range(16)]
    found = fairrec.trend(audits)
    assert found.summary.users == "the same"
    assert found.worse == ()


def test_a_metric_without_a_better_end_is_shown_and_not_tested():
    found = fairrec.trend([release(seed, 1.0 * (seed > 3), better={}) for seed in range(1, 7)])
    assert found.lines and not any(line.worse_since or line.together for line in found.lines)
    assert "Not tested, as neither end is better: score" in found.summary.notes


def test_audits_of_other_metrics_make_no_trend():
    values = pl.DataFrame({"user_id": users_of()["user_id"], "other": range(800)})
    other = fairrec.audit(
        values=values, users=users_of(), by="gender", statistics=fairrec.Statistics(permutations=9)
    )
    with pytest.raises(InputError, match="No metric is in two of these audits"):
        fairrec.trend([six_releases()[0], other])
    both = fairrec.trend([*six_releases()[:2], other]).summary
    assert "In one release only, and not followed: other" in both.notes
    assert list(both.metrics) == ["score"]


def releases_of(*audits):
    return read_releases(audits, None)[0]


def test_a_line_has_the_numbers_of_its_group_in_each_release():
    releases = releases_of(*six_releases())
    lines = build_lines(releases, {"score": True}, ())
    assert len(lines.groups) == 8
    at = lines.groups.index({"gender": "F", "age": "old"})
    for look, one in enumerate(releases):
        (row,) = one.groups.filter((pl.col("gender") == "F") & (pl.col("age") == "old")).iter_rows(
            named=True
        )
        point = lines.points[at][look]
        assert (point.value, point.outcome) == (row["value"], row["outcome"])
        assert lines.harm[at, look] == -row["difference"] == point.harm
        assert point.simultaneous == (-row["simultaneous_high"], -row["simultaneous_low"])
        half = (row["difference_high"] - row["difference_low"]) / 2
        assert lines.error[at, look] == pytest.approx(half / 1.96, rel=0.15)


def shared_by_group(releases):
    lines = build_lines(releases, {"score": True}, ())
    shared = members_in_common(releases, lines)
    return {
        tuple(sorted(group.items())): one for group, one in zip(lines.groups, shared, strict=True)
    }


def test_users_in_common_are_known_by_their_ids():
    releases = releases_of(release(1), release(2), release(3, users=users_of(first=400)))
    assert users_in_common(releases) == "partly the same"
    assert users_in_common(releases[:2]) == "the same"
    others = releases_of(release(1), release(2, users=users_of(first=2000)))
    assert users_in_common(others) == "others"
    assert (shared_by_group(others)[("age", "old"),] == np.eye(2)).all()
    nameless = [replace(one, users=None) for one in releases[:2]]
    assert users_in_common(nameless) == "not known"
    assert all(np.isnan(one).all() for one in shared_by_group(nameless).values())


def test_members_who_changed_their_group_are_others_and_all_else_is_as_it_was():
    young_and_old = users_of().with_columns(pl.col("age").shuffle(seed=1))
    releases = releases_of(release(1), release(2, users=young_and_old))
    assert users_in_common(releases) == "the same"
    shared = shared_by_group(releases)
    assert shared[("gender", "F"),] == pytest.approx(1)
    # by hand: labels that say nothing of those before are not correlated with them
    assert abs(shared[("age", "old"),][0, 1]) < 3 / N_USERS**0.5
    assert shared[("age", "old"),] == pytest.approx(shared[("age", "young"),])


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
    assert names == ["2 (1)", "2 (2)", "three", "d", "2 (5)", "release 6"]
    nameless, _, _ = read_releases([release(1, model_version="2"), audits[0]], None)
    assert [one.name for one in nameless] == ["2 (1)", "2 (2)"]


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
        "Releases differ in by: gender, age in a, b; age in c",
        "Releases differ in alpha: 0.05 in a, c; 0.1 in b",
        "Releases differ in min_support: not given in a, c; 20 in b",
    ]
    assert differing_settings(releases[:1] * 2) == []


def test_a_saved_trend_is_the_same_again(tmp_path):
    result = fairrec.trend(six_releases())
    again = fairrec.load(result.save(tmp_path / "out"))
    assert isinstance(again, fairrec.TrendResult)
    assert again == result and again.worse == result.worse
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        *("report.html", "trend.json")
    ]
    again.save(tmp_path / "copy", report=False)
    kept, copied = ((tmp_path / place / "trend.json").read_bytes() for place in ("out", "copy"))
    assert kept == copied and not (tmp_path / "copy" / "report.html").exists()


def test_a_history_is_in_the_order_it_was_made_or_named_and_has_no_mitigation(tmp_path):
    folders = saved(tmp_path, ["a", "b", "deep/c", "d"])
    (folders[3] / "mitigation.json").write_text("{}")
    for folder, day in zip(folders, (3, 1, 2, 4), strict=True):
        made_at(folder, f"2026-01-0{day}T00:00:00Z")
    releases, order, notes = read_releases((), tmp_path)
    assert ([one.name for one in releases], order) == (["1.2", "1.3", "1.1"], "made_at")
    assert [one.folder for one in releases] == ["b", "c", "a"]
    assert notes == ["Left out, because they are mitigations and no releases: d"]
    # those named come after it, and are read once
    releases, *_ = read_releases([folders[0], folders[1]], tmp_path)
    assert [one.folder for one in releases] == ["c", "a", "b"]
    _, order, notes = read_releases(folders[:2], None)
    assert order == "as given"
    assert notes == ["Releases are in the order given, though 1.2 was audited before 1.1"]
    (folders[1] / "run.json").unlink()
    releases, order, notes = read_releases((), tmp_path)
    assert ([one.folder for one in releases], order) == (["a", "b", "c"], "name")
    assert notes[1:] == ["Releases are ordered by the names of their folders: no run.json in b"]


def test_what_makes_no_trend_is_refused(tmp_path):
    (folder,) = saved(tmp_path, ["a"])
    for audits, history, says in (
        ((), None, "two releases at least, not 0"),
        (["nowhere", "elsewhere"], None, "is no folder"),
        ((), "nowhere", "is no folder"),
        ((), tmp_path, "two releases at least"),
        ([folder, tmp_path / "." / "a"], None, "is named twice. An audit is one release"),
        ([six_releases()[0]] * 2, None, "an audit: is named twice"),
    ):
        with pytest.raises(InputError, match=says):
            read_releases(audits, history)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"metric": "scroe"}, "No metric in these audits 'scroe'"),
        ({"group": "sex=F"}, "No attribute in these audits 'sex'"),
        ({"group": "age=elderly"}, "age has old, young"),
        *(({"group": given}, "invalid group: expected") for given in ("age", "", [3], "a=1,a=2")),
    ],
)
def test_what_no_release_has_and_what_is_no_group_is_refused(options, says):
    with pytest.raises((InputError, UnknownNameError), match=says):
        fairrec.trend(six_releases()[:2], **options)


def test_releases_that_are_not_comparable_are_refused():
    with pytest.raises(InputError, match="better end is not the same"):
        fairrec.trend([release(1), release(2, better={"score": "lower"})])
    with pytest.raises(InputError, match=r"audits of items .* and of users"):
        fairrec.trend([audit_items(), release(1)])


def test_groups_are_read_as_text_as_mappings_and_several_at_once():
    wanted = frozenset({("gender", "F"), ("age", "56+")})
    for given in ("gender=F, age=56+", ["age=56+,gender=F"], {"gender": "F", "age": "56+"}):
        assert TrendOptions(group=given).group == (wanted,)
    assert len(TrendOptions(group=["gender=F", "gender=M", {"gender": "F"}]).group) == 2
    # a value with a comma can be named from Python
    assert TrendOptions(group={"town": "Bath, Avon"}).group == (
        frozenset({("town", "Bath, Avon")}),
    )
