"""Diversity of small lists, worked out by hand."""

from __future__ import annotations

from math import log

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.side_data import SideData
from fairrec.metrics import parse_metric
from fairrec.metrics.value_columns import (
    changes_per_list,
    is_of_both,
    metric_of_change,
    over_other_values,
)
from tests.metrics.metric_lists import (
    Candidate,
    per_user,
    ranked_lists,
    user,
    value_of,
    values_of,
)

CATEGORIES = {
    0: frozenset({"action", "comedy"}),
    1: frozenset({"comedy", "drama"}),
    2: frozenset({"horror"}),
    3: frozenset({"action", "comedy"}),
    4: frozenset(),
}


def test_urd_is_one_minus_the_mean_similarity_of_all_pairs():
    similarities = (1 / 3, 0, 0)  # 0-1 share comedy of three; 0-2 and 1-2 share nothing
    assert value_of("urd@3", user([0, 0, 0]), CATEGORIES) == approx(1 - sum(similarities) / 3)


def test_urd_looks_at_the_first_k_items_only():
    assert value_of("urd@2", user([0, 0, 0, 0]), CATEGORIES) == approx(1 - 1 / 3)
    same, different = user([0] * 4, [4, 1, 1, 3]), user([0] * 4, [4, 1, 3, 1])
    assert value_of("urd@2", same, CATEGORIES) == 0
    assert value_of("urd@2", different, CATEGORIES) == 1


def test_urd_is_undefined_without_a_pair():
    lonely = [Candidate(0, 2, 1), Candidate(4, 1, 0)]
    assert np.isnan(values_of("urd@5", [user([1]), lonely, []], CATEGORIES)).all()
    assert np.isnan(value_of("urd@1", user([1, 0, 0]), CATEGORIES))


KINDS = {0: frozenset("a"), 1: frozenset("b"), 2: frozenset("ab"), 3: frozenset()}


def test_the_distance_is_the_divergence_of_the_list_with_a_hundredth_of_the_history():
    history = [(0, 0), (0, 2)]  # three quarters a, one quarter b
    only_a = 0.75 * log(0.75 / (0.99 + 0.01 * 0.75)) + 0.25 * log(0.25 / (0.01 * 0.25))
    assert value_of("miscalibration@1", user([0, 0]), KINDS, history) == approx(only_a)


def test_it_is_undefined_without_categories_on_either_side():
    users = [user([0]), user([0]), [], user([0, 0, 0, 0], [0, 0, 0, 1])]
    values = values_of("miscalibration@1", users, KINDS, [(0, 0), (1, 3), (2, 0), (3, 0)])
    assert np.isnan(values).tolist() == [False, True, True, True]


@pytest.mark.parametrize(("length", "covered"), [(0, 0), (1, 1 / 4), (3, 3 / 4), (4, 1), (9, 1)])
def test_it_is_the_share_of_places_that_are_filled(length, covered):
    assert values_of("coverage@4", [user([0] * length)]) == [covered]


# item 0 has 5 of 10 training interactions, item 1 has 3, item 2 has 2, item 3 none
HISTORY = [(0, 1), (0, 2), (0, 2), (1, 0), (1, 0), (9, 0), (9, 0), (9, 0), (9, 1), (9, 1)]


def test_urp_is_the_popularity_of_the_list_minus_that_of_the_history_in_percent():
    recommended = (50 + 30) / 2
    chosen = (30 + 20 + 20) / 3  # a repeated interaction counts again
    assert value_of("urp@2", user([0, 0, 0]), history=HISTORY) == approx(recommended - chosen)


def test_urp_has_a_sign_and_urp_abs_has_none():
    users = [user([0], [1]), [Candidate(2, 1, 0)]]
    signed = [50 - (30 + 20 + 20) / 3, 20 - 50]
    assert values_of("urp@1", users, history=HISTORY) == approx(signed)
    assert values_of("urp_abs@1", users, history=HISTORY) == approx([signed[0], 30])


@pytest.mark.parametrize("name", ["urp@3", "urp_abs@3"])
def test_urp_is_undefined_without_history_or_candidates(name):
    users = [[], user([1, 0]), user([1, 0])]
    values = values_of(name, users, history=HISTORY)
    assert np.isnan(values).tolist() == [True, False, True]


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


def test_rbo_by_hand():
    """The first places agree in 0, 2/2 and 2/3 of the items; the last agreement goes on."""
    weights = 0.1 / 0.9
    expected = weights * (0 * 0.9 + 1 * 0.81 + 2 / 3 * 0.729) + 2 / 3 * 0.729
    assert value("rbo@3", [1, 2, 3], [2, 1, 4]) == pytest.approx(expected)


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


def lists_with(scores: list[float]) -> CandidateLists:
    return CandidateLists(
        np.array([0, 3, 5]),
        np.array([0, 1, 2, 0, 1], dtype=np.int32),
        np.array(scores, dtype=np.float64),
        np.array([1.0, 0, 0, 0, 0]),
        pl.Series([7, 8, 9]),
    )


def test_metrics_of_two_lists_are_taken_and_others_subtracted():
    metrics = [parse_metric(name) for name in ("mrr@3", "changed@1", "affected@3")]
    before, after = lists_with([1, 2, 3, 2, 1]), lists_with([3, 2, 1, 2, 1])
    found = changes_per_list(metrics, before, after, SideData())
    # the relevant item moves from the third to the first place; the second user has none
    assert found[0].tolist() == pytest.approx([1 - 1 / 3, np.nan], nan_ok=True)
    assert found[1:].tolist() == [[1, 0], [1, 0]]


def test_better_off_once_changed_is_worse_off_as_it_is():
    ndcg, urp, rbo = (metric_of_change(parse_metric(one)) for one in ("ndcg@5", "urp@5", "rbo@5"))
    assert (ndcg.name, ndcg.metric.higher_is_better) == ("ndcg@5_change", False)
    assert (urp.name, urp.metric.higher_is_better) == ("urp@5_change", None)
    assert urp.metric.bounds == (-200, 200)
    assert (rbo.name, rbo.metric.higher_is_better) == ("rbo@5", True)
    assert not is_of_both(ndcg)


def test_over_other_values_it_is_the_mean_and_who_is_affected_by_any():
    metrics = [parse_metric("changed@5"), parse_metric("affected@5")]
    nan = np.nan
    under = {
        0: np.array([[nan, 0.2, 0.4, nan], [nan, 0.0, 1.0, nan]]),
        1: np.array([[0.6, nan, 0.0, nan], [1.0, nan, 0.0, nan]]),
    }
    found = over_other_values(metrics, under)
    assert found[0].tolist() == approx([0.6, 0.2, 0.2, nan], nan_ok=True)
    assert found[1].tolist() == approx([1.0, 0.0, 1.0, nan], nan_ok=True)
