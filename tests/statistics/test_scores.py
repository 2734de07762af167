from __future__ import annotations

import numpy as np
import pytest
from pytest import approx
from scipy.special import ndtri, stdtr
from scipy.stats import ttest_ind

from fairrec.statistics.permutation import both_columns
from fairrec.statistics.scores import (
    KNOWN,
    Sums,
    maxima,
    normal_scale,
    own_spread,
    prepare_comparison,
    scores_of,
    student_scale,
    summarise_everyone,
)
from tests.statistics.small_population import population, random_population


@pytest.mark.parametrize("freedom", [4.0, 9.0, 30.0, 1000.0])
def test_the_normal_scale_has_the_tails_of_students_t(freedom):
    for t in (-6.0, -2.0, 0.5, 3.0):
        expected = ndtri(stdtr(freedom, t))
        got = normal_scale(np.array(t), np.array(freedom))
        assert float(got) == approx(expected, rel=0.02, abs=0.01)
        assert float(student_scale(np.abs(got), np.array(freedom))) == approx(abs(t))
    assert student_scale(np.array(np.inf), np.array(freedom)) == np.inf


def test_by_own_error_large_groups_have_welchs_statistic():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], [300, 900])
    values = rng.normal(size=1200) * np.where(group, 1.0, 3.0)
    scores = scores_of(population([group], values).moments)
    expected = ttest_ind(values[group == 0], values[group == 1], equal_var=False)
    assert scores.by_own[0, 0] == approx(ndtri(stdtr(expected.df, expected.statistic)), rel=0.01)
    assert abs(scores.by_own[0, 0]) < abs(scores.by_chance[0, 0])
    assert scores.smaller[0, 0] == scores.by_own[0, 0]


def test_a_rate_has_the_spread_of_its_mean_whoever_is_looked_at():
    values = np.zeros(100)
    values[:20] = 1.0
    world = population([[0] * 10 + [1] * 90], values, bounds=(0, 1))
    assert world.moments.is_rate.all()
    spread = own_spread(world.moments)
    assert spread.variance == approx(np.full((1, 2), 0.2 * 0.8))
    assert (spread.dispersion == 1).all() and (spread.freedom == KNOWN).all()
    scores = scores_of(world.moments)
    # the pooled variance divides by n - 1
    assert scores.by_own == approx(scores.by_chance, rel=0.01)


def test_two_values_are_a_rate_without_being_told():
    found = population([[0, 0, 1, 1]], [[-1.0, 3.0, 3.0, 3.0]]).moments
    assert found.is_rate.tolist() == [True]
    assert found.bounds.tolist() == [[-1, 3]]
    assert not population([[0, 0, 1, 1]], [[0.0, 0.5, 1.0, 1.0]], bounds=(0, 1)).moments.is_rate[0]


def test_the_dispersion_of_a_bounded_metric_is_that_of_its_group():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], [2000, 4000])
    # both have the mean 0.5, and variances of 1/12 and of 1/84
    values = np.where(group == 0, rng.random(6000), rng.beta(10, 10, 6000))
    spread = own_spread(population([group], values, bounds=(0, 1)).moments)
    assert spread.dispersion[0] == approx([4 / 12, 4 / 84], rel=0.05)


def test_a_group_without_a_hit_has_the_dispersion_of_all():
    rng = np.random.default_rng(0)
    values = rng.choice([0.0, 0.0, 0.0, 0.5, 1.0], 1000)
    values[:12] = 0.0
    world = population([[0] * 12 + [1] * 988], values, bounds=(0, 1))
    mean = values.mean()
    of_all = values.var() / (mean * (1 - mean))
    assert own_spread(world.moments).dispersion[0, 0] == approx(of_all, rel=0.01)


@pytest.mark.parametrize("bounds", [None, (0, 1)])
def test_maxima_are_the_largest_scores_of_each_tail_and_column(bounds):
    drawn = random_population(3, n_users=600, share_undefined=0.2)
    world = population(drawn.codes, drawn.values, min_users=5, bounds=bounds)
    moments = world.moments
    tested, intervals = both_columns(
        world.lattice.depth, moments.n, world.is_tested, [None] * len(moments.mean)
    )
    assert tested.n_columns == 9 < intervals.n_columns
    smaller, by_own = maxima(
        summarise_everyone(moments),
        prepare_comparison(moments),
        Sums(moments.total, moments.squares, moments.total, moments.squares),
        tested,
        intervals,
    )
    scores = scores_of(moments)
    for found, columns, of_groups in (
        (smaller, tested, scores.smaller),
        (by_own, intervals, scores.by_own),
    ):
        for tail, sign in enumerate((1, -1)):
            for at in range(columns.n_columns):
                expected = (sign * of_groups)[columns.of_group == at].max(initial=0.0)
                assert found[tail, at] == approx(max(expected, 0.0))
