from __future__ import annotations

import numpy as np
import pytest

from fairrec.statistics.strata import shrink_variance


def test_few_users_have_the_spread_of_all_and_many_their_own():
    n = np.array([0.0, 1.0, 2.0, 10_001.0])
    own = 4.0
    found = shrink_variance(own * np.maximum(n - 1, 0), n, 1.0)
    assert found[:3] == pytest.approx([1.0, 1.0, 2.5])
    assert found[3] == pytest.approx(own, rel=1e-3)


def test_a_larger_weight_of_all_draws_further():
    squares, n = np.array([0.0]), np.array([5.0])
    assert shrink_variance(squares, n, 1.0, prior=4.0) == pytest.approx(0.5)
    assert shrink_variance(squares, n, 1.0, prior=1.0) == pytest.approx(0.2)
