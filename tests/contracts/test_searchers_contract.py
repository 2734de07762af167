"""What every registered searcher must do, whatever it looks for.

A searcher that is registered when the tests are collected is tested here without being named.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from pytest import approx

from fairrec.groups.grouping import Grouping
from fairrec.search.evidence import Evidence
from fairrec.search.loop import SearchOutcome, search
from fairrec.search.options import Budget
from fairrec.search.searcher import SEARCHERS, hyper_parameters
from tests.search.search_worlds import (
    exact_gap,
    gap_found,
    group_means,
    skewed_space,
    space_of,
    two_metrics,
)

ALL = list(SEARCHERS)
LOOKS_EVERYWHERE = ["exact", "themis", "random"]
DRAWS_LOTS = ["dpso", "fairas", "pso", "random"]
FEW, MANY = 4, 12
"""Users of the smallest eligible group in the worlds below, and of a larger group."""

every_searcher = pytest.mark.parametrize("name", ALL)


class Recorder:
    """Values of users that are known beforehand; notes who was measured, and when."""

    def __init__(
        self, values: np.ndarray, seconds_each: float = 0.0, fails_after: int | None = None
    ):
        self.values = np.atleast_2d(values)
        self.batches: list[list[int]] = []
        self.now = 1_000.0
        self._seconds_each = seconds_each
        self._fails_after = fails_after

    @property
    def users(self) -> list[int]:
        return [user for batch in self.batches for user in batch]

    def __call__(self, users: np.ndarray) -> np.ndarray:
        if self._fails_after is not None and len(self.users) + len(users) > self._fails_after:
            raise RuntimeError("the model is out of order")
        self.batches.append(users.tolist())
        assert len(self.users) == len(set(self.users)), "a user was measured twice"
        self.now += self._seconds_each * len(users)
        return self.values[:, users]

    def clock(self) -> float:
        return self.now


def run(
    name: str, space: Grouping, measure: Recorder | np.ndarray, *, seed: int = 0, **more: object
) -> SearchOutcome:
    recorder = measure if isinstance(measure, Recorder) else Recorder(measure)
    hyper = hyper_parameters(name, more.pop("hyper", {}))
    evidence = Evidence(space, recorder, len(recorder.values), seed)
    return search(name, evidence, hyper, seed=seed, clock=recorder.clock, **more)


def world(seed: int = 0, depth: int | None = None, n_users: int = 200) -> Grouping:
    return skewed_space(seed, (2, 3, 4), n_users, FEW, depth)


def complete_means(outcome: SearchOutcome, values: np.ndarray) -> dict[tuple[int, ...], float]:
    """The values of the full intersections of which every user is scored, user by user."""
    space = outcome.evidence.space
    is_scored = outcome.evidence.is_scored
    codes = space.cells.codes[:, space.cells.of_user].T.tolist()
    open_groups = {tuple(own) for own, done in zip(codes, is_scored, strict=True) if not done}
    means = group_means(space, values)
    return {group: mean for group, mean in means.items() if group not in open_groups}


@every_searcher
def test_budget_in_users_is_used_up_and_never_exceeded(name):
    for n_reference, batch_users in [(0, 1), (40, 1), (40, 7), (0, 256)]:
        space = world(depth=2)
        values = two_metrics(space)
        settings = {"n_reference": n_reference, "batch_users": batch_users}
        without = run(name, space, values, **settings)
        assert without.ending == "finished", settings
        needed = without.evidence.users_scored
        for users in (1, 33, 199):
            case = {"users": users, **settings}
            recorder = Recorder(values)
            outcome = run(name, space, recorder, budget=Budget(users=users), **settings)
            assert outcome.evidence.users_scored == min(users, needed), case
            assert len(recorder.users) == outcome.evidence.users_scored, case
            assert outcome.ending == ("finished" if needed <= users else "users spent"), case
            assert max(map(len, recorder.batches)) <= batch_users, case


@every_searcher
def test_budget_in_seconds_is_honoured_to_within_a_batch(name):
    for seconds, batch_users in ((3.05, 1), (3.05, 16), (10.0, 1), (10.0, 16)):
        case = seconds, batch_users
        space = world()
        recorder = Recorder(two_metrics(space), seconds_each=0.1)
        budget = Budget(seconds=seconds)
        outcome = run(name, space, recorder, budget=budget, batch_users=batch_users)
        assert outcome.ending == "time spent", case
        assert seconds <= outcome.seconds == approx(0.1 * len(recorder.users)), case
        assert outcome.seconds < seconds + 0.1 * batch_users + 1e-9, case


def digest() -> dict[str, list]:
    """Histories, and who was scored in which order."""
    space = world(seed=3, depth=2)
    values = two_metrics(space)
    found = {}
    for name in ALL:
        recorder = Recorder(values)
        history = run(name, space, recorder, seed=5, n_reference=20).history
        found[name] = [[[one.users, *one.gaps] for one in history], recorder.users]
    return found


@pytest.mark.slow
def test_same_seed_same_history_also_in_a_new_process():
    program = (
        "import json, tests.contracts.test_searchers_contract as t; print(json.dumps(t.digest()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    first = digest()
    assert json.loads(done.stdout) == first == digest()
    assert all(history and users for history, users in first.values())


@pytest.mark.parametrize("name", DRAWS_LOTS)
def test_searchers_that_draw_lots_draw_others_with_another_seed(name):
    space = world()
    orders = []
    for seed in (0, 1):
        recorder = Recorder(two_metrics(space)[0])
        # the same order within groups: only the searcher has another seed
        search(name, Evidence(space, recorder, 1, 0), hyper_parameters(name, {}), seed=seed)
        orders.append(space.cells.of_user[recorder.users].tolist())
    assert orders[0] != orders[1]


@every_searcher
def test_no_group_at_all_ends_at_once(name):
    space = space_of([[0, 1, 2]], (3,), FEW)
    outcome = run(name, space, np.arange(3.0))
    assert outcome.ending == "finished"
    assert outcome.history == []
    assert outcome.evidence.users_scored == (3 if name == "exact" else 0)


@every_searcher
def test_metric_undefined_for_everyone_has_no_gap(name):
    for depth in [None, 2]:
        space = world(depth=depth)
        values = two_metrics(space)
        values[0] = np.nan
        outcome = run(name, space, values, n_reference=20)
        assert outcome.ending == "finished", depth
        gaps = np.array([one.gaps for one in outcome.history])
        assert (gaps[:, 0] == 0).all(), depth
        assert gaps[-1, 1] > 0, depth


@every_searcher
def test_what_was_measured_before_a_failure_is_kept(name):
    for n_reference in [0, 30]:
        space = world(depth=2)
        values = two_metrics(space)
        recorder = Recorder(values, fails_after=90)
        evidence = Evidence(space, recorder, 2, 0)
        with pytest.raises(RuntimeError, match="the model is out of order"):
            search(
                name,
                evidence,
                hyper_parameters(name, {}),
                n_reference=n_reference,
                batch_users=16,
            )
        measured = sorted(recorder.users)
        assert 90 - 16 < len(measured) <= 90, n_reference
        assert np.flatnonzero(evidence.is_scored).tolist() == measured, n_reference
        assert evidence.users_scored == len(measured), n_reference
        assert evidence.values_per_user[:, measured] == approx(values[:, measured], nan_ok=True), (
            n_reference
        )
        assert evidence.totals.sum(axis=1) == approx(np.nansum(values[:, measured], axis=1)), (
            n_reference
        )
        # and the same evidence serves another attempt, which pays for nobody twice
        recorder._fails_after = None
        again = search(name, evidence, hyper_parameters(name, {}), n_reference=n_reference)
        assert again.ending == "finished", n_reference


@every_searcher
def test_history_rises_to_the_gap_of_the_complete_groups(name):
    for seed in range(3):
        space = world(seed, depth=2 if seed % 2 else None)
        values = two_metrics(space, seed)
        exact = np.array([exact_gap(space, own) for own in values])
        for users in (80, None):
            outcome = run(
                name, space, values, seed=seed, budget=Budget(users=users), n_reference=20 * seed
            )
            scored = np.array([one.users for one in outcome.history])
            gaps = np.array([one.gaps for one in outcome.history]).reshape(-1, 2)
            assert (np.diff(scored) > 0).all(), (seed, users)
            assert (np.diff(gaps, axis=0) >= 0).all(), (seed, users)
            assert (gaps <= exact + 1e-12).all(), (seed, users)
            assert (scored <= outcome.evidence.users_scored).all(), (seed, users)
            for metric, own in enumerate(values):
                means = complete_means(outcome, own)
                found = max(means.values()) - min(means.values()) if means else 0.0
                assert gap_found(outcome, metric) == approx(found, abs=1e-12), (seed, users)
                fully_scored = outcome.evidence.values(space.full)[metric]
                for codes, value in zip(space.codes.tolist(), fully_scored, strict=True):
                    assert value == approx(
                        means.get(tuple(codes), np.nan), abs=1e-12, nan_ok=True
                    ), (seed, users)


@every_searcher
def test_only_a_searcher_that_says_so_uses_the_popularity_proxy(name):
    space = world()
    values = two_metrics(space)
    orders = []
    for proxy in (None, np.nan_to_num(values)):
        recorder = Recorder(values)
        search(name, Evidence(space, recorder, 2, 0, proxy), hyper_parameters(name, {}))
        orders.append(recorder.users)
    assert (orders[0] != orders[1]) == SEARCHERS[name].uses_proxy


@pytest.mark.parametrize("name", LOOKS_EVERYWHERE)
def test_whoever_looks_everywhere_finds_the_exact_gap(name):
    for seed in range(4):
        space = world(seed)
        values = two_metrics(space, seed)
        outcome = run(name, space, values, seed=seed)
        for metric, own in enumerate(values):
            assert gap_found(outcome, metric) == approx(exact_gap(space, own), abs=1e-12), seed
        everyone = space.n_users if name == "exact" else space.sizes.sum()
        assert outcome.evidence.users_scored == everyone, seed
