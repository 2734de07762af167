from __future__ import annotations

import numpy as np
import pytest
from pytest import approx
from scipy.special import ndtri
from scipy.stats import norm

from fairrec.statistics.simultaneous import (
    N_CLASSES,
    Placed,
    balanced_cut_offs,
    balanced_p_values,
    has_enough_draws,
    normal_cut_offs,
    size_classes,
)


def test_size_classes():
    n = np.array([[2.0, 29, 30, 99, 100, 299, 300, 1000, 5000]])
    is_tested = np.ones((1, 9), dtype=bool)
    is_tested[0, 0] = False
    assert size_classes(n, is_tested).tolist() == [[-1, 0, 1, 1, 2, 2, 3, 4, 4]]


def some_maxima(n_draws: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    maxima = np.abs(rng.normal(size=(n_draws, 2, N_CLASSES))) + 5
    # one tail of one class is far longer
    maxima[:, 0, 0] *= 4
    return maxima


def test_any_cut_off_is_exceeded_as_often_as_alpha_and_each_equally_often():
    maxima = some_maxima(1999)
    classes = np.arange(N_CLASSES)[None]
    cut_offs = balanced_cut_offs(maxima, classes, 0.1)
    is_beyond = maxima > cut_offs
    assert is_beyond.any(axis=(1, 2)).mean() == approx(0.1, abs=0.01)
    shares = is_beyond.mean(axis=0)
    assert shares.max() - shares.min() < 0.002
    assert cut_offs[0, 0] > 2 * cut_offs[1, 0]


def test_a_class_without_groups_has_none_and_takes_nothing_from_the_others():
    maxima = some_maxima(999)
    classes = np.array([[1, 1, -1]])
    cut_offs = balanced_cut_offs(maxima, classes, 0.05)
    assert np.isinf(cut_offs[:, [0, 2, 3, 4]]).all()
    assert (maxima[:, :, 1] > cut_offs[:, 1]).any(axis=1).mean() == approx(0.05, abs=0.01)


def test_a_short_tail_is_taken_for_a_normal_one():
    maxima = np.full((999, 2, N_CLASSES), 0.1)
    classes = np.array([[0] * 7 + [1] * 3])
    cut_offs = balanced_cut_offs(maxima, classes, 0.05)
    # two tails of two classes
    assert cut_offs[:, 0] == approx([ndtri(1 - 0.05 / 4 / 7)] * 2)
    assert cut_offs[:, 1] == approx([ndtri(1 - 0.05 / 4 / 3)] * 2)


def test_with_too_few_draws_nothing_is_excluded():
    assert np.isinf(balanced_cut_offs(some_maxima(15), np.array([[0, 1]]), 0.05)).all()


def test_alpha_is_divided_by_classes_tails_and_groups():
    found = normal_cut_offs(np.array([3, 0, 0, 0, 1]), 0.05)
    three, one = norm.isf(0.05 / (2 * 2 * 3)), norm.isf(0.05 / (2 * 2))
    assert found == pytest.approx([three, np.inf, np.inf, np.inf, one])


@pytest.mark.parametrize(("n_draws", "is_enough"), [(18, False), (19, True)])
def test_too_few_draws_exclude_nothing(n_draws, is_enough):
    found = balanced_cut_offs(np.zeros((n_draws, 2, N_CLASSES)), np.zeros((1, 1), int), 0.05)
    assert has_enough_draws(n_draws, 0.05) == is_enough
    assert np.isfinite(found[:, 0]).all() == is_enough


def test_a_p_value_is_the_smallest_alpha_whose_cut_off_is_reached():
    maxima = some_maxima(999)
    maxima[:, 1] = maxima[:, 0] = maxima[:, 0] - 5
    classes = np.repeat(np.arange(N_CLASSES), 40)[None]
    scores = np.random.default_rng(1).uniform(0, 6, classes.shape) * (1 + 3 * (classes == 0))
    p_values = balanced_p_values(scores, maxima, classes)
    for alpha in (0.01, 0.05, 0.2):
        is_reached = scores >= balanced_cut_offs(maxima, classes, alpha)[0][classes]
        assert is_reached.any() and not is_reached.all()
        assert ((p_values <= alpha) == is_reached).all()


def test_a_group_that_is_not_tested_has_a_p_value_of_one():
    p_values = balanced_p_values(np.array([[99.0, 99.0]]), some_maxima(99), np.array([[0, -1]]))
    assert p_values[0, 0] < 0.05 and p_values[0, 1] == 1
    nothing = balanced_p_values(np.array([[9.0]]), some_maxima(99), np.array([[-1]]))
    assert nothing.tolist() == [[1.0]]


@pytest.mark.parametrize("n_columns", [1, 2, 3, 10])
@pytest.mark.parametrize("n_levels", [2, 5, None])
def test_any_draw_is_as_likely_to_be_the_observed_and_the_level_holds(n_columns, n_levels):
    rng = np.random.default_rng(n_columns)
    rows = rng.exponential(size=(20, n_columns))
    if n_levels is not None:
        rows = np.floor(n_levels * rows / rows.max())
    least = []
    for at, observed in enumerate(rows):
        placed = Placed.of(np.delete(rows, at, axis=0), observed)
        p_values = [float(placed.p_values(c, one[None])[0]) for c, one in enumerate(observed)]
        least.append(min(p_values))
        for allowed in range(19):
            is_beyond = observed > placed.cut_offs(allowed) + 1e-8
            assert (is_beyond == (np.array(p_values) <= (allowed + 1) / 20)).all()
    for n_rare in range(1, 21):
        assert np.sum(np.array(least) <= n_rare / 20 + 1e-12) <= n_rare
