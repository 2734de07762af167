"""Groups over releases, from audits to what is said."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from benchmarks.statistics.items import FEW, FULL, GREW, releases

import fairrec
from fairrec.core.errors import InputError, OutputError, UnknownNameError
from fairrec.result.schema import InputSummary
from fairrec.trends.group_lines import (
    _harms,
    build_lines,
    exchanged,
    follow,
    members_in_common,
    users_in_common,
)
from fairrec.trends.options import TrendOptions
from fairrec.trends.releases import differing_settings, held_out_in_common, read_releases
from fairrec.trends.result import TrendSummary
from tests.builders import audit, two_groups
from tests.grouped_options import group_options
from tests.mitigation.planted import mitigate, planted
from tests.trends.trend_builders import N_USERS, release, six_releases, users_of

WORSE = {"gender": "F", "age": "old"}


def test_a_group_that_gets_worse_is_named_with_its_release():
    found = fairrec.trend(six_releases())
    first = found.worse[0]
    since = first.worse_since
    assert (first.group, first.metric) == (WORSE, "score")
    assert (since.since, since.release, since.said_at) == (3, "1.4", "1.4")
    assert since.growth == pytest.approx(1.0, abs=0.2)
    assert since.p_adjusted < 0.05 and not since.is_back
    points = first.points
    assert [point.support for point in points] == [200] * 6
    assert points[0].harm == -points[0].difference
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


def test_a_group_that_is_back_is_said_and_no_longer_fails_a_gate():
    found = fairrec.trend([*six_releases(), release(30)])
    (line,) = (line for line in found.lines if line.group == WORSE)
    assert line.worse_since.release == "1.4" and line.worse_since.is_back
    assert line not in found.worse


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


def test_where_users_are_not_known_it_is_said(tmp_path):
    folders = []
    for number, one in enumerate(six_releases()):
        folders.append(one.save(tmp_path / str(number), report=False))
    (folders[2] / "per_user.parquet").unlink()
    summary = fairrec.trend(folders).summary
    assert summary.users == "not known"
    assert "Who was audited is not known" in summary.notes[-1]


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

    found = fairrec.trend([*[labelled(lucky)] * 4, *[labelled(unlucky)] * 16])
    assert found.summary.users == "the same"
    assert found.worse == ()
    assert "2 of 2 groups have other members" in found.summary.notes[-1]


def test_of_a_mitigation_the_lists_after_it_are_a_release(tmp_path):
    result = mitigate(planted(), "ndcg@5")
    found = fairrec.trend([result, result, result.audit], metric="ndcg@5").summary
    assert found.users == "the same"
    assert all(line.points[0] == line.points[1] == line.points[2] for line in found.lines)
    saved = result.save(tmp_path / "saved", report=False)
    assert fairrec.trend([saved, result], metric="ndcg@5").summary.releases[0].n_users == (
        result.audit.summary.n_users
    )


def test_a_metric_without_a_better_end_is_worse_where_it_moves_away():
    audits = [release(seed, 1.0 * (seed > 3), better={}) for seed in range(1, 7)]
    line = next(line for line in fairrec.trend(audits).worse if line.group == WORSE)
    assert line.worse_since.end == "lower"
    assert line.points[-1].harm > 0 > line.points[-1].difference
    assert line.points[0].interval[0] == 0.0
    # towards the others is no harm
    towards = [release(seed, 1.0 * (seed < 4), better={}) for seed in range(1, 7)]
    assert all(line.group != WORSE for line in fairrec.trend(towards).worse)


def test_findings_of_any_release_are_shown_at_most_ten(monkeypatch):
    from fairrec.trends import trend as module

    shown = fairrec.trend(six_releases()).lines
    assert any(line.why == "finding" and len(line.group) == 2 for line in shown)
    monkeypatch.setattr(module, "MOST_FINDINGS", 0)
    assert not any(line.why == "finding" for line in fairrec.trend(six_releases()).lines)
    # what is worse since a release is shown whether or not it was a finding
    assert fairrec.trend(six_releases()).worse[0].group == WORSE


def test_what_no_release_has_is_an_error():
    audits = six_releases()[:2]
    with pytest.raises(UnknownNameError, match="No metric in these audits 'scroe'"):
        fairrec.trend(audits, metric="scroe")
    with pytest.raises(UnknownNameError, match="No attribute in these audits 'sex'"):
        fairrec.trend(audits, group="sex=F")
    with pytest.raises(InputError, match="age has old, young"):
        fairrec.trend(audits, group="age=elderly")
    with pytest.raises(InputError, match="invalid group"):
        fairrec.trend(audits, group="age")
    with pytest.raises(InputError, match="better end is not the same"):
        fairrec.trend([audits[0], release(2, better={"score": "lower"})])


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


def releases_of(audits):
    return read_releases(audits, None)[0]


def test_a_line_has_the_numbers_of_its_group_in_each_release():
    releases = releases_of(six_releases())
    lines = build_lines(releases, ["score"], ())
    assert len(lines.groups) == 8
    at = lines.groups.index({"gender": "F", "age": "old"})
    for look, one in enumerate(releases):
        (row,) = one.groups.filter((pl.col("gender") == "F") & (pl.col("age") == "old")).iter_rows(
            named=True
        )
        for name in ("value", "difference", "simultaneous_low"):
            assert lines.numbers[name][at, look] == row[name]
        assert lines.outcomes[at][look] == row["outcome"]
        half = (row["difference_high"] - row["difference_low"]) / 2
        assert lines.error[at, look] == pytest.approx(half / 1.96, rel=0.15)


def test_an_attribute_that_a_release_lacks_leaves_the_groups_of_others_as_they_are():
    releases = releases_of([release(1), release(2, by="gender"), release(3)])
    lines = build_lines(releases, ["score"], ())
    by_gender = lines.groups.index({"gender": "F"})
    assert lines.is_known[by_gender].all()
    by_age = lines.groups.index({"age": "old"})
    assert lines.is_known[by_age].tolist() == [True, False, True]
    assert lines.points(by_age)[1] is None


def test_a_metric_without_a_better_end_has_two_ends_with_half_the_share_each():
    audits = [release(seed, 1.0 * (seed > 2), better={}) for seed in range(1, 6)]
    lines = build_lines(releases_of(audits), ["score"], ())
    tiers = np.zeros(len(lines.groups), dtype=np.int64)
    followed = follow(lines, tiers, np.eye(5)[None, None].repeat(len(tiers), axis=1), 0.05)
    assert len(followed.line) == 2 * len(lines.groups)
    assert followed.harm[0] == pytest.approx(-followed.harm[1])


@pytest.mark.parametrize(
    ("ends", "direction", "harms"),
    [
        ((-0.3, 0.1), True, (-0.1, 0.3)),
        ((-0.3, 0.1), False, (-0.3, 0.1)),
        ((None, 0.1), True, (-0.1, None)),
        ((-0.3, 0.1), None, (0.0, 0.3)),
        ((-0.3, -0.1), None, (0.1, 0.3)),
        ((None, -0.1), None, (0.1, None)),
    ],
)
def test_the_interval_of_a_difference_is_one_of_a_harm(ends, direction, harms):
    assert _harms(*ends, direction) == harms


ALL = np.ones((2, 2))


def releases_of_members(*audits):
    return read_releases(audits, None)[0]


def shared_by_group(releases):
    lines = build_lines(releases, ["score"], ())
    shared = members_in_common(releases, lines)
    return {
        tuple(sorted(group.items())): one for group, one in zip(lines.groups, shared, strict=True)
    }


def with_checksum(summary):
    users = summary.inputs["users"].model_copy(update={"sha256": "a" * 64})
    return summary.model_copy(update={"inputs": {**summary.inputs, "users": users}})


def unnamed(releases):
    return [replace(one, users=None, summary=with_checksum(one.summary)) for one in releases]


def test_users_in_common_are_known_by_their_ids_or_by_their_table():
    releases = releases_of_members(release(1), release(2), release(3, users=users_of(first=400)))
    assert users_in_common(releases) == "partly the same"
    assert users_in_common(releases[:2]) == "the same"
    others = releases_of_members(release(1), release(2, users=users_of(first=2000)))
    assert users_in_common(others) == "others"
    assert (shared_by_group(others)[("age", "old"),] == np.eye(2)).all()

    # frames in memory have no checksum
    nameless = [replace(one, users=None) for one in releases[:2]]
    assert users_in_common(nameless) == "not known"
    assert all(np.isnan(one).all() for one in shared_by_group(nameless).values())
    assert users_in_common(unnamed(releases[:2])) == "the same"
    assert all((one == 1).all() for one in shared_by_group(unnamed(releases[:2])).values())


def test_members_who_changed_their_group_are_others_and_all_else_is_as_it_was():
    young_and_old = users_of().with_columns(pl.col("age").shuffle(seed=1))
    releases = releases_of_members(release(1), release(2, users=young_and_old))
    assert users_in_common(releases) == "the same"
    shared = shared_by_group(releases)
    assert (shared[("gender", "F"),] == 1).all()
    # by hand: labels that say nothing of those before are not correlated with them
    assert abs(shared[("age", "old"),][0, 1]) < 3 / N_USERS**0.5
    assert shared[("age", "old"),] == pytest.approx(shared[("age", "young"),])
    lines = build_lines(releases, ["score"], ())
    is_other = exchanged(members_in_common(releases, lines), lines)
    assert [group for group, other in zip(lines.groups, is_other, strict=True) if not other] == [
        group for group in lines.groups if list(group) == ["gender"]
    ]


def test_who_has_no_value_of_a_metric_is_no_member_in_it():
    users = users_of()
    values = pl.DataFrame({"user_id": users["user_id"], "score": range(N_USERS)})
    is_every_third = pl.int_range(pl.len()) % 3 == 0
    more = values.with_columns(pl.when(is_every_third).then(pl.col("score")).alias("rare"))
    how = {"by": "gender", "users": users, "permutations": 9}
    releases = releases_of_members(
        *(fairrec.audit(**group_options(values=one, **how)) for one in (more, more))
    )
    few = releases[1].users.with_columns(rare=pl.col("rare") & (pl.col("gender") == "F"))
    releases[1] = replace(releases[1], users=few)
    lines = build_lines(releases, ["score", "rare"], ())
    shared = members_in_common(releases, lines)
    for metric, one in zip(lines.metrics, shared, strict=True):
        assert (one == 1).all() == (metric == "score")


def test_of_one_table_an_attribute_read_in_another_way_is_not_known():
    coarser = users_of().with_columns(pl.lit("F").alias("gender"))
    releases = unnamed(releases_of_members(release(1), release(2, users=coarser)))
    shared = shared_by_group(releases)
    assert (shared[("age", "old"),] == 1).all()
    assert np.isnan(shared[("gender", "F"),]).all()
    assert np.isnan(shared[("age", "old"), ("gender", "F")]).all()


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


def test_groups_are_read_as_text_as_mappings_and_several_at_once():
    wanted = frozenset({("gender", "F"), ("age", "56+")})
    for given in ("gender=F, age=56+", ["age=56+,gender=F"], {"gender": "F", "age": "56+"}):
        assert TrendOptions(group=given).group == (wanted,)
    assert len(TrendOptions(group=["gender=F", "gender=M", {"gender": "F"}]).group) == 2
    # a value with a comma can be named from Python
    assert TrendOptions(group={"town": "Bath, Avon"}).group == (
        frozenset({("town", "Bath, Avon")}),
    )


@pytest.mark.parametrize("given", ["gender", "", [3], "gender=F,gender=M"])
def test_what_is_no_group_is_refused(given):
    with pytest.raises(InputError, match="invalid group: expected attribute=value"):
        TrendOptions(group=given)


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


def test_a_trend_that_is_none_is_refused(tmp_path):
    (tmp_path / "trend.json").write_text('{"schema_version": "9"}')
    with pytest.raises(InputError, match="is no trend of this version"):
        fairrec.load(tmp_path)


def test_a_trend_does_not_replace_an_audit_unless_insisted_on(tmp_path):
    folder = six_releases()[0].save(tmp_path / "audit", report=False)
    found = fairrec.trend(six_releases()[:2])
    with pytest.raises(OutputError, match="holds an audit, which a trend would replace"):
        found.save(folder)
    found.save(folder, report=False, force=True)
    assert [file.name for file in folder.iterdir()] == ["trend.json"]


def test_the_page_can_be_shown_by_itself():
    file = fairrec.trend(six_releases()[:2]).show()
    assert file.read_text().startswith("<!DOCTYPE html>")


def test_what_a_gate_asks_leaves_out_what_is_back():
    summary = fairrec.trend(six_releases()).summary
    assert summary.worse == tuple(line for line in summary.lines if line.worse_since)
    first = summary.worse[0]
    back = first.model_copy(
        update={"worse_since": first.worse_since.model_copy(update={"is_back": True})}
    )
    assert summary.model_copy(update={"lines": (back,)}).worse == ()
    assert TrendSummary.model_validate_json(summary.model_dump_json()) == summary
