from __future__ import annotations

import numpy as np
import pytest

from fairrec.core.errors import InputError
from fairrec.search.loop import search
from fairrec.search.searcher import SEARCHERS, hyper_parameters
from fairrec.search.searchers.swarms import (
    DPSOParameters,
    PSOParameters,
    Swarm,
    SwarmParameters,
    inertial_velocities,
    thermal_velocities,
)
from tests.search.search_worlds import (
    evidence_of,
    exact_gap,
    gap_found,
    product_space,
    skewed_space,
    space_of,
    task_for,
)

BOTH = ["dpso", "pso"]


@pytest.mark.parametrize(
    ("move", "hyper"),
    [(thermal_velocities, DPSOParameters()), (inertial_velocities, PSOParameters())],
)
def test_a_swarm_without_values_is_pulled_by_no_leader(move, hyper):
    swarm = Swarm(np.array([[0], [0]]), np.zeros((2, 1)), 1.0)
    swarm.learn(np.array([np.nan, np.nan]))
    swarm.follow(swarm.positions, np.array([np.nan, np.nan]))
    assert swarm.leader is None
    assert np.isnan(swarm.best_fitness).all()
    assert move(swarm, hyper, np.random.default_rng(0)).tolist() == [[0], [0]]


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


def test_only_the_swarms_of_the_paper_share_what_they_find():
    space = product_space((6, 6), users_each=2)
    values = np.random.default_rng(0).normal(size=space.n_users)
    for name, shares in (("dpso", True), ("pso", False)):
        evidence = evidence_of(space, values)
        searcher = search(
            name, evidence, hyper_parameters(name, {"iterations": 1, "epsilon": 0.1})
        ).searchers[0]
        known = evidence.values(space.full)[0]
        is_leader_best = [
            known[space.groups_at([swarm.leader])[0]] == best
            for swarm, best in zip(
                searcher.swarms, (np.nanmax(known), np.nanmin(known)), strict=True
            )
        ]
        assert all(is_leader_best) == shares


@pytest.mark.parametrize("name", BOTH)
def test_velocities_start_within_their_limit(name):
    space = product_space((10, 10, 10))
    hyper = hyper_parameters(name, {"v_max": 3})
    evidence = evidence_of(space, np.zeros(space.n_users))
    built = SEARCHERS[name].build(task_for(evidence), hyper)
    for swarm in built.swarms:
        assert np.abs(swarm.velocities).max() <= 3
        assert swarm.velocities.min() < -2.5
        assert swarm.velocities.max() > 2.5


@pytest.mark.parametrize(
    ("n_values", "n_particles", "n_iterations"),
    [((2, 7, 21), 59, 10), ((10, 10, 10), 200, 10), ((2, 7, 21, 3, 5, 2), 44, 20), ((3,), 2, 10)],
)
def test_defaults_follow_the_number_of_combinations(n_values, n_particles, n_iterations):
    # 0.2 x 294 = 58.8, 0.2 x 1,000 = 200, 0.005 x 8,820 = 44.1, 0.2 x 3 = 0.6
    space = space_of([[0] * 200] * len(n_values), n_values)
    assert SwarmParameters().n_particles(space) == n_particles
    assert SwarmParameters().n_iterations(space) == n_iterations


def test_there_are_never_more_particles_than_users():
    space = space_of([[0, 1, 2]] * 12, (10,) * 12)
    assert SwarmParameters().n_particles(space) == 3


@pytest.mark.parametrize("name", BOTH)
def test_no_group_is_asked_for_twice_and_none_that_is_not_eligible(name):
    space = skewed_space(1, (3, 6, 8), 400, 4)
    evidence = evidence_of(space, np.random.default_rng(2).normal(size=400))
    searcher = SEARCHERS[name].build(task_for(evidence), hyper_parameters(name, {}))
    asked = []
    while len((request := searcher.ask()).groups):
        assert searcher.ask().groups.tolist() == request.groups.tolist()
        asked += request.groups.tolist()
        for group in request.groups:
            evidence.score(evidence.next_users(int(group), 400))
        searcher.tell(request, evidence)
    assert len(asked) == len(set(asked)) > 2
    assert set(asked) <= set(space.full.tolist())


@pytest.mark.parametrize("name", BOTH)
def test_positions_without_an_eligible_group_have_no_value(name):
    # of 36 combinations only those of the diagonal have users
    diagonal = np.repeat(np.arange(6), 5)
    space = space_of([diagonal, diagonal], (6, 6))
    hyper = hyper_parameters(name, {"epsilon": 0.5, "iterations": 2})
    swarms = search(name, evidence_of(space, np.arange(30.0)), hyper).searchers[0].swarms
    for swarm in swarms:
        has_value = ~np.isnan(swarm.best_fitness)
        assert has_value.any()
        assert not has_value.all()
        is_eligible = space.groups_at(swarm.best_positions.tolist()) >= 0
        assert has_value.tolist() == is_eligible.tolist()


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("seed", range(5))
def test_gap_found_is_never_above_the_exact_one(name, seed):
    space = skewed_space(seed, (2, 4, 5), 300, 4)
    values = np.random.default_rng(seed).normal(size=300)
    values[::3] = np.nan
    outcome = search(name, evidence_of(space, values), hyper_parameters(name, {}), seed=seed)
    assert outcome.ending == "finished"
    assert 0 < gap_found(outcome) <= exact_gap(space, values) + 1e-12


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize(
    ("space", "values"),
    [
        (space_of([[0, 0, 1, 1]], (2,)), [1.0, 2.0, 3.0, 4.0]),
        (space_of([[0, 0], [1, 1]], (3, 4)), [1.0, 2.0]),
        (product_space((3, 3), users_each=2), np.ones(18)),
        (product_space((3, 3), users_each=2), np.full(18, np.nan)),
        (space_of([[0, 1, 2]], (3,), min_users=2), [1.0, 2.0, 3.0]),
    ],
    ids=["one attribute", "one group", "all equal", "all undefined", "none eligible"],
)
def test_swarms_survive_the_smallest_spaces(name, space, values):
    evidence = evidence_of(space, np.array(values))
    outcome = search(name, evidence, hyper_parameters(name, {}))
    assert outcome.ending == "finished"
    assert gap_found(outcome) in (0.0, 2.0)


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize(
    "wrong",
    [{"c1": -1}, {"c2": np.inf}, {"v_max": 0}, {"epsilon": 0}, {"epsilon": 2}, {"iterations": 0}],
)
def test_impossible_hyper_parameters_are_refused(name, wrong):
    with pytest.raises(InputError, match=f"invalid hyper-parameter {next(iter(wrong))}: expected"):
        hyper_parameters(name, wrong)
