"""FairAS: adaptive sampling with a look around each extreme."""

from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from fairrec.search.loop import search
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


def test_values_need_enough_users_with_each_value_of_the_first_binary_attribute():
    # ages 0 and 1 have two users of each gender, age 2 has three of one and one of the other
    gender = [0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1]
    age = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    space = space_of([gender, age], (2, 3), min_users=2)
    low, high = fairas(unscored(space)).ends
    assert low.weights[1].tolist() == high.weights[1].tolist() == [1 / 2, 1 / 2, 0]


def test_without_a_binary_attribute_values_need_enough_users_alone():
    space = space_of([[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 3]], (3, 4), min_users=2)
    (low, _) = fairas(unscored(space)).ends
    assert low.weights[0] == approx([1 / 3, 1 / 3, 1 / 3])
    assert low.weights[1].tolist() == [1 / 2, 1 / 2, 0, 0]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_weight_of_values_in_the_better_half_is_shared_by_how_often_they_are_there(sign):
    end = End(sign, [np.array([0.1, 0.2, 0.3, 0.4])])
    codes, values = np.array([[0], [1], [1], [1], [2], [2]]), sign * np.array([0, 1, 2, 3, 4, 5])
    end.learn(codes, values)
    # above the median 2.5: the value 1 once and 2 twice; together they had 0.2 + 0.3
    assert end.weights[0] == approx([0.1, 1 / 3 * 0.5, 2 / 3 * 0.5, 0.4])


def test_median_itself_is_not_the_better_half():
    end = End(1.0, [np.array([0.25, 0.25, 0.25, 0.25])])
    codes, values = np.array([[0], [1], [2]]), np.array([0.0, 1.0, 2.0])
    end.learn(codes, values)
    assert end.weights[0] == approx([0.25] * 4)
    end.learn(codes, np.ones(3))  # nothing is above
    assert end.weights[0] == approx([0.25] * 4)


def around(evidence, codes, sign=1.0, **given):
    """What is looked at around a combination, in order."""
    searcher = fairas(evidence, **given)
    looking, asked, answer = searcher._look_around(sign, codes, -np.inf), [], None
    at = evidence.space.cells.codes.T.tolist()
    while True:
        try:
            group = looking.send(answer)
        except StopIteration:
            return asked
        cell = int(evidence.space.cells_in(group)[0])
        asked.append(tuple(at[cell]))
        evidence.score(evidence.next_users(group, 10))
        answer = float(evidence.values(np.array([group]))[0, 0])


def test_look_around_takes_steps_to_something_better_at_once_and_leaves_the_binary_attribute():
    space = product_space((2, 9, 4))
    _, age, place = space.cells.codes
    evidence = evidence_of(space, 10.0 * age - place)
    # after the steps in age the best is age 6, from where the steps in place go on
    assert around(evidence, (1, 4, 1)) == [
        *((1, 5, 1), (1, 3, 1), (1, 6, 1), (1, 2, 1)),
        *((1, 6, 2), (1, 6, 0), (1, 6, 3)),
    ]


def test_each_end_has_its_samples_in_each_round_and_rounds_are_counted():
    space = product_space((3, 40, 40))
    evidence = evidence_of(space, np.random.default_rng(1).normal(size=space.n_users))
    searcher = fairas(evidence, samples=5, rounds=3)
    n_asked = 0
    while answered(searcher, evidence):
        n_asked += 1
    # a look around the last extreme may go beyond the thirty
    assert 30 <= n_asked == len(searcher._values) <= 30 + 3 * 4


@pytest.mark.parametrize("seed", range(5))
def test_all_groups_of_a_small_space_are_drawn_in_the_end(seed):
    space = product_space((2, 3, 4))
    values = np.random.default_rng(seed).normal(size=24)
    outcome = search("fairas", evidence_of(space, values), FairASParameters(), seed=seed)
    assert outcome.ending == "finished"
    assert gap_found(outcome) == approx(exact_gap(space, values))
