from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from fairrec.core.errors import InputError
from fairrec.search.searcher import hyper_parameters
from fairrec.search.searchers.swarms import PSOParameters, inertial_velocities, uniform_positions
from tests.search.search_worlds import space_of
from tests.search.searchers.small_swarm import small_swarm


def test_plain_velocity_with_its_numbers_written_out():
    hyper = PSOParameters(inertia=0.5, c1=1.5, c2=2.5)
    found = inertial_velocities(small_swarm(), hyper, np.random.default_rng(3))

    rng = np.random.default_rng(3)
    r1, r2 = rng.random((2, 2)), rng.random((2, 2))
    assert found[0, 1] == approx(0.5 * -0.5 + 1.5 * r1[0, 1] * (3 - 1) + 2.5 * r2[0, 1] * (3 - 1))
    assert found[1, 0] == approx(0.5 * 0.25 + 1.5 * r1[1, 0] * (2 - 4) + 2.5 * r2[1, 0] * (0 - 4))


def test_pso_starts_anywhere():
    space = space_of([[0] * 40 + [1] * 60, [0] * 10 + [2] * 90], (2, 4))
    first = uniform_positions(space, 20_000, np.random.default_rng(0))
    assert np.bincount(first[:, 0]) / 20_000 == approx([1 / 2] * 2, abs=0.015)
    assert np.bincount(first[:, 1]) / 20_000 == approx([1 / 4] * 4, abs=0.015)


def test_inertia_is_never_negative():
    with pytest.raises(InputError, match=r"inertia: expected .*, got -1"):
        hyper_parameters("pso", {"inertia": -1})
