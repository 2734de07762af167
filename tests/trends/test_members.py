"""Who was audited in several releases, and in the same groups."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.trends.lines import exchanged, lines_of, members_in_common, users_in_common
from fairrec.trends.releases import read_releases
from tests.trends.trend_builders import N_USERS, release, users_of

ALL = np.ones((2, 2))


def releases_of(*audits):
    return read_releases(audits, None)[0]


def shared_by_group(releases):
    lines = lines_of(releases, ["score"], ())
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
    releases = releases_of(release(1), release(2), release(3, users=users_of(first=400)))
    assert users_in_common(releases) == "partly the same"
    assert users_in_common(releases[:2]) == "the same"
    others = releases_of(release(1), release(2, users=users_of(first=2000)))
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
    releases = releases_of(release(1), release(2, users=young_and_old))
    assert users_in_common(releases) == "the same"
    shared = shared_by_group(releases)
    assert (shared[("gender", "F"),] == 1).all()
    # by hand: labels that say nothing of those before are not correlated with them
    assert abs(shared[("age", "old"),][0, 1]) < 3 / N_USERS**0.5
    assert shared[("age", "old"),] == pytest.approx(shared[("age", "young"),])
    lines = lines_of(releases, ["score"], ())
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
    releases = releases_of(*(fairrec.audit(values=one, **how) for one in (more, more)))
    few = releases[1].users.with_columns(rare=pl.col("rare") & (pl.col("gender") == "F"))
    releases[1] = replace(releases[1], users=few)
    lines = lines_of(releases, ["score", "rare"], ())
    shared = members_in_common(releases, lines)
    for metric, one in zip(lines.metrics, shared, strict=True):
        assert (one == 1).all() == (metric == "score")


def test_of_one_table_an_attribute_read_in_another_way_is_not_known():
    coarser = users_of().with_columns(pl.lit("F").alias("gender"))
    releases = unnamed(releases_of(release(1), release(2, users=coarser)))
    shared = shared_by_group(releases)
    assert (shared[("age", "old"),] == 1).all()
    assert np.isnan(shared[("gender", "F"),]).all()
    assert np.isnan(shared[("age", "old"), ("gender", "F")]).all()
