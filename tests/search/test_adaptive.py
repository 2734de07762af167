"""The adaptive search: the gap with its bound, and findings."""

from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from fairrec.search.loop import search
from fairrec.search.searchers.adaptive import AdaptiveParameters
from tests.search.search_worlds import (
    adapt,
    bound,
    evidence_of,
    exact_gap,
    gap_found,
    large_gap_world,
    small_world,
    space_of,
)


@pytest.mark.parametrize("kind", ["normal", "skewed"])
@pytest.mark.parametrize("findings", [0, 0.5])
@pytest.mark.parametrize("seed", range(2))
def test_small_worlds_are_searched_exactly(kind, findings, seed):
    space, values = small_world(seed, kind, depth=2)
    outcome = adapt(space, values, seed, n_reference=40, findings=findings, steps=8)
    assert outcome.ending == "finished"
    assert gap_found(outcome) == approx(exact_gap(space, values), rel=0.01)


@pytest.mark.parametrize("depth", [None, 2])
@pytest.mark.parametrize("at_once", [1, 16])
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


def test_search_ends_by_itself_with_a_bound():
    space, values = large_gap_world()
    outcome = adapt(space, values, n_reference=100, findings=0)
    assert outcome.ending == "finished"
    assert gap_found(outcome) == approx(exact_gap(space, values), abs=1e-12)
    assert outcome.evidence.users_scored < 0.25 * space.n_users
    assert bound(outcome) <= 0.01 * gap_found(outcome)


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


@pytest.mark.parametrize("value", [0.0, 0.3, 1234.567, np.nan])
def test_metric_without_spread_ends_with_no_statement_on_what_was_not_seen(value):
    space, _ = large_gap_world()
    outcome = adapt(space, np.full(space.n_users, value), n_reference=100)
    assert outcome.ending == "finished"
    assert outcome.evidence.users_scored < 0.25 * space.n_users
    assert gap_found(outcome) == approx(0, abs=1e-9)
    assert np.isnan(bound(outcome)).all()


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
