from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from fairrec.search.loop import search
from fairrec.search.searcher import NOTHING, hyper_parameters
from fairrec.search.searchers.adaptive import AdaptiveParameters
from tests.search.search_worlds import evidence_of, exact_gap, gap_found
from tests.search.searchers.adaptive.adaptive_worlds import (
    adapt,
    bound,
    large_gap_world,
    small_world,
)


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


def test_gap_costs_far_fewer_users_than_chance():
    space, values = large_gap_world()
    exact = exact_gap(space, values)
    for seed in range(5):
        history = adapt(space, values, seed, n_reference=100, findings=0).history
        users = next(
            n for n, (gap,) in zip(history.users, history.gaps, strict=True) if gap > 0.99 * exact
        )
        # in random order, both ends are expected after two thirds of the groups
        assert users < 0.25 * space.n_users


def test_a_good_popularity_proxy_saves_users():
    saved = []
    for seed in range(5):
        space, values = small_world(seed, "normal")
        proxy = values + 0.05 * np.random.default_rng(seed).normal(size=400)
        with_it = adapt(space, values, seed, n_reference=60, findings=0, proxy=proxy[None])
        without = adapt(space, values, seed, n_reference=60, findings=0)
        assert gap_found(with_it) == approx(exact_gap(space, values), rel=0.01)
        saved.append(1 - with_it.evidence.users_scored / without.evidence.users_scored)
    assert np.mean(saved) > 0.2


def test_gap_that_is_close_enough_takes_no_more_users():
    space, values = large_gap_world()
    outcome = adapt(space, values, n_reference=100, findings=0)
    assert outcome.ending == "finished"
    assert outcome.searchers[0].gap.next_users(1, 32) is NOTHING


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
