from __future__ import annotations

import numpy as np
import pytest

from fairrec_paper.reproduction.methods import rank_test


def test_a12_counts_pairs_and_half_of_the_ties():
    ours, others = np.array([1.0, 2.0, 3.0]), np.array([0.0, 2.0])
    # of six pairs four are larger and one is equal
    pairs = [(a > b) + 0.5 * (a == b) for a in ours for b in others]
    assert rank_test(ours, others).a12 == pytest.approx(sum(pairs) / 6)
    assert rank_test(others, ours).a12 == pytest.approx(1 - sum(pairs) / 6)


def test_samples_apart_are_significant_and_equal_ones_are_not():
    apart = rank_test(np.arange(10.0) + 20, np.arange(10.0))
    assert (apart.a12, apart.p_value < 0.001) == (1.0, True)
    same = np.full(10, 0.1 + 0.2)
    assert rank_test(same, np.full(10, 0.3)) == (0.5, 1.0)
