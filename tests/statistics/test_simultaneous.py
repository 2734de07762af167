from __future__ import annotations

import numpy as np
from pytest import approx
from scipy.special import ndtri

from fairrec.statistics.simultaneous import N_CLASSES, balanced_cut_offs, size_classes


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
