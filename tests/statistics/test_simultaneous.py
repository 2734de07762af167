"""Columns of scores and their null distributions, by hand and against a loop over draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from scipy.stats import norm

from fairrec.statistics.simultaneous import (
    Columns,
    NullColumns,
    form_columns,
    holm,
    interval_cut_offs,
    interval_p_values,
    normal_cut_offs,
)
from tests.statistics.small_worlds import adjusted_slowly, least_slowly

EVEN = np.full(1, 0.5)


def all_tested(*shape: int):
    return np.ones(shape, dtype=bool)


def shares_by_group(columns: Columns):
    """(n_metrics, n_groups), of both tails."""
    return columns.spread(columns.shares, 0.0).sum(axis=0)


def test_depths_have_shares_and_all_deep_ones_are_one():
    columns = form_columns(np.array([1, 1, 2, 3, 4, 5]), all_tested(1, 6), EVEN)
    assert columns.of_group.tolist() == [[0, 0, 1, 2, 3, 3]]
    assert columns.shares == approx(np.array([[0.2, 0.15, 0.1, 0.05]] * 2))
    assert columns.sizes.tolist() == [2, 1, 1, 2]


def test_metrics_have_equal_shares_whatever_their_depths():
    is_tested = np.array([[True, True], [True, False], [False, False]])
    columns = form_columns(np.array([1, 2]), is_tested, np.full(3, 0.5))
    # the last one has no group to be tested
    assert shares_by_group(columns) == approx(
        np.array([[0.5 * 4 / 7, 0.5 * 3 / 7], [0.5, 0], [0, 0]])
    )
    assert columns.of_group[2].tolist() == [-1, -1]
    assert columns.shares.sum() == approx(1)


def test_the_largest_scores_of_columns_by_hand():
    columns = Columns(np.array([[0, 0, 1, -1], [2, 2, 2, 2]]), np.full((2, 3), 1 / 6), np.arange(3))
    scores = np.array([[1.0, -2.0, -3.0, 99.0], [0.5, 4.0, -0.5, 0.0]])
    assert columns.largest(scores).tolist() == [[1, 0, 4], [2, 3, 0.5]]
    spread = columns.spread(np.array([[1.0, 2, 3], [4, 5, 6]]))
    assert spread[0].tolist() == [[1, 1, 2, np.inf], [3, 3, 3, 3]]
    assert spread[1].tolist() == [[4, 4, 5, np.inf], [6, 6, 6, 6]]


def one_group_each(shares) -> Columns:
    """Of each column a group for either tail."""
    shares = np.asarray(shares, dtype=np.float64)
    numbers = np.arange(shares.shape[1])
    return Columns(np.tile(numbers, 2)[None], shares, numbers)


def scores_of_row(row):
    """(1, n_groups), the scores of these groups that are largest in a draw."""
    return np.concatenate([row[0], -row[1]])[None]


def some_draws(n_draws: int, n_columns: int, seed: int = 0, n_levels: int | None = None):
    rng = np.random.default_rng(seed)
    draws = np.abs(rng.normal(size=(n_draws, 2, n_columns))) + 1
    # one tail of one column is far longer
    draws[:, 0, 0] **= 2
    if n_levels is not None:
        draws = np.floor(n_levels * draws / draws.max())
    return draws


def some_shares(n_columns: int, seed: int = 0):
    shares = np.random.default_rng(seed).uniform(0.2, 1, (2, n_columns))
    return shares / shares.sum()


@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("n_levels", [3, None])
@pytest.mark.parametrize("is_test", [True, False], ids=["test", "intervals"])
def test_p_values_are_those_of_a_loop_over_draws_and_columns(n_columns, n_levels, is_test):
    shares = some_shares(n_columns)
    observed, *draws = some_draws(60, n_columns, 1, n_levels)
    null = NullColumns(one_group_each(shares), np.array(draws), observed if is_test else None)
    rows = [observed, *draws] if is_test else draws
    least = least_slowly(rows, shares)
    # for intervals, what is not drawn counts as beyond all draws
    n_more = 0 if is_test else 1
    for row in [observed, 1.5 * observed, observed / 2, draws[0]]:
        found = null.p_values(scores_of_row(row)).reshape(2, -1)
        for tail, at in np.ndindex(found.shape):
            if row[tail, at] == 0:
                assert found[tail, at] == 1
                continue
            n_reached = n_more + adjusted_slowly(rows, shares, least, tail, at, row[tail, at])
            assert found[tail, at] == approx(max(n_reached, 1) / (len(rows) + n_more))


@pytest.mark.parametrize("n_columns", [1, 2, 5])
@pytest.mark.parametrize("n_levels", [2, 5, None])
def test_any_draw_is_as_likely_to_be_the_observed_and_the_level_holds(n_columns, n_levels):
    rows = some_draws(40, n_columns, n_columns, n_levels)
    columns = one_group_each(some_shares(n_columns))
    least = []
    for at, observed in enumerate(rows):
        null = NullColumns(columns, np.delete(rows, at, axis=0), observed)
        scores = scores_of_row(observed)
        p_values = null.p_values(scores)
        least.append(p_values.min())
        for alpha in (0.025, 0.05, 0.1, 0.3, 0.8):
            cut_off = np.where(scores > 0, *columns.spread(null.cut_offs(alpha)))
            assert ((np.abs(scores) > cut_off + 1e-7) == (p_values <= alpha + 1e-12)).all()
    for n_rare in range(1, 41):
        assert np.sum(np.array(least) <= n_rare / 40 + 1e-12) <= n_rare
    if n_levels is None:
        # and is used up, where draws are not alike
        assert sorted(least) == approx(np.arange(1, 41) / 40)


def test_a_short_tail_is_taken_for_a_normal_one():
    columns = Columns(
        np.array([[0] * 7 + [1] * 3]), np.array([[0.3, 0.2], [0.3, 0.2]]), np.arange(2)
    )
    null = NullColumns(columns, np.full((999, 2, 2), 0.1))
    expected = [norm.isf(0.1 * 0.3 / 7), norm.isf(0.1 * 0.2 / 3)]
    assert normal_cut_offs(columns, 0.1) == approx(np.array([expected] * 2))
    assert interval_cut_offs(null, 0.05) == approx(np.array([expected] * 2))


@pytest.mark.parametrize("n_groups", [1, 200])
def test_an_interval_p_value_is_the_smallest_alpha_whose_cut_off_is_exceeded(n_groups):
    draws = some_draws(999, 3)
    of_group = np.append(np.repeat(np.arange(3), n_groups), -1)[None]
    columns = Columns(of_group, some_shares(3), np.arange(3))
    null = NullColumns(columns, draws)
    rng = np.random.default_rng(1)
    for _ in range(-(-200 // n_groups)):
        scores = rng.uniform(-7, 12, of_group.shape)
        p_values = interval_p_values(null, scores)
        assert p_values[0, -1] == 1
        for alpha in (0.001, 0.01, 0.05, 0.2):
            cut_offs = columns.spread(interval_cut_offs(null, alpha))
            is_beyond = np.abs(scores) > np.where(scores > 0, *cut_offs)
            assert ((p_values <= alpha) == is_beyond).all()


def test_without_draws_or_columns_nothing_is_excluded():
    none = NullColumns(one_group_each(some_shares(1)), np.zeros((0, 2, 1)))
    assert np.isinf(none.cut_offs(0.05)).all()
    assert (none.p_values(np.array([[9.0, -9.0]])) == 1).all()
    nothing = form_columns(np.array([1, 2]), np.zeros((1, 2), dtype=bool), EVEN)
    null = NullColumns(nothing, np.zeros((99, 2, 0)), np.zeros((2, 0)))
    assert null.cut_offs(0.05).shape == (2, 0)
    assert null.p_values(np.array([[9.0, -9.0]])).tolist() == [[1, 1]]
    assert np.isinf(nothing.spread(null.cut_offs(0.05))).all()


P_VALUES = st.lists(st.floats(0.0001, 1), min_size=1, max_size=30)


def slow_holm(p_values: list[float]) -> list[float]:
    """Each p-value times how many are as large or larger, never below that of a smaller one."""
    n = len(p_values)
    order = sorted(range(n), key=lambda i: p_values[i])
    adjusted, largest = [0.0] * n, 0.0
    for place, i in enumerate(order):
        largest = max(largest, min(1.0, (n - place) * p_values[i]))
        adjusted[i] = largest
    return adjusted


@given(P_VALUES)
def test_holm_equals_a_slow_loop(p_values):
    assert holm(np.array(p_values)) == pytest.approx(slow_holm(p_values))
