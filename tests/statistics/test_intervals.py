from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pytest import approx
from scipy.stats import binomtest

from fairrec.statistics.intervals import CutOffs, Intervals
from fairrec.statistics.scores import student_scale
from tests.statistics.small_population import population, random_population

Z = 1.959963984540054


def at(up: float, down: float | None = None) -> CutOffs:
    return CutOffs(np.full((1, 1), up), np.full((1, 1), up if down is None else down))


def rates(hits: tuple[int, int], users: tuple[int, int]):
    group = np.repeat([0, 1], users)
    values = np.concatenate([np.arange(n) < h for h, n in zip(hits, users, strict=True)])
    return population([group], values.astype(float), bounds=(0, 1)).moments


@pytest.mark.parametrize("hits", [0, 1, 7, 20])
def test_a_rate_has_wilsons_interval(hits):
    found = Intervals(rates((hits, 30), (20, 180))).of_values(at(Z))
    expected = binomtest(hits, 20).proportion_ci(method="wilson")
    assert (found.low[0, 0], found.high[0, 0]) == approx((expected.low, expected.high), abs=1e-6)


def test_a_difference_of_rates_has_newcombes_interval():
    # 56/70 against 48/80, method 10 of Newcombe (1998): 0.0524 to 0.3339
    found = Intervals(rates((56, 48), (70, 80))).of_differences(at(Z))
    assert (found.low[0, 0], found.high[0, 0]) == approx((0.0524, 0.3339), abs=1e-4)


def test_both_sides_have_the_same_interval_turned_round():
    found = Intervals(rates((5, 90), (40, 300))).of_differences(at(3.0, 2.0))
    turned = Intervals(rates((5, 90), (40, 300))).of_differences(at(2.0, 3.0))
    assert found.low[0, 0] == approx(-turned.high[0, 1])
    assert found.high[0, 0] == approx(-turned.low[0, 1])


def test_a_wider_cut_off_up_lowers_the_lower_end_alone():
    for bounds in (None, (0, 1)):
        world = random_population(2)
        moments = population(world.codes, world.values, bounds=bounds).moments
        narrow, wide = (Intervals(moments).of_differences(at(up, 2.0)) for up in (2.0, 4.0))
        is_known = np.isfinite(moments.difference) & (narrow.high > narrow.low)
        assert (wide.low[is_known] < narrow.low[is_known]).all()
        assert wide.high[is_known] == approx(narrow.high[is_known])


def test_without_a_limit_nothing_possible_is_excluded():
    bounded = Intervals(rates((5, 90), (40, 300))).of_values(at(np.inf))
    assert (bounded.low == 0).all() and (bounded.high == 1).all()
    world = random_population(2)
    free = Intervals(world.moments).of_differences(at(np.inf))
    is_known = world.is_tested & (world.moments.n_others > 0)
    assert np.isneginf(free.low[is_known]).all() and np.isposinf(free.high[is_known]).all()


def test_intervals_of_rare_hits_hold_as_often_as_they_say():
    rng = np.random.default_rng(0)
    sizes = np.array([13, 30, 60, 150])
    group = np.repeat(np.arange(200), np.repeat(sizes, 50))
    size_of_group = np.repeat(sizes, 50)
    for rate in (0.02, 0.05):
        held = np.zeros(4)
        for _ in range(40):
            values = (rng.random(len(group)) < rate).astype(float)
            moments = population([group], values, bounds=(0, 1)).moments
            found = Intervals(moments).of_values(at(Z))
            holds = (found.low[0] <= rate) & (rate <= found.high[0])
            held += [holds[size_of_group == size].mean() for size in sizes]
        # the levels of so few hits are coarse: one of Wilson's holds in 98% at 2% of 150
        assert (held / 40 > 0.925).all() and (held / 40 < 0.985).all(), (rate, held / 40)


def test_the_cut_off_at_zero_is_where_an_interval_reaches_0():
    rng = np.random.default_rng(3)
    group = np.repeat([0, 1, 2], [40, 100, 400])
    for moments in (
        rates((5, 90), (40, 300)),
        amounts(rng.gamma(0.5, 2, 540) * (1 + group), group),
        population([group], rng.normal(size=540) + group, bounds=None).moments,
    ):
        intervals = Intervals(moments)
        extremes = np.array([[0.0, np.nan]])
        where = np.ones(moments.n.shape, dtype=bool)
        reached = intervals.cut_offs_at_zero(where, extremes).reshape(where.shape)
        assert (np.sign(reached) == np.sign(moments.difference)).all()
        for times, is_without in ((0.999, True), (1.001, False)):
            cut_offs = CutOffs(*[np.abs(reached) * times] * 2)
            found = intervals.of_differences(cut_offs, extremes)
            assert (((found.low > 0) | (found.high < 0)) == is_without).all()


def amounts(values, group):
    """Moments of a metric of which no value is negative."""
    moments = population([group], values).moments
    assert moments.bounds.tolist() == [[0, np.inf]]
    return moments


def test_amounts_have_the_higher_of_two_upper_ends_and_no_lower_end_below_0():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], [40, 400])
    values = rng.gamma(0.2, 5, 440)
    moments = amounts(values, group)
    found = Intervals(moments).of_values(at(Z))
    n, mean = 40, values[:40].mean()
    all_mean, all_variance = values.mean(), values.var(ddof=1)
    # one user more, with the variance and the mean of everyone
    variance = (((values[:40] - mean) ** 2).sum() + all_variance) / 40
    drawn_mean = (39 * mean + all_mean) / 40
    far = float(student_scale(np.array(Z), np.array(40.0)))
    welch = mean + far * np.sqrt(variance / n)
    # (value - mean)^2 = far^2 * (dispersion * value) / n
    squares = far**2 * variance / drawn_mean / n
    scored = mean + squares / 2 + np.sqrt(squares * mean + squares**2 / 4)
    assert scored > 1.05 * welch
    assert found.high[0, 0] == approx(scored)
    assert (scored - mean) ** 2 == approx(squares * scored)
    assert found.low[0, 0] == approx(max(mean - far * np.sqrt(variance / n), 0))


def test_a_group_that_saw_none_of_the_large_amounts_may_have_some():
    # one user in twenty-five has 20, the others 0.5 or 1: ten of them show none
    rng = np.random.default_rng(1)
    values = rng.choice([0.5, 1.0], 1000)
    values[100:140] = 20.0
    group = (np.arange(1000) >= 10).astype(int)
    found = Intervals(amounts(values, group)).of_values(at(Z))
    # without the lowest value that an amount has, ends are as far up as down
    unbounded = replace(amounts(values, group), bounds=np.array([[-np.inf, np.inf]]))
    free = Intervals(unbounded).of_values(at(Z))
    assert (free.high + free.low)[0, 0] / 2 == approx(values[:10].mean())
    assert (found.high > free.high + 1e-9)[0, 0]
    assert found.high[0, 1] == approx(free.high[0, 1], rel=0.05)
    assert found.high[0, 0] > values.mean()
    # in a difference the end towards which a group may have more is the further one as well
    ends = Intervals(amounts(values, group)).of_differences(at(Z))
    without = Intervals(unbounded).of_differences(at(Z))
    assert ends.high[0, 0] > without.high[0, 0] + 0.1
    assert ends.low[0, 0] <= without.low[0, 0]
    assert ends.low[0, 1] == approx(-ends.high[0, 0])


def test_intervals_of_amounts_hold_about_as_often_as_they_say():
    rng = np.random.default_rng(0)
    sizes = np.repeat([15, 60, 240], [60, 30, 10])
    group = np.repeat(np.arange(len(sizes)), sizes)
    held = []
    for _ in range(40):
        # waiting times: exponential with the mean 3
        found = Intervals(amounts(rng.exponential(3.0, len(group)), group)).of_values(at(Z))
        held.append((found.low[0] <= 3) & (found.high[0] >= 3))
    for size in (15, 60, 240):
        assert 0.93 <= np.mean(np.array(held)[:, sizes == size]) <= 0.99


def test_an_amount_of_which_some_are_below_0_has_the_longer_upper_end_too():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], [40, 400])
    values = rng.gamma(0.2, 5, 440) - 0.2
    bounds = population([group], values).moments.bounds
    assert bounds.tolist() == [[values.min(), np.inf]]
    # as long a tail downwards, and none
    for other in (-values, rng.normal(size=440)):
        assert population([group], other).moments.bounds.tolist() == [[-np.inf, np.inf]]
