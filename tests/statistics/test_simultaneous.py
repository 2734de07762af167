from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from fairrec.statistics.simultaneous import (
    N_CLASSES,
    balanced_cut_offs,
    has_enough_draws,
    normal_cut_offs,
)


def test_alpha_is_divided_by_classes_tails_and_groups():
    found = normal_cut_offs(np.array([3, 0, 0, 0, 1]), 0.05)
    three, one = norm.isf(0.05 / (2 * 2 * 3)), norm.isf(0.05 / (2 * 2))
    assert found == pytest.approx([three, np.inf, np.inf, np.inf, one])


def test_short_tails_are_taken_for_those_of_normal_scores():
    classes = np.array([[0, 0, 0, 4, -1], [0, 0, -1, 4, -1]])
    found = balanced_cut_offs(np.zeros((99, 2, N_CLASSES)), classes, 0.05)
    assert found == pytest.approx(np.tile(normal_cut_offs(np.array([3, 0, 0, 0, 1]), 0.05), (2, 1)))


@pytest.mark.parametrize(("n_draws", "is_enough"), [(18, False), (19, True)])
def test_too_few_draws_exclude_nothing(n_draws, is_enough):
    found = balanced_cut_offs(np.zeros((n_draws, 2, N_CLASSES)), np.zeros((1, 1), int), 0.05)
    assert has_enough_draws(n_draws, 0.05) == is_enough
    assert np.isfinite(found[:, 0]).all() == is_enough
