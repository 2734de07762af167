"""Bounds on differences where attributes are unknown."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import MISSING, Attribute
from fairrec.metrics.measured import Ratio
from fairrec.statistics.unknown import (
    GROUPS_TOLD,
    difference_bounds,
    joining_sums,
    unknown_bounds,
)
from tests.statistics.small_analysis import measured_as


def grouping_of(columns: dict[str, list[str]], min_users: int = 1, depth=3) -> Grouping:
    attributes = []
    for name, values in columns.items():
        known = sorted({*values} - {MISSING}) + [MISSING] * (MISSING in values)
        codes = np.array([known.index(value) for value in values], dtype=np.int32)
        attributes.append(Attribute(name, codes, tuple(known), values.count(MISSING)))
    options = AuditOptions(depth=depth, min_support=min_users, threads=1)
    return Grouping.of(attributes, options)


def bounds_of(columns, values, findings=(), metric="mrr", **options):
    grouping = grouping_of(columns, **options)
    found = unknown_bounds(0, findings, measured_as(metric, values), grouping)
    return {grouping.group(one.position).label: one for one in found}


def every_difference(values, is_known, may_belong):
    """By every subset of the users who may belong."""
    users = np.arange(len(values))
    for size in range(may_belong.sum() + 1):
        for joined in combinations(users[may_belong], size):
            inside = is_known | np.isin(users, joined)
            if not inside.all():
                yield values[inside].mean() - values[~inside].mean()


@settings(max_examples=150)
@given(st.data())
def test_bounds_are_the_extremes_over_all_subsets(data):
    n = data.draw(st.integers(2, 9))
    # few levels, so that ties and runs of equal values come up
    level = st.sampled_from([-1.0, 0.0, 0.1, 0.5, 1.0, 7.0])
    values = np.array(data.draw(st.lists(level, min_size=n, max_size=n)))
    where = st.sampled_from("KUO")
    place = np.array(["K", *data.draw(st.lists(where, min_size=n - 1, max_size=n - 1))])
    is_known, may_belong = place == "K", place == "U"
    differences = [*every_difference(values, is_known, may_belong)]
    if not differences:
        return
    centred = values - values.mean()
    joined = joining_sums(centred[may_belong], np.ones(may_belong.sum()))
    low, high = difference_bounds(centred[is_known].sum(), is_known.sum(), n, joined)
    assert (low, high) == approx((min(differences), max(differences)), abs=1e-12)


@settings(max_examples=150)
@given(st.integers(2, 9), st.integers(0, 10_000))
def test_bounds_of_ratios_are_the_extremes_over_all_subsets(n, seed):
    rng = np.random.default_rng(seed)
    above, below = rng.exponential(size=n), rng.exponential(size=n)
    place = rng.choice([*"KUO"], n)
    place[0] = "K"
    is_known, may_belong = place == "K", place == "U"
    users = np.arange(n)
    insides = [
        is_known | np.isin(users, joined)
        for size in range(may_belong.sum() + 1)
        for joined in combinations(users[may_belong], size)
    ]
    differences = [
        above[inside].sum() / below[inside].sum() - above[~inside].sum() / below[~inside].sum()
        for inside in insides
        if not inside.all()
    ]
    if not differences:
        return
    ratio = Ratio.of(above[None], below[None], np.ones((1, len(above)), dtype=bool))
    terms, size = ratio.terms[0] - ratio.terms.mean(), ratio.below[0]
    joined = joining_sums(terms[may_belong], size[may_belong])
    low, high = difference_bounds(terms[is_known].sum(), size[is_known].sum(), n, joined)
    least, most = min(differences), max(differences)
    assert low == approx(least) if least <= 0 else low >= least - 1e-9 * abs(least)
    assert high == approx(most) if most >= 0 else high <= most + 1e-9 * abs(most)


def test_groups_of_an_attribute_by_hand():
    gender = ["F", "F", "M", "M", "M", MISSING]
    found = bounds_of({"gender": gender}, [0.2, 0.4, 0.8, 0.6, 1.0, 0.0])
    # women: without the sixth 0.3 against 0.6, with them 0.2 against 0.8
    women = found["gender=F"]
    assert (women.difference, women.high) == approx((0.3 - 0.6, 0.3 - 0.6))
    assert women.low == approx(0.2 - 0.8)
    assert (women.n_known, women.n_unknown) == (2, 1)
    men = found["gender=M"]
    assert (men.low, men.high) == approx((0.6 - 0.3, 0.8 - 0.2))
    # who is unknown has no bounds of their own, and the worst served group comes first
    assert [*found] == ["gender=F", "gender=M"]


def test_in_a_group_of_two_conditions_who_meets_one_and_is_unknown_in_the_other_may_belong():
    columns = {
        "a": ["x", "x", MISSING, MISSING, "y", "x", "y"],
        "b": ["u", "u", "u", MISSING, MISSING, "v", "v"],
    }
    values = np.array([0.1, 0.3, 0.9, 0.0, 1.0, 0.5, 0.7])
    grouping = grouping_of(columns)
    position = grouping.lattice.codes.tolist().index([0, 0])
    (found,) = (
        one
        for one in unknown_bounds(0, [position], measured_as("mrr", values), grouping)
        if one.position == position
    )
    place = np.array([*"KKUUOOO"])
    differences = [*every_difference(values, place == "K", place == "U")]
    assert (found.low, found.high) == approx((min(differences), max(differences)))
    assert (found.n_known, found.n_unknown) == (2, 2)
    # a second time only where it is asked for
    assert position not in [
        one.position for one in unknown_bounds(0, [], measured_as("mrr", values), grouping)
    ]


def test_users_without_a_value_of_the_metric_count_nowhere():
    gender = ["F", "F", "M", "M", MISSING, MISSING, "F", "M"]
    values = [0.2, 0.4, 0.8, 0.6, 0.0, np.nan, np.nan, np.nan]
    found = bounds_of({"gender": gender}, values)
    without = bounds_of({"gender": gender[:5]}, values[:5])
    assert found["gender=F"] == without["gender=F"]
    assert found["gender=F"].n_unknown == 1


def test_groups_known_to_be_too_small_are_left_out():
    gender = ["F", "M", "M", "M", "M", MISSING]
    found = bounds_of({"gender": gender}, np.linspace(0, 1, 6), min_users=2)
    assert [*found] == ["gender=M"]


@pytest.mark.parametrize(
    ("metric", "first"), [("mrr", "gender=F"), ("urp_abs", "gender=M"), ("urp", "gender=F")]
)
def test_the_worst_served_comes_first_whichever_end_is_worse(metric, first):
    gender = ["F"] * 3 + ["M"] * 4 + [MISSING]
    values = [0.0, 0.1, 0.0, 0.6, 0.5, 0.6, 0.6, 0.5]
    assert next(iter(bounds_of({"gender": gender}, values, metric=metric))) == first


def test_of_many_groups_the_largest_are_told():
    values = [f"v{i:03d}" for i in range(GROUPS_TOLD + 5) for _ in range(1 + (i >= 5))]
    found = bounds_of({"a": [*values, MISSING]}, np.random.default_rng(0).random(len(values) + 1))
    assert len(found) == GROUPS_TOLD
    assert all(one.n_known == 2 for one in found.values())


def test_nothing_unknown_or_not_everyone_scored_is_no_bound():
    assert bounds_of({"a": ["x", "y", "x"]}, [0.1, 0.2, 0.3]) == {}
    grouping = grouping_of({"a": ["x", "y", MISSING]})
    measured = measured_as("mrr", [0.1, 0.2, 0.3])
    assert len(unknown_bounds(0, [], measured, grouping)) == 2
    measured.is_scored[0] = False
    assert unknown_bounds(0, [], measured, grouping) == ()
