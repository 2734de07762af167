"""Tables of groups -> lines."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec.trends.lines import _harms, follow, lines_of
from fairrec.trends.releases import read_releases
from tests.trends.trend_builders import release, six_releases


def releases_of(audits):
    return read_releases(audits, None)[0]


def test_a_line_has_the_numbers_of_its_group_in_each_release():
    releases = releases_of(six_releases())
    lines = lines_of(releases, ["score"], ())
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
    lines = lines_of(releases, ["score"], ())
    by_gender = lines.groups.index({"gender": "F"})
    assert lines.is_known[by_gender].all()
    by_age = lines.groups.index({"age": "old"})
    assert lines.is_known[by_age].tolist() == [True, False, True]
    assert lines.points(by_age)[1] is None


def test_a_metric_without_a_better_end_has_two_ends_with_half_the_share_each():
    audits = [release(seed, 1.0 * (seed > 2), better={}) for seed in range(1, 6)]
    lines = lines_of(releases_of(audits), ["score"], ())
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
