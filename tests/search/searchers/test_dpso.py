from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from fairrec.core.errors import InputError
from fairrec.search.loop import search
from fairrec.search.searcher import hyper_parameters
from fairrec.search.searchers.swarms import (
    DPSOParameters,
    dpso,
    observed_positions,
    thermal_velocities,
    uniform_positions,
)
from tests.search.search_worlds import (
    evidence_of,
    gap_found,
    product_space,
    space_of,
    task_for,
)
from tests.search.searchers.small_swarm import small_swarm


def test_equation_8_with_its_numbers_written_out():
    hyper = DPSOParameters(alpha=0.5, c1=1.5, c2=2.5)
    found = thermal_velocities(small_swarm(), hyper, np.random.default_rng(3))

    rng = np.random.default_rng(3)
    phi = rng.standard_normal((2, 2))
    r1, r2 = rng.random((2, 2)), rng.random((2, 2))
    # the personal bests are (0, 3) and (2, 1), their mean (1, 2); the global best is (0, 3);
    # the particles are at (1, 1) and (4, 0), from the mean (0, 1) and (3, 2) away
    assert found == approx(
        np.array(
            [
                [
                    0.5 * 0 * phi[0, 0] + 1.5 * r1[0, 0] * (0 - 1) + 2.5 * r2[0, 0] * (0 - 1),
                    0.5 * 1 * phi[0, 1] + 1.5 * r1[0, 1] * (3 - 1) + 2.5 * r2[0, 1] * (3 - 1),
                ],
                [
                    0.5 * 3 * phi[1, 0] + 1.5 * r1[1, 0] * (2 - 4) + 2.5 * r2[1, 0] * (0 - 4),
                    0.5 * 2 * phi[1, 1] + 1.5 * r1[1, 1] * (1 - 0) + 2.5 * r2[1, 1] * (3 - 0),
                ],
            ]
        )
    )


@pytest.mark.parametrize(
    ("hyper", "start", "shares"),
    [
        ({}, observed_positions, True),
        ({"from_users": 0}, uniform_positions, True),
        ({"shared": 0}, observed_positions, False),
    ],
)
def test_start_and_sharing_can_be_switched_off(hyper, start, shares):
    space = space_of([[0] * 9 + [1], [0] * 9 + [3]], (2, 4))
    evidence = evidence_of(space, np.arange(10.0))
    built = dpso(task_for(evidence, 5), DPSOParameters(**hyper))
    expected = start(space, len(built.swarms[0].positions), task_for(evidence, 5).rng)
    assert built.swarms[0].positions.tolist() == expected.tolist()
    assert built._shares is shares


def test_without_thermal_motion_a_particle_at_its_bests_stays():
    swarm = small_swarm()
    swarm.best_positions[:] = swarm.positions
    swarm.leader = None
    rng = np.random.default_rng(0)
    assert not thermal_velocities(swarm, DPSOParameters(alpha=0), rng).any()
    assert thermal_velocities(swarm, DPSOParameters(), rng).any()


def test_dpso_starts_with_the_shares_of_the_users():
    space = space_of([[0] * 40 + [1] * 60, [0] * 10 + [2] * 90], (2, 4))
    first = observed_positions(space, 20_000, np.random.default_rng(0))
    assert np.bincount(first[:, 0], minlength=2) / 20_000 == approx([0.4, 0.6], abs=0.015)
    assert np.bincount(first[:, 1], minlength=4) / 20_000 == approx([0.1, 0, 0.9, 0], abs=0.015)
    # drawn one by one: nobody has the values 1 and 0 at once
    assert ((first[:, 0] == 1) & (first[:, 1] == 0)).mean() == approx(0.6 * 0.1, abs=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_dpso_reaches_the_exact_gap_of_a_smooth_small_space(seed):
    space = product_space((2, 3, 4))
    gender, age, place = space.cells.codes[:, space.cells.of_user]
    values = gender + 0.5 * age + 0.25 * place
    hyper = hyper_parameters("dpso", {"epsilon": 0.5})
    outcome = search("dpso", evidence_of(space, values), hyper, seed=seed)
    assert gap_found(outcome) == approx(1 + 0.5 * 2 + 0.25 * 3)


def test_alpha_is_never_negative():
    with pytest.raises(InputError, match=r"alpha: expected .*, got -1"):
        hyper_parameters("dpso", {"alpha": -1})
