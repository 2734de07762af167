from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairrec.statistics.contributions import shapley_contributions
from tests.statistics.small_population import population, random_population


# some 300 groups and metrics in each
@settings(max_examples=12)
@given(st.integers(0, 2**32))
def test_contributions_add_up_to_the_difference(seed):
    world = random_population(seed, n_users=80, share_undefined=0.2, min_users=1)
    for group in range(len(world.lattice)):
        for metric in range(len(world.values)):
            difference = world.moments.difference[metric, group]
            if np.isnan(difference):
                continue
            parts = shapley_contributions(
                metric, world.lattice.codes[group], world.moments, world.grouping.cells
            )
            assert sum(parts.values()) == pytest.approx(difference, abs=1e-9)


def test_the_condition_that_carries_the_difference_gets_it():
    codes = [np.tile([0, 1], 200), np.repeat([0, 1], 200)]
    world = population(codes, -1.0 * (codes[1] == 0))
    parts = shapley_contributions(
        0, world.lattice.codes[world.position(0, 0)], world.moments, world.grouping.cells
    )
    # worth: {first} 0, {second} -1, both: -1 - (-1/3) = -2/3
    assert parts[0] == pytest.approx((0 + (-2 / 3 - -1)) / 2)
    assert parts[1] == pytest.approx((-1 + (-2 / 3 - 0)) / 2)


def test_a_group_of_one_condition_carries_all_of_it():
    world = population([[0, 0, 1, 1]], [[0.0, 0.0, 1.0, 0.5]])
    parts = shapley_contributions(
        0, world.lattice.codes[world.position(0)], world.moments, world.grouping.cells
    )
    assert parts == pytest.approx({0: 0.0 - 0.75})
