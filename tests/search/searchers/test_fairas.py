from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from fairrec.core.errors import InputError
from fairrec.search.loop import search
from fairrec.search.searcher import hyper_parameters
from fairrec.search.searchers.fairas import End, FairAS, FairASParameters
from tests.search.search_worlds import (
    evidence_of,
    exact_gap,
    gap_found,
    product_space,
    space_of,
    task_for,
)


def fairas(evidence, seed=0, **given):
    return FairAS(task_for(evidence, seed), FairASParameters(**given))


def unscored(space):
    return evidence_of(space, np.zeros(space.n_users))


def answered(searcher, evidence):
    """Ask, score and tell once; the combinations that were asked for."""
    request = searcher.ask()
    for group in request.groups:
        evidence.score(evidence.next_users(int(group), evidence.space.n_users))
    if len(request.groups):
        searcher.tell(request, evidence)
    return [tuple(codes) for codes in evidence.space.lattice.codes[request.groups].tolist()]


def test_values_without_support_get_no_weight():
    # the value 1 occurs, but in groups of one user only
    space = space_of([[0, 0, 1, 3, 3], [0, 0, 0, 1, 1]], (5, 2), min_users=2)
    for end in fairas(unscored(space)).ends:
        assert end.weights[0].tolist() == [1 / 2, 0, 0, 1 / 2, 0]
        assert end.weights[1].tolist() == [1 / 2, 1 / 2]


@pytest.mark.parametrize(("sign", "better"), [(1.0, [0, 1, 1, 0]), (-1.0, [1, 1, 0, 0])])
def test_weights_move_to_the_better_half(sign, better):
    end = End(sign, [np.array([0.2, 0.2, 0.6, 0.0])])
    hyper = FairASParameters(learning_rate=0.5, floor=0.3)
    codes, values = np.array([[0], [1], [1], [2]]), np.array([0.1, 0.2, 0.3, 0.4])
    end.learn(codes, values, hyper)
    # of the better two, one has the value 1; the other is the 2 or, at the low end, the 0
    shares = np.array([0, 1 / 2, 1 / 2, 0] if sign > 0 else [1 / 2, 1 / 2, 0, 0])
    assert (shares > 0).tolist() == [bool(b) for b in better]
    blend = 0.5 * np.array([0.2, 0.2, 0.6, 0.0]) + 0.5 * shares
    floor = np.array([1 / 3, 1 / 3, 1 / 3, 0])
    assert end.weights[0] == approx(0.7 * blend + 0.3 * floor)


def test_equal_values_teach_nothing():
    end = End(1.0, [np.array([0.5, 0.5])])
    end.learn(np.array([[0], [1], [0], [1]]), np.ones(4), FairASParameters())
    assert end.weights[0] == approx([0.5, 0.5])


def test_no_value_with_support_dies_out():
    end = End(1.0, [np.array([0.5, 0.5])])
    hyper = FairASParameters(learning_rate=1.0, floor=0.2)
    for _ in range(50):
        end.learn(np.array([[0], [1]]), np.array([1.0, 0.0]), hyper)
    assert end.weights[0] == approx([0.9, 0.1])


def test_a_new_extreme_is_looked_around_next():
    space = product_space((2, 9))
    # the codes rise, so that the extremes of any sample are known
    values = 10.0 * space.cells.codes[0] + space.cells.codes[1]
    evidence = evidence_of(space, values)
    searcher = fairas(evidence, samples=1)
    seen = sorted(answered(searcher, evidence))
    expected = set()
    for gender, age in (seen[0], seen[-1]):
        expected.add((1 - gender, age))
        expected |= {(gender, age + step) for step in (-2, -1, 1, 2) if 0 <= age + step < 9}
    assert set(answered(searcher, evidence)) == expected - set(seen)


def test_steps_pass_over_values_without_support():
    space = space_of([[0, 0, 3, 3, 4, 4, 9, 9]], (10,), min_users=2)
    found = fairas(unscored(space))._neighbours(np.array([3]))
    assert found == [[0], [4], [9]]


@pytest.mark.parametrize("seed", range(5))
def test_no_group_is_asked_for_twice_and_the_gap_is_never_above_the_exact_one(seed):
    rng = np.random.default_rng(seed)
    codes = [np.minimum(rng.geometric(0.4, 400) - 1, n - 1) for n in (3, 6, 8)]
    space = space_of(codes, (3, 6, 8), min_users=4)
    values = rng.normal(size=400)
    values[::3] = np.nan
    evidence = evidence_of(space, values)
    searcher = fairas(evidence, seed)
    asked = []
    while step := answered(searcher, evidence):
        asked += step
    assert len(asked) == len(set(asked)) > 2
    assert set(asked) <= {tuple(codes) for codes in space.codes.tolist()}
    found = evidence.values(space.full)[0]
    assert np.nanmax(found) - np.nanmin(found) <= exact_gap(space, values) + 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_exact_gap_of_a_smooth_small_space_is_reached(seed):
    space = product_space((2, 3, 4))
    gender, age, place = space.cells.codes
    values = gender + 0.5 * age + 0.25 * place
    # two samples a round: what is not drawn has to be found by looking around
    hyper = FairASParameters(samples=2, rounds=1)
    outcome = search("fairas", evidence_of(space, values), hyper, seed=seed)
    assert gap_found(outcome) == approx(1 + 0.5 * 2 + 0.25 * 3)


def test_search_ends_after_rounds_without_anything_new():
    # all values have support, but of the combinations only those of the diagonal
    space = space_of([range(10), range(10)], (10, 10))
    users_scored = []
    for rounds in (1, 1_000):
        hyper = FairASParameters(samples=2, rounds=rounds)
        outcome = search("fairas", evidence_of(space, np.zeros(10)), hyper)
        assert outcome.ending == "finished"
        users_scored.append(outcome.evidence.users_scored)
    assert users_scored[0] < users_scored[1] == 10


@pytest.mark.parametrize(
    ("space", "values"),
    [
        (space_of([[0, 0, 1, 1]], (2,)), [1.0, 2.0, 3.0, 4.0]),
        (space_of([[0, 0], [1, 1]], (3, 4)), [1.0, 2.0]),
        (product_space((3, 3)), np.ones(9)),
        (product_space((3, 3)), np.full(9, np.nan)),
        (space_of([[0, 1, 2]], (3,), min_users=2), [1.0, 2.0, 3.0]),
    ],
    ids=["one attribute", "one group", "all equal", "all undefined", "none eligible"],
)
def test_smallest_spaces_are_survived(space, values):
    outcome = search("fairas", evidence_of(space, np.array(values)), FairASParameters())
    assert outcome.ending == "finished"
    assert outcome.evidence.users_scored == space.sizes.sum()
    assert gap_found(outcome) in (0.0, 2.0)


@pytest.mark.parametrize(
    "wrong", [{"samples": 0}, {"rounds": 0}, {"learning_rate": 1.5}, {"floor": 0}, {"floor": 2}]
)
def test_impossible_hyper_parameters_are_refused(wrong):
    with pytest.raises(InputError, match=f"invalid hyper-parameter {next(iter(wrong))}: expected"):
        hyper_parameters("fairas", wrong)
