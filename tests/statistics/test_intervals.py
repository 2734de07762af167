"""Intervals and estimates of groups, and what is left of a difference that was picked out."""

from __future__ import annotations

import numpy as np
import pytest
from pytest import approx
from scipy.stats import binomtest

from fairrec.statistics.intervals import CutOffs, Intervals, kept_shares
from fairrec.statistics.scores import student_scale
from tests.statistics.small_worlds import population

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


def worlds(rng, effects, error):
    return effects + rng.normal(size=len(effects)) * error


def test_a_single_group_that_stands_out_keeps_its_difference():
    rng = np.random.default_rng(1)
    effects = np.zeros(500)
    effects[7] = -1.0
    kept = kept_shares(worlds(rng, effects, 0.1), np.full(500, 0.1))
    assert kept[7] > 0.95
    assert np.median(kept) < 0.1


def test_what_was_picked_out_is_no_longer_too_large():
    rng = np.random.default_rng(3)
    chosen, true = [], []
    for _ in range(200):
        effects = rng.normal(0, 0.1, 200)
        observed = worlds(rng, effects, 0.1)
        first = np.argmax(np.abs(observed))
        chosen.append(observed[first] * kept_shares(observed, np.full(200, 0.1))[first])
        true.append(effects[first])
    assert np.abs(chosen).mean() / np.abs(true).mean() == approx(1, abs=0.2)
