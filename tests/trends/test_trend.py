"""Groups over releases, from audits to what is said."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from benchmarks.statistics.items import FEW, FULL, GREW, releases

import fairrec
from fairrec.core.errors import InputError, UnknownNameError
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
    for number, audit in enumerate(six_releases()):
        folders.append(audit.save(tmp_path / str(number), report=False))
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
            values=values, users=users, by="place", better="score=higher", permutations=9
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
    other = fairrec.audit(values=values, users=users_of(), by="gender", permutations=9)
    with pytest.raises(InputError, match="No metric is in two of these audits"):
        fairrec.trend([six_releases()[0], other])
    both = fairrec.trend([*six_releases()[:2], other]).summary
    assert "In one release only, and not followed: other" in both.notes
    assert list(both.metrics) == ["score"]
