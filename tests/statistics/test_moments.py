from __future__ import annotations

import numpy as np
import pytest

from fairrec.statistics.moments import quantiles
from tests.statistics.small_worlds import population, random_population


def test_moments_equal_numpy_over_the_users_of_each_group():
    world = random_population(0, share_undefined=0.3)
    moments = world.moments
    for metric, values in enumerate(world.values):
        assert moments.mean[metric] == pytest.approx(np.nanmean(values), abs=1e-12)
        assert moments.sd[metric] == pytest.approx(np.nanstd(values, ddof=1), abs=1e-12)
        for group in range(len(world.lattice)):
            inside = world.users_in(group)
            mine, others = values[inside], values[~inside]
            assert moments.n[metric, group] == (~np.isnan(mine)).sum()
            if moments.n[metric, group] and (~np.isnan(others)).any():
                difference = np.nanmean(mine) - np.nanmean(others)
                assert moments.difference[metric, group] == pytest.approx(difference, abs=1e-12)


def test_chance_error_is_the_spread_of_randomly_drawn_groups():
    rng = np.random.default_rng(0)
    values = rng.random(40)
    world = population([[0] * 10 + [1] * 30], values)
    drawn = []
    for _ in range(4000):
        shuffled = rng.permutation(values)
        drawn.append(shuffled[:10].mean() - shuffled[10:].mean())
    assert world.moments.chance_error[0, 0] == pytest.approx(np.std(drawn), rel=0.05)


@pytest.mark.parametrize(
    ("values", "bounds", "found", "is_rate"),
    [
        # of a metric without bounds
        ([0.0, 2.5, 7.0], None, (0, np.inf), False),
        ([1.5, 2.5, 7.0], None, (0, np.inf), False),
        ([-0.1, 2.5, 7.0], None, (-np.inf, np.inf), False),
        # two values are a rate
        ([2.0, 5.0, 5.0], None, (2, 5), True),
        ([0.0, 0.5, 1.0], (0, 1), (0, 1), False),
        # beyond its bounds it has none of its own
        ([0.0, 0.5, 3.0], (0, 1), (0, np.inf), False),
        ([-1.0, 0.5, 3.0], (0, 1), (-np.inf, np.inf), False),
    ],
)
def test_bounds_are_those_of_the_metric_or_0_where_no_value_is_negative(
    values, bounds, found, is_rate
):
    moments = population([[0, 0, 1]], values, bounds=bounds).moments
    assert moments.bounds.tolist() == [list(found)]
    assert moments.is_rate.tolist() == [is_rate]


@pytest.mark.parametrize("seed", range(5))
def test_quantiles_are_those_of_every_user(seed):
    rng = np.random.default_rng(seed)
    values, n = rng.random(12), rng.integers(1, 9, 12).astype(float)
    shares = [0.0, 0.005, 0.31, 0.5, 0.995, 1.0]
    everyone = np.repeat(values, n.astype(int))
    assert quantiles(values, n, shares) == pytest.approx(np.quantile(everyone, shares))
