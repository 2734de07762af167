"""Particle swarms, and those of the FairRec paper."""

from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from fairrec.search.loop import search
from fairrec.search.searcher import hyper_parameters
from fairrec.search.searchers.swarms import (
    DPSOParameters,
    PSOParameters,
    Swarm,
    SwarmParameters,
    inertial_velocities,
    observed_positions,
    thermal_velocities,
)
from tests.search.search_worlds import (
    evidence_of,
    gap_found,
    product_space,
    space_of,
)


def small_swarm():
    swarm = Swarm(np.array([[0, 3], [2, 1]]), np.array([[1.0, -0.5], [0.25, 2.0]]), 1.0)
    swarm.learn(np.array([0.4, 0.1]))
    swarm.follow(swarm.positions, np.array([0.4, 0.1]))
    swarm.positions = np.array([[1, 1], [4, 0]])
    return swarm


def test_equation_9_rounds_to_the_nearest_value_within_limits():
    swarm = Swarm(np.array([[0, 3, 5]]), np.zeros((1, 3)), 1.0)
    swarm.move(np.array([[-7.0, 1.4, 1.6]]), 2.0, (4, 9, 7))
    assert swarm.velocities.tolist() == [[-2.0, 1.4, 1.6]]
    # 0 - 2 is below the range, 3 + 1.4 is nearest to 4, 5 + 1.6 nearest to 7, above the range
    assert swarm.positions.tolist() == [[0, 4, 6]]


@pytest.mark.parametrize(("sign", "kept"), [(1.0, [0, 2, 1]), (-1.0, [0, 0, 1])])
def test_personal_best_is_replaced_only_by_a_better_value(sign, kept):
    swarm = Swarm(np.array([[0], [0], [0]]), np.zeros((3, 1)), sign)
    swarm.learn(np.array([0.5, 0.5, np.nan]))
    for position, values in ((1, [0.5, np.nan, 0.1]), (2, [np.nan, 0.6, np.nan])):
        swarm.positions = np.full((3, 1), position)
        swarm.learn(np.array(values))
    assert swarm.best_positions[:, 0].tolist() == kept


def test_leader_is_the_first_best_position_heard_of():
    swarm = Swarm(np.array([[0]]), np.zeros((1, 1)), -1.0)
    swarm.follow(np.array([[4], [5], [6]]), np.array([np.nan, 0.2, 0.2]))
    swarm.follow(np.array([[7], [8]]), np.array([0.2, 0.3]))
    assert swarm.leader.tolist() == [5]


@pytest.mark.parametrize(
    ("n_values", "n_particles", "n_iterations"),
    [((2, 7, 21), 59, 10), ((10, 10, 10), 200, 10), ((2, 7, 21, 3, 5, 2), 44, 20), ((3,), 2, 10)],
)
def test_defaults_follow_the_number_of_combinations(n_values, n_particles, n_iterations):
    # 0.2 x 294 = 58.8, 0.2 x 1,000 = 200, 0.005 x 8,820 = 44.1, 0.2 x 3 = 0.6
    space = space_of([[0] * 200] * len(n_values), n_values)
    assert SwarmParameters().n_particles(space) == n_particles
    assert SwarmParameters().n_iterations(space) == n_iterations


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


def test_plain_velocity_with_its_numbers_written_out():
    hyper = PSOParameters(inertia=0.5, c1=1.5, c2=2.5)
    found = inertial_velocities(small_swarm(), hyper, np.random.default_rng(3))

    rng = np.random.default_rng(3)
    r1, r2 = rng.random((2, 2)), rng.random((2, 2))
    assert found[0, 1] == approx(0.5 * -0.5 + 1.5 * r1[0, 1] * (3 - 1) + 2.5 * r2[0, 1] * (3 - 1))
    assert found[1, 0] == approx(0.5 * 0.25 + 1.5 * r1[1, 0] * (2 - 4) + 2.5 * r2[1, 0] * (0 - 4))
