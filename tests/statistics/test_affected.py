"""The share of users who are affected."""

from __future__ import annotations

import numpy as np
import pytest

from fairrec.statistics.affected import affected_share, batches


def wilson(hits: int, n: int, z: float) -> tuple[float, float]:
    """The formula as it is printed."""
    p = hits / n
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return centre - half, centre + half


@pytest.mark.parametrize(("hits", "n"), [(0, 50), (3, 50), (50, 50), (400, 1000)])
def test_interval_is_that_of_wilson(hits, n):
    values = np.repeat([1.0, 0.0, np.nan], [hits, n - hits, 7])
    found = affected_share(values, 0.05)
    assert (found.n, found.n_affected) == (n, hits)
    assert (found.low, found.high) == pytest.approx(wilson(hits, n, 1.959964), abs=1e-6)
    assert found.margin == pytest.approx((found.high - found.low) / 2)


def test_nobody_known_is_nothing_known():
    found = affected_share(np.array([np.nan]), 0.05)
    assert (found.n, found.low, found.high) == (0, 0.0, 1.0)


def test_interval_covers_the_true_share_as_often_as_it_says():
    rng = np.random.default_rng(0)
    for share in (0.02, 0.3):
        drawn = rng.random((800, 150)) < share
        found = [affected_share(row.astype(float), 0.05) for row in drawn]
        assert np.mean([one.low <= share <= one.high for one in found]) > 0.92


def test_looks_are_further_and_further_apart_and_take_everyone():
    found = batches(500, is_adaptive=True)
    assert [one.stop for one in found][:4] == [50, 75, 112, 168]
    assert found[-1].stop == 500
    assert [one.start for one in found[1:]] == [one.stop for one in found[:-1]]
    assert batches(500, is_adaptive=False) == [slice(0, 500)]
    assert [one.stop for one in batches(20, is_adaptive=True)] == [20]
