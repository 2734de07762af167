"""How far two lists of one user are from each other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from fairrec.metrics import parse_metric
from tests.metrics.metric_lists import Candidate, per_user, ranked_lists

LISTS = st.lists(st.integers(0, 9), unique=True, max_size=8)


def as_user(items: list[int]) -> list[Candidate]:
    return [Candidate(item, -place, 0.0) for place, item in enumerate(items)]


def value(name: str, own: list[int], other: list[int]) -> float:
    # a second user, so that what one list leaves behind would show in the next
    lists = ranked_lists([as_user(own), as_user([0, 1, 2])], against=[other, [0, 1, 2]])
    first, second = per_user(parse_metric(name), lists)
    assert second == (0 if name.startswith(("changed", "affected")) else pytest.approx(1))
    return float(first)


def slow_rbo(own: list[int], other: list[int], p: float = 0.9) -> float:
    """Equation 32 of Webber et al. (2010), one sum after the other."""
    shorter, longer = sorted((own, other), key=len)
    s, n = len(shorter), len(longer)
    x = {d: len(set(longer[:d]) & set(shorter[:d])) for d in range(1, n + 1)}
    first = sum(x[d] / d * p**d for d in range(1, n + 1))
    second = sum(x[s] * (d - s) / (s * d) * p**d for d in range(s + 1, n + 1))
    return (1 - p) / p * (first + second) + ((x[n] - x[s]) / n + x[s] / s) * p**n


def test_changed_is_the_share_of_the_first_items_that_are_others():
    assert value("changed@3", [1, 2, 3, 4], [3, 2, 4, 1]) == pytest.approx(1 / 3)
    assert value("changed@4", [1, 2, 3, 4], [3, 2, 4, 1]) == 0
    assert value("changed@4", [1, 2, 3, 4], [5, 6, 7, 8]) == 1


def test_a_shorter_list_lacks_what_the_longer_one_has():
    assert value("changed@3", [1], [1, 2]) == pytest.approx(1 / 2)
    assert value("changed@5", [1, 2], [1]) == pytest.approx(1 / 2)


def test_affected_is_one_where_any_place_changes():
    assert value("affected@3", [1, 2, 3, 4], [1, 2, 3, 5]) == 0
    assert value("affected@3", [1, 2, 3, 4], [1, 3, 2, 4]) == 1
    assert value("affected@3", [1, 2], [1, 2, 3]) == 1


def test_rbo_by_hand():
    """The first places agree in 0, 2/2 and 2/3 of the items; the last agreement goes on."""
    weights = 0.1 / 0.9
    expected = weights * (0 * 0.9 + 1 * 0.81 + 2 / 3 * 0.729) + 2 / 3 * 0.729
    assert value("rbo@3", [1, 2, 3], [2, 1, 4]) == pytest.approx(expected)


def test_rbo_of_a_list_that_ends_is_taken_to_go_on_as_it_did():
    """All of the shorter list is in the longer one, in the same order: agreement stays whole."""
    assert value("rbo@10", [1, 2, 3, 4], [1, 2]) == pytest.approx(1)


@given(LISTS, LISTS, st.integers(1, 9))
@settings(max_examples=200, deadline=None)
def test_values_equal_slow_ones(own, other, k):
    a, b = own[:k], other[:k]
    found = {name: value(f"{name}@{k}", own, other) for name in ("changed", "affected", "rbo")}
    if not (a and b):
        assert np.isnan(list(found.values())).all()
        return
    assert found["changed"] == pytest.approx(1 - len({*a} & {*b}) / max(len(a), len(b)))
    assert found["affected"] == (a != b)
    assert found["rbo"] == pytest.approx(slow_rbo(a, b))


@given(LISTS, LISTS)
@settings(max_examples=200, deadline=None)
def test_tau_is_that_of_scipy_over_shared_items(own, other):
    shared = [item for item in own if item in other]
    found = value("tau", own, other)
    if len(shared) < 2:
        assert np.isnan(found)
        return
    expected = kendalltau([own.index(i) for i in shared], [other.index(i) for i in shared])
    assert found == pytest.approx(expected.statistic)


def test_tau_of_long_lists_counts_every_pair():
    rng = np.random.default_rng(0)
    own, other = (rng.permutation(300).tolist() for _ in range(2))
    place = {item: at for at, item in enumerate(other)}
    against = sum(place[a] > place[b] for a, b in itertools.combinations(own, 2))
    assert value("tau", own, other) == pytest.approx(1 - 2 * against / (300 * 299 / 2))
