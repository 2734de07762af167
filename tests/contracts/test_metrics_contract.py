"""What every registered metric must do, whatever it measures.

A metric that is registered when the tests are collected is tested here without being named.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from dataclasses import fields
from functools import cache

import numpy as np
import pytest

from fairrec.metrics import METRICS, parse_metric
from fairrec.metrics.ranked import RankedLists
from fairrec.metrics.registry import Metric
from tests.metrics.metric_lists import (
    World,
    asked_for,
    per_user,
    price_of,
    random_world,
    ranked_lists,
    user,
)

PER_USER = [*METRICS]
CUTOFFS = (1, 3, 50)

CATEGORIES = {item: frozenset("ab"[item % 2 :]) for item in range(20)}
HISTORY = [(0, 0), (0, 1), (1, 1), (2, 2), (3, 3), (4, 0)]

SITUATIONS = {
    "one user": [user([0, 1, 0])],
    "one user with one candidate": [user([1])],
    "ties everywhere": [user([0, 1, 0, 2], [1, 1, 1, 1]), user([1, 0], [0, 0])],
    "no positives": [user([0, 0, 0]), user([0])],
    "all positives": [user([1, 2, 3]), user([1])],
    "an empty list among others": [[], user([0, 1]), []],
    "nothing but an empty list": [[]],
    "lists of different lengths": [user([1, 0] * 9), user([0, 1]), [], user([1])],
}


@cache
def lists_in(situation: str) -> RankedLists:
    return ranked_lists(SITUATIONS[situation], CATEGORIES, HISTORY, max_k=max(CUTOFFS))


def random_lists(threads: int = 1) -> RankedLists:
    world: World = random_world(np.random.default_rng(17), n_users=101, max_length=25)
    return ranked_lists(world.users, world.categories, world.history, max(CUTOFFS), threads)


def values_at_every_k(name: str, lists: RankedLists) -> np.ndarray:
    """(n_cutoffs, n_users); one row where there is no cut-off."""
    asked = [asked_for(name, k) for k in CUTOFFS] if METRICS[name].has_cutoff else [name]
    return np.stack([per_user(parse_metric(text), lists) for text in asked])


def may_be_undefined(metric: Metric, lists: RankedLists, k: int | None) -> np.ndarray:
    """(n_users,), where the page on metrics allows a value to be undefined."""
    undefined = lists.lengths == 0
    if "labels" in metric.needs:
        undefined |= lists.n_relevant == 0
        if not metric.has_cutoff:
            undefined |= lists.n_relevant == lists.lengths
    if "items" in metric.needs:
        undefined |= np.minimum(lists.lengths, k or lists.lengths.max(initial=0)) < 2
    if metric.takes == "column":
        depth = k or lists.lengths.max(initial=0)
        undefined |= np.array([not any(map(price_of, items[:depth])) for items in shown_in(lists)])
    if metric.name.startswith(("urp", "miscalibration")):
        has_history = {owner for owner, _ in HISTORY}
        undefined |= np.array([position not in has_history for position in range(lists.n_users)])
    return undefined


def shown_in(lists: RankedLists) -> list[list[int]]:
    """The items of each user, by their ids."""
    ids = lists.candidates.item_ids.to_list()
    return [[ids[at] for at in row if at >= 0] for row in lists.items(max(CUTOFFS)).tolist()]


@pytest.mark.parametrize("name", PER_USER)
def test_metric_gives_one_float_per_user_within_its_bounds(name):
    low, high = METRICS[name].bounds or (-np.inf, np.inf)
    for situation, users in SITUATIONS.items():
        values = values_at_every_k(name, lists_in(situation))
        assert values.dtype == np.float64, situation
        assert values.shape[1] == len(users), situation
        assert not np.isinf(values).any(), situation
        assert np.nanmin(values, initial=low) >= low, situation
        assert np.nanmax(values, initial=high) <= high, situation


@pytest.mark.parametrize("name", PER_USER)
def test_metric_is_undefined_only_where_documented(name):
    for situation in SITUATIONS:
        lists = lists_in(situation)
        for k in CUTOFFS if METRICS[name].has_cutoff else (None,):
            asked = asked_for(name, k)
            is_nan = np.isnan(per_user(parse_metric(asked), lists))
            allowed = may_be_undefined(METRICS[name], lists, k)
            assert not (is_nan & ~allowed).any(), f"{situation}, {asked}"


@pytest.mark.parametrize("name", PER_USER)
def test_metric_gives_the_same_values_again_and_on_two_threads(name):
    lists = random_lists()
    first = values_at_every_k(name, lists)
    for other in (lists, random_lists(), random_lists(threads=2)):
        np.testing.assert_array_equal(values_at_every_k(name, other), first)


@pytest.mark.parametrize("name", PER_USER)
def test_metric_leaves_its_input_as_it_is(name):
    lists = random_lists()
    before = {part: copy.deepcopy(arrays_in(lists)[part]) for part in arrays_in(lists)}
    values_at_every_k(name, lists)
    for part, array in arrays_in(lists).items():
        np.testing.assert_array_equal(array, before[part], err_msg=part)


def arrays_in(lists: RankedLists) -> dict[str, np.ndarray]:
    """Every array a metric can reach, by name."""
    holders = (lists.candidates, lists.side.categories, lists.side.popularity)
    parts = {
        f"{type(holder).__name__}.{field.name}": getattr(holder, field.name)
        for holder in holders
        for field in fields(holder)
    }
    parts |= {"items": lists.items(5), "labels": lists.labels(5), "ideal": lists.ideal_labels(5)}
    return {name: np.asarray(part) for name, part in parts.items()}


def digest() -> dict[str, list[str]]:
    """Every value of every metric, to the last bit."""
    lists = random_lists()
    return {
        name: [value.hex() for value in values_at_every_k(name, lists).ravel().tolist()]
        for name in PER_USER
    }


@pytest.mark.slow
def test_metrics_give_the_same_values_in_a_new_process():
    program = (
        "import json, tests.contracts.test_metrics_contract as t; print(json.dumps(t.digest()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == digest()
