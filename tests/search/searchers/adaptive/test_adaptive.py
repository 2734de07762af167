from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from fairrec.core.errors import InputError
from fairrec.search.loop import search
from fairrec.search.searcher import hyper_parameters
from fairrec.search.searchers.adaptive import Adaptive, AdaptiveParameters
from tests.search.search_worlds import (
    evidence_of,
    exact_gap,
    gap_found,
    product_space,
    task_for,
)
from tests.search.searchers.adaptive.adaptive_worlds import adapt, large_gap_world, small_world


@pytest.mark.parametrize("kind", ["normal", "skewed"])
@pytest.mark.parametrize("findings", [0, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_small_worlds_are_searched_exactly(kind, findings, seed):
    space, values = small_world(seed, kind, depth=2)
    outcome = adapt(space, values, seed, n_reference=40, findings=findings, steps=8)
    assert outcome.ending == "finished"
    assert gap_found(outcome) == approx(exact_gap(space, values), rel=0.01)


@pytest.mark.parametrize("users", [50, 130, 260])
def test_a_partly_scored_group_is_never_fully_scored(users):
    for seed in range(5):
        space, values = small_world(seed, "normal", depth=2)
        # one user of each group is far above all others
        first = np.unique(space.cells.of_user, return_index=True)[1]
        values[first] += 100
        outcome = adapt(space, values, seed, users, n_reference=30)
        evidence = outcome.evidence
        is_fully_scored = ~np.isnan(evidence.values(space.full)[0])
        n_scored = evidence.n_scored[space.cell_of_full]
        assert is_fully_scored.tolist() == (n_scored == space.sizes).tolist()
        assert ((n_scored > 0) & ~is_fully_scored).any()
        found = evidence.values(space.full)[0][is_fully_scored]
        expected = found.max() - found.min() if len(found) else 0
        assert gap_found(outcome) == approx(expected, abs=1e-12)


def test_several_metrics_are_found_with_the_same_users():
    space, values = large_gap_world()
    other = 0.1 * np.random.default_rng(1).normal(size=space.n_users)
    other[space.cells.of_user == 11] += 2
    other[space.cells.of_user == 58] -= 2
    both = np.stack([values, other])
    outcome = adapt(space, both, n_reference=100, findings=0)
    for metric, own in enumerate(both):
        assert gap_found(outcome, metric) == approx(exact_gap(space, own), abs=1e-12)
    assert outcome.evidence.users_scored < 0.35 * space.n_users


def test_a_group_is_scored_in_steps():
    space = product_space((2, 2), users_each=20, min_users=5)
    values = np.random.default_rng(0).normal(size=80)
    evidence = evidence_of(space, values)
    searcher = Adaptive(task_for(evidence), AdaptiveParameters(steps=8, findings=0, at_once=1))
    n_left = {}
    for _ in range(10):
        request = searcher.ask()
        (group,), (n_users,) = request.groups.tolist(), request.n_users.tolist()
        if evidence.users_scored:
            # an eighth of those left, rounded up
            assert n_users == -(-n_left.get(group, 20) // 8)
        evidence.score(evidence.next_users(group, n_users))
        n_left[group] = evidence.n_left(group)
        searcher.tell(request, evidence)


@pytest.mark.parametrize("depth", [None, 2])
@pytest.mark.parametrize("at_once", [1, 5, 16, 40])
@pytest.mark.parametrize("n_calls", [1, 3])
def test_no_call_has_fewer_users_than_asked_for_together(depth, at_once, n_calls):
    space, values = small_world(2, "normal", depth)
    told = [0]
    evidence = evidence_of(space, values)
    outcome = search(
        "adaptive",
        evidence,
        AdaptiveParameters(at_once=at_once),
        n_reference=40,
        n_calls=n_calls,
        advance=told.append,
    )
    assert gap_found(outcome) == approx(exact_gap(space, values), rel=0.01)
    assert evidence.users_scored == evidence.is_scored.sum()
    # the first is the reference sample; in the last of either goal too few may be left
    n_users = np.diff(told)[1:]
    assert (n_users < at_once * n_calls).sum() <= 2
    assert n_users.mean() < 1.5 * at_once * n_calls


def test_by_default_there_is_one_call_for_sixteen_users_at_most():
    space, values = small_world(3, "normal", depth=2)
    told = []
    adapted = adapt(space, values, users=300, n_reference=60, advance=told.append)
    assert adapted.evidence.users_scored == 300
    assert len(told) <= 300 / 16


@pytest.mark.parametrize(
    "wrong",
    [
        {"tolerance": -0.1},
        {"tolerance": np.inf},
        {"tolerance": np.nan},
        {"confidence": 0},
        {"confidence": 1},
        {"confidence": np.nan},
        {"findings": -0.1},
        {"findings": 1.1},
        {"steps": 0},
        {"steps": 1.5},
        {"at_once": 0},
    ],
)
def test_impossible_hyper_parameters_are_refused(wrong):
    with pytest.raises(InputError, match=f"invalid hyper-parameter {next(iter(wrong))}: expected"):
        hyper_parameters("adaptive", wrong)
