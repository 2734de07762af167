"""Bounds on differences where attributes are unknown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import MISSING, Attribute
from fairrec.metrics.measured import Ratio
from fairrec.statistics import unknown
from fairrec.statistics.unknown import GROUPS_LISTED, select_bounds, unknown_bounds
from tests.statistics.small_worlds import measured_as


def build_grouping(columns: dict[str, list[str]], min_users: int = 1, depth=3) -> Grouping:
    attributes = []
    for name, values in columns.items():
        known = sorted({*values} - {MISSING}) + [MISSING] * (MISSING in values)
        codes = np.array([known.index(value) for value in values], dtype=np.int32)
        attributes.append(Attribute(name, codes, tuple(known), values.count(MISSING)))
    options = AuditOptions(depth=depth, min_support=min_users, engine=Engine(threads=1))
    return Grouping.of(attributes, options)


@dataclass(frozen=True)
class Bounds:
    """Those of one group."""

    difference: float
    low: float
    high: float
    n_known: int
    n_unknown: int


def all_bounds(grouping, measured, findings=()) -> dict[int, Bounds]:
    """By position in the lattice."""
    found = unknown_bounds(0, findings, measured, grouping)
    assert found is not None
    columns = (found.difference, found.low, found.high, found.n_known, found.n_unknown)
    return {at: Bounds(*row) for at, row in enumerate(zip(*columns, strict=True))}


def bounds_of(columns, values, findings=(), metric="mrr", **options) -> dict[str, Bounds]:
    """Those that are listed, by label."""
    grouping, measured = build_grouping(columns, **options), measured_as(metric, values)
    bounds = all_bounds(grouping, measured, findings)
    better = measured.metrics[0].metric.higher_is_better
    arrays = unknown_bounds(0, findings, measured, grouping)
    listed = select_bounds(arrays, findings, better, grouping)
    return {grouping.group(at).label: bounds[at] for at in listed}


def every_difference(values, is_known, may_belong):
    """By every subset of the users who may belong."""
    users = np.arange(len(values))
    for size in range(may_belong.sum() + 1):
        for joined in combinations(users[may_belong], size):
            inside = is_known | np.isin(users, joined)
            if not inside.all():
                yield values[inside].mean() - values[~inside].mean()


def of_known(place, measured) -> Bounds:
    """Of the group of those who belong for sure, where others may, and the rest do not."""
    names = {"K": "in", "U": MISSING, "O": "out"}
    grouping = build_grouping({"a": [names[one] for one in place]})
    labels = [grouping.group(at).label for at in range(len(grouping.lattice))]
    return all_bounds(grouping, measured)[labels.index("a=in")]


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
    if not differences or not may_belong.any():
        return
    ratio = Ratio.of(above[None], below[None], np.ones((1, len(above)), dtype=bool))
    measured = replace(measured_as("mrr", ratio.above[0] / ratio.below[0]), ratio=ratio)
    found = of_known(place, measured)
    low, high = found.low, found.high
    least, most = min(differences), max(differences)
    assert low == approx(least) if least <= 0 else low >= least - 1e-9 * abs(least)
    assert high == approx(most) if most >= 0 else high <= most + 1e-9 * abs(most)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_every_group_has_the_extremes_over_all_subsets(seed):
    """Of three attributes, all of them unknown for some users, and groups of up to three."""
    rng = np.random.default_rng(seed)
    columns = {name: rng.choice(["x", "y", MISSING], 9).tolist() for name in "abc"}
    values = rng.choice([0.0, 0.2, 0.5, 1.0], 9)
    grouping = build_grouping(columns)
    if not any(MISSING in column for column in columns.values()):
        return
    for at, found in all_bounds(grouping, measured_as("mrr", values)).items():
        group = grouping.group(at).as_dict()
        is_known, may = np.ones((2, 9), dtype=bool)
        for name, value in group.items():
            column = np.array(columns[name])
            is_known &= column == value
            may &= (column == value) | (column == MISSING)
        if is_known.all():
            assert np.isnan(found.low)
            continue
        differences = [*every_difference(values, is_known, may & ~is_known)]
        assert (found.low, found.high) == approx((min(differences), max(differences)), abs=1e-12)
        assert (found.n_known, found.n_unknown) == (is_known.sum(), (may & ~is_known).sum())


def test_beyond_what_can_be_looked_at_findings_and_single_attributes_have_bounds(monkeypatch):
    rng = np.random.default_rng(3)
    columns = {name: rng.choice(["x", "y", MISSING], 60).tolist() for name in "ab"}
    grouping, measured = build_grouping(columns), measured_as("mrr", rng.random(60))
    every = all_bounds(grouping, measured)
    finding = int(np.flatnonzero(grouping.lattice.depth == 2)[-1])
    single = np.flatnonzero(grouping.lattice.depth == 1)
    n_cells = sum(MISSING in grouping.group(int(at)).as_dict().values() for at in grouping.full)
    n_users = sum(MISSING in both for both in zip(*columns.values(), strict=True))
    monkeypatch.setattr(unknown, "_MOST_LOOKS", (n_cells + n_users) * (len(single) + 1))
    found = all_bounds(grouping, measured, [finding])
    for at, one in found.items():
        if at == finding or at in single:
            assert one == every[at]
        else:
            assert np.isnan(one.low) and np.isnan(one.high)


@pytest.mark.parametrize(
    ("metric", "first"), [("mrr", "gender=F"), ("urp_abs", "gender=M"), ("urp", "gender=F")]
)
def test_the_worst_served_comes_first_whichever_end_is_worse(metric, first):
    gender = ["F"] * 3 + ["M"] * 4 + [MISSING]
    values = [0.0, 0.1, 0.0, 0.6, 0.5, 0.6, 0.6, 0.5]
    assert next(iter(bounds_of({"gender": gender}, values, metric=metric))) == first


def test_of_many_groups_the_largest_are_listed():
    values = [f"v{i:03d}" for i in range(GROUPS_LISTED + 5) for _ in range(1 + (i >= 5))]
    found = bounds_of({"a": [*values, MISSING]}, np.random.default_rng(0).random(len(values) + 1))
    assert len(found) == GROUPS_LISTED
    assert all(one.n_known == 2 for one in found.values())


def test_nothing_unknown_or_not_everyone_scored_is_no_bound():
    known = build_grouping({"a": ["x", "y", "x"]})
    assert unknown_bounds(0, [], measured_as("mrr", [0.1, 0.2, 0.3]), known) is None
    grouping = build_grouping({"a": ["x", "y", MISSING]})
    measured = measured_as("mrr", [0.1, 0.2, 0.3])
    assert unknown_bounds(0, [], measured, grouping) is not None
    measured.is_scored[0] = False
    assert unknown_bounds(0, [], measured, grouping) is None
