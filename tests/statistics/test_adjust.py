from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.statistics.simultaneous import holm

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


@given(P_VALUES, st.floats(0.001, 0.5))
def test_holm_rejects_as_its_steps_do(p_values, alpha):
    rejected = set()
    for place, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        if p_values[i] * (len(p_values) - place) > alpha:
            break
        rejected.add(i)
    assert set(np.flatnonzero(holm(np.array(p_values)) <= alpha)) == rejected


def test_holm_of_nothing_is_nothing():
    assert holm(np.empty(0)).tolist() == []
