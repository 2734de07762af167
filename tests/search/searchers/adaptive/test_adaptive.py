from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from fairrec.core.errors import InputError, UnknownNameError
from fairrec.search.budget import Budget
from fairrec.search.loop import search
from fairrec.search.searcher import hyper_parameters
from fairrec.search.searchers.adaptive.adaptive import Adaptive, AdaptiveParameters
from tests.search.search_worlds import (
    evidence_of,
    exact_gap,
    gap_found,
    product_space,
    skewed_space,
    space_of,
)


def adapt(space, values, seed=0, users=None, n_reference=0, stand_in=None, **given):
    evidence = evidence_of(space, values, seed, stand_in)
    hyper = hyper_parameters("adaptive", given)
    budget = Budget(users=users)
    return search("adaptive", evidence, hyper, seed=seed, budget=budget, n_reference=n_reference)


def bound(outcome):
    return outcome.searchers[0].may_be_larger_by()


def small_world(seed, kind, depth=None):
    """Some attributes matter and some do not; values are normal, or mostly 0 and else 1."""
    rng = np.random.default_rng(seed)
    space = skewed_space(seed, (2, 4, 6), 400, 4, depth)
    effects = rng.normal(0, 0.1, len(space.cells))[space.cells.of_user]
    for column in space.cells.codes[:, space.cells.of_user]:
        effects += rng.normal(0, rng.choice([0.0, 0.1, 0.4]), 6)[column]
    if kind == "normal":
        return space, effects + rng.normal(0, 0.5, 400)
    return space, (2 * effects + rng.logistic(size=400) > 2.2).astype(float)


def large_gap_world():
    """Two of 100 groups of 20 stand out far, one at each end."""
    space = product_space((10, 10), users_each=20, min_users=10)
    values = 0.1 * np.random.default_rng(0).normal(size=space.n_users)
    values[space.cells.of_user == 35] += 2
    values[space.cells.of_user == 72] -= 2
    return space, values


@pytest.mark.parametrize("kind", ["normal", "skewed"])
@pytest.mark.parametrize("findings", [0, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_small_worlds_are_searched_exactly(kind, findings, seed):
    space, values = small_world(seed, kind, depth=2)
    outcome = adapt(space, values, seed, n_reference=40, findings=findings, steps=8)
    assert outcome.ending == "finished"
    assert gap_found(outcome) == approx(exact_gap(space, values), rel=0.01)


def test_search_ends_by_itself_with_a_bound():
    space, values = large_gap_world()
    outcome = adapt(space, values, n_reference=100, findings=0)
    assert outcome.ending == "finished"
    assert gap_found(outcome) == approx(exact_gap(space, values), abs=1e-12)
    assert outcome.evidence.users_scored < 0.25 * space.n_users
    assert bound(outcome) <= 0.01 * gap_found(outcome)


def test_smaller_tolerance_costs_more():
    space, values = small_world(0, "normal")
    scored = [
        adapt(space, values, findings=0, tolerance=tolerance).evidence.users_scored
        for tolerance in (1.0, 0.2, 0.0)
    ]
    assert scored[0] < scored[1] < scored[2]


def test_nothing_is_missing_when_all_groups_are_complete():
    space, values = small_world(0, "normal")
    evidence = evidence_of(space, values)
    search("themis", evidence, hyper_parameters("themis", {}))
    assert bound(search("adaptive", evidence, AdaptiveParameters())).tolist() == [0.0]


@pytest.mark.parametrize("kind", ["normal", "skewed"])
def test_exact_gap_is_within_the_bound_as_often_as_promised(kind):
    holds, is_exact, widths = [], [], []
    for seed in range(30):
        space, values = small_world(seed, kind, depth=2 if seed % 2 else None)
        # a tenth to two fifths of the users
        users = int(np.random.default_rng(seed).integers(40, 160))
        outcome = adapt(space, values, seed, users, n_reference=20 * (seed % 3), steps=4)
        exact = exact_gap(space, values)
        if np.isnan(bound(outcome)[0]):  # all values seen are equal: nothing is claimed
            continue
        holds.append(gap_found(outcome) + bound(outcome)[0] >= exact - 1e-12)
        is_exact.append(gap_found(outcome) >= exact - 1e-12)
        widths.append(bound(outcome)[0] / exact)
    assert np.mean(holds) >= 0.9
    # which is no small thing: the gap found alone is often too small; nor is the bound just vast
    assert np.mean(is_exact) < 0.85
    assert np.median(widths) < 2


def test_confidence_widens_the_bound():
    space, values = small_world(1, "normal")
    bounds = [
        bound(adapt(space, values, users=120, findings=0, confidence=confidence))[0]
        for confidence in (0.5, 0.9, 0.99)
    ]
    assert bounds[0] < bounds[1] < bounds[2]


@pytest.mark.parametrize("users", [50, 130, 260])
def test_partly_scored_group_is_never_verified(users):
    for seed in range(5):
        space, values = small_world(seed, "normal", depth=2)
        # one user of each group is far above all others
        first = np.unique(space.cells.of_user, return_index=True)[1]
        values[first] += 100
        outcome = adapt(space, values, seed, users, n_reference=30)
        evidence = outcome.evidence
        verified = ~np.isnan(evidence.values(space.full)[0])
        n_scored = evidence.n_scored[space.cell_of_full]
        assert verified.tolist() == (n_scored == space.sizes).tolist()
        assert ((n_scored > 0) & ~verified).any()
        found = evidence.values(space.full)[0][verified]
        expected = found.max() - found.min() if len(found) else 0
        assert gap_found(outcome) == approx(expected, abs=1e-12)


def test_gap_costs_far_fewer_users_than_chance():
    space, values = large_gap_world()
    exact = exact_gap(space, values)
    for seed in range(5):
        history = adapt(space, values, seed, n_reference=100, findings=0).history
        users = next(
            n for n, (gap,) in zip(history.users, history.gaps, strict=True) if gap > 0.99 * exact
        )
        # in random order, both ends are expected after two thirds of the groups
        assert users < 0.2 * space.n_users


def planted_world(seed, difference):
    """4,000 users; those with two given values of three attributes, about 1.5%, differ."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, n, 4_000) for n in (5, 14, 4)]
    space = space_of(codes, (5, 14, 4), min_users=10, depth=2)
    is_planted = (codes[0] == 3) & (codes[1] == 6)
    return space, difference * is_planted + rng.normal(size=4_000), is_planted


@pytest.mark.parametrize("difference", [-1.5, 1.5])
def test_planted_group_is_completed_within_a_quarter_of_the_users(difference):
    n_complete = 0
    for seed in range(5):
        space, values, is_planted = planted_world(seed, difference)
        assert is_planted.mean() == approx(0.015, abs=0.006)
        outcome = adapt(space, values, seed, users=1_000, n_reference=200, steps=8)
        n_complete += outcome.evidence.is_scored[is_planted].all()
    assert n_complete >= 4


def test_without_a_share_for_findings_they_are_not_sought():
    n_complete = 0
    for seed in range(3):
        space, values, is_planted = planted_world(seed, -1.5)
        outcome = adapt(space, values, seed, users=1_000, n_reference=200, findings=0)
        n_complete += outcome.evidence.is_scored[is_planted].all()
        # only full combinations, apart from the reference sample
        touched = np.flatnonzero(
            np.bincount(
                space.cells.of_user,
                weights=outcome.evidence.is_scored & ~outcome.evidence.is_reference,
                minlength=len(space.cells),
            )
        )
        assert set(touched.tolist()) <= set(space.cell_of_full.tolist())
    assert n_complete <= 1


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


def test_good_stand_in_saves_users():
    saved = []
    for seed in range(5):
        space, values = small_world(seed, "normal")
        stand_in = values + 0.05 * np.random.default_rng(seed).normal(size=400)
        with_it = adapt(space, values, seed, n_reference=60, findings=0, stand_in=stand_in[None])
        without = adapt(space, values, seed, n_reference=60, findings=0)
        assert gap_found(with_it) == approx(exact_gap(space, values), rel=0.01)
        saved.append(1 - with_it.evidence.users_scored / without.evidence.users_scored)
    assert np.mean(saved) > 0.2


def test_a_group_is_scored_in_steps():
    space = product_space((2, 2), users_each=20, min_users=5)
    values = np.random.default_rng(0).normal(size=80)
    evidence = evidence_of(space, values)
    hyper = AdaptiveParameters(steps=8, findings=0)
    request = Adaptive(evidence, [0], hyper, np.random.default_rng(0)).ask()
    # 20 users in about 8 steps, rounded up
    assert request.n_users.tolist() == [3]
    assert len(request.groups) == 1


@pytest.mark.parametrize("depth", [None, 2])
def test_groups_asked_for_together_make_fewer_calls(depth):
    space, values = small_world(2, "normal", depth)
    n_calls = []
    for at_once in (1, 5):
        told = []
        evidence = evidence_of(space, values)
        hyper = AdaptiveParameters(at_once=at_once)
        outcome = search("adaptive", evidence, hyper, n_reference=40, advance=told.append)
        assert gap_found(outcome) == approx(exact_gap(space, values), rel=0.01)
        assert evidence.users_scored == evidence.is_scored.sum()
        n_calls.append(len(told))
    assert n_calls[1] < 0.7 * n_calls[0]


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
    with pytest.raises(InputError, match=f"{next(iter(wrong))}=.* is not possible"):
        hyper_parameters("adaptive", wrong)


def test_hyper_parameters_have_names():
    with pytest.raises(UnknownNameError, match="Did you mean 'tolerance'"):
        hyper_parameters("adaptive", {"tolerence": 0.1})
    with pytest.raises(InputError, match="'random' has no hyper-parameter 'theta'"):
        hyper_parameters("random", {"theta": 0.1})


def test_gap_that_is_close_enough_takes_no_more_users():
    space, values = large_gap_world()
    outcome = adapt(space, values, n_reference=100, findings=0)
    assert outcome.ending == "finished"
    assert outcome.searchers[0].gap.next_groups(1).size == 0


@pytest.mark.parametrize("value", [0.0, 0.3, 1234.567, np.nan])
def test_metric_without_spread_ends_with_no_statement_on_what_was_not_seen(value):
    space, _ = large_gap_world()
    outcome = adapt(space, np.full(space.n_users, value), n_reference=100)
    assert outcome.ending == "finished"
    assert outcome.evidence.users_scored < 0.25 * space.n_users
    assert gap_found(outcome) == approx(0, abs=1e-9)
    assert np.isnan(bound(outcome)).all()


# sums of 0.3 are rounded
@pytest.mark.parametrize("other", [1.0, 0.3, np.nan])
def test_metric_that_is_constant_or_undefined_does_not_disturb_another(other):
    space, values = large_gap_world()
    alone = adapt(space, values, n_reference=100, findings=0)
    both = np.stack([values, np.full(space.n_users, other)])
    outcome = adapt(space, both, n_reference=100, findings=0)
    # it takes some hundred equal values to believe that a metric has no gap
    assert alone.evidence.users_scored < outcome.evidence.users_scored < 0.25 * space.n_users
