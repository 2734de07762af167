from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_ind

from fairrec.statistics.intervals import estimate
from fairrec.statistics.moments import group_moments
from tests.statistics.small_population import population, random_population


def bounded(world):
    """The moments of metrics between 0 and 1."""
    bounds = np.tile([0.0, 1.0], (len(world.values), 1))
    return group_moments(world.values, world.grouping, bounds=bounds)


def test_values_and_differences_by_hand():
    world = population([[0, 0, 1, 1]], [[0.0, 0.2, 0.6, 1.0]])
    found = estimate(world.moments, 0.05)
    assert found.value[0].tolist() == pytest.approx([(0.0 + 0.2) / 2, (0.6 + 1.0) / 2])
    assert found.difference[0].tolist() == pytest.approx([0.1 - 0.8, 0.8 - 0.1])


def test_large_groups_have_the_interval_of_welchs_test():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], [4000, 8000])
    values = rng.normal(size=12000) * np.where(group, 1.0, 1.2)
    world = population([group], values)
    found = estimate(world.moments, 0.05)
    interval = ttest_ind(values[group == 0], values[group == 1], equal_var=False)
    expected = interval.confidence_interval(0.95)
    assert found.difference_low[0, 0] == pytest.approx(expected.low, rel=0.01)
    assert found.difference_high[0, 0] == pytest.approx(expected.high, rel=0.01)


def test_both_sides_of_a_comparison_have_the_same_interval():
    rng = np.random.default_rng(1)
    world = population([[0] * 6 + [1] * 994], rng.normal(size=1000))
    found = estimate(world.moments, 0.05)
    assert found.difference_low[0, 0] == pytest.approx(-found.difference_high[0, 1])
    assert found.difference_high[0, 0] == pytest.approx(-found.difference_low[0, 1])


def test_a_small_group_without_spread_is_not_certain():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2, 500).astype(float)
    values[:6] = 0.0
    world = population([[0] * 6 + [1] * 494], values)
    found = estimate(bounded(world), 0.05)
    assert found.value_high[0, 0] - found.value[0, 0] > 0.1


def test_intervals_stay_within_the_bounds_of_the_metric():
    world = random_population(1)
    found = estimate(bounded(world), 0.05)
    assert np.nanmin(found.value_low) >= 0
    assert np.nanmax(found.value_high) <= 1


def coverage_by_size(n_worlds: int) -> dict[int, float]:
    """Share of 95% intervals that hold the true group mean, for a skewed metric of few levels."""
    rng = np.random.default_rng(1)
    levels = np.array([0.2, 0.25, 1 / 3, 0.5, 1.0])
    sizes = np.repeat([6, 12, 30, 100, 400], 8)
    group = np.repeat(np.arange(40), sizes)
    held: dict[int, list[float]] = {}
    for _ in range(n_worlds):
        hit = np.clip(rng.normal(0.35, 0.1, 40), 0.05, 0.9)
        is_hit = rng.random(len(group)) < hit[group]
        values = np.where(is_hit, rng.choice(levels, len(group)), 0.0)
        world = population([group], values)
        found = estimate(bounded(world), 0.05)
        true = hit * levels.mean()
        holds = (found.value_low[0] <= true) & (true <= found.value_high[0])
        for size in np.unique(sizes):
            held.setdefault(int(size), []).append(holds[sizes == size].mean())
    return {size: float(np.mean(shares)) for size, shares in held.items()}


def test_intervals_hold_the_true_mean_about_as_often_as_they_say():
    for size, share in coverage_by_size(60).items():
        assert 0.91 <= share <= 0.995, f"groups of {size}"


def test_shrinking_draws_groups_to_the_mean_and_small_ones_more():
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(6), [5, 5, 50, 50, 500, 500])
    values = rng.normal(size=len(group)) + np.array([0, 1, 0, 1, 0, 1])[group]
    world = population([group], values)
    found = estimate(world.moments, 0.05)
    raw = np.abs(found.value - world.moments.mean[0])[0]
    kept = np.abs(found.shrunken - world.moments.mean[0])[0] / raw
    assert (kept < 1).all()
    assert kept[:2].max() < kept[2:4].min() < kept[4:].min()


def test_with_nothing_but_noise_shrinking_comes_nearer_the_truth():
    world = random_population(4, n_users=2000)
    found = estimate(world.moments, 0.05)
    mean = world.moments.mean[:, None]
    assert np.abs(found.shrunken - mean).mean() < 0.3 * np.abs(found.value - mean).mean()
