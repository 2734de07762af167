"""Findings, gaps and their ends, power, pooled metrics."""

from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.metrics import parse_metric
from fairrec.statistics.analysis import analyse
from fairrec.statistics.confounders import confounded_findings
from fairrec.statistics.findings import (
    best_and_worst,
    list_findings,
    select_findings,
)
from fairrec.statistics.strata import Strata
from tests.groups.small_grouping import build_grouping
from tests.statistics.small_worlds import (
    analysis_of,
    measured_as,
    permutation_test,
    population,
    results,
)

ANY = -1


def select_from(world, test, higher_is_better):
    """The findings of the only metric, of which none is left over."""
    selected, n_left = select_findings(
        *(0, test.adjusted_p_values[0] <= 0.05, test.critical(0.05)[:, 0], higher_is_better),
        *(world.moments, world.grouping),
    )
    assert n_left == 0
    return selected


def world_with(effects, n_users=4000, seed=0, higher_is_better=True):
    """Findings in a world of three attributes with these effects: {codes: shift}."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, n, n_users) for n in (2, 4, 5)]
    values = rng.normal(size=n_users)
    for group, shift in effects.items():
        inside = np.ones(n_users, dtype=bool)
        for column, code in zip(codes, group, strict=True):
            inside &= (column == code) | (code == ANY)
        values += shift * inside
    world = population(codes, values, min_users=10)
    test = permutation_test(
        *(world.moments, world.grouping, world.is_tested, 199, seed),
        higher_is_better=[higher_is_better],
    )
    is_significant = test.adjusted_p_values[0] <= 0.05
    selected = select_from(world, test, higher_is_better)
    groups = [tuple(world.lattice.codes[one.position].tolist()) for one in selected]
    return groups, selected, is_significant


@pytest.mark.parametrize(
    "effects",
    [
        # parents that differ only through a child
        {(0, 1, ANY): -1.5},
        # a child that is worse than its parent
        {(ANY, 1, ANY): -0.6, (0, 1, 2): -1.5},
        {(0, 1, ANY): -1.0, (1, ANY, 3): 1.0},
    ],
)
def test_the_planted_groups_are_the_findings(effects):
    groups, _, is_significant = world_with(effects)
    assert set(groups) == {*effects}
    assert is_significant.sum() > len(effects)


def test_children_that_add_nothing_are_folded_into_their_parent():
    groups, selected, is_significant = world_with({(ANY, 1, ANY): -0.6})
    assert groups == [(ANY, 1, ANY)]
    assert is_significant.sum() > 3
    assert sum(one.n_folded for one in selected) == is_significant.sum() - 1


def test_where_neither_end_is_worse_the_smaller_complement_is_named():
    rng = np.random.default_rng(0)
    codes = (rng.random(3000) < 0.3).astype(int)
    world = population([codes], rng.normal(size=3000) + codes)
    test = permutation_test(world.moments, world.grouping, world.is_tested, 99, 0)
    selected = select_from(world, test, None)
    assert [one.position for one in selected] == [world.position(1)]


def test_who_is_worse_off_is_named_also_where_a_group_served_better_explains_it():
    groups, selected, is_significant = world_with({(1, 3, ANY): 1.2}, n_users=8000)
    assert groups[0] == (1, 3, ANY)
    # everyone else is below the mean of those they are compared with
    named = groups[1]
    assert named == (0, ANY, ANY)
    assert [one.because_of for one in selected] == [None, selected[0].position]
    assert sum(one.n_folded for one in selected) == is_significant.sum() - 2


def test_a_group_served_better_is_not_named_beside_a_worse_one_that_explains_it():
    groups, selected, _ = world_with({(1, 3, ANY): -1.2}, n_users=8000)
    assert groups == [(1, 3, ANY)]
    assert [one.because_of for one in selected] == [None]


@pytest.mark.parametrize(
    ("values", "best", "worst"),
    [
        ([0.5], [], []),
        ([0.1 + 0.2, 0.3, 0.3], [], []),
        ([0.2, 0.2, 0.8, 0.2], [2], [3, 1]),
        ([0.9, 0.5, 0.1], [0], [2]),
        ([], [], []),
    ],
)
def test_no_group_is_both_best_and_worst_and_of_equals_none_is_either(values, best, worst):
    support = np.arange(len(values), dtype=float)
    found = best_and_worst(parse_metric("mrr"), np.array(values), support, 9)
    assert [end.tolist() for end in found] == [best, worst]


def test_gap_ends_and_chance_by_hand():
    # intersections (0, 0), (0, 1), (1, 0), each of two users
    analysis = analysis_of(
        [[0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 0, 0]], "mrr", [0.0, 0.5, 1.0, 1.0, 0.25, 0.25]
    )
    (found,) = results(analysis)
    names = [end.group for end in (found.advantaged, found.disadvantaged)]
    # (0, 0) and (1, 0) have the same mean and as many users
    assert names == [{"a": 0, "b": 1}, {"a": 0, "b": 0}]
    assert found.gap == 1.0 - 0.25
    gaps = analysis.test.gaps[:, 0]
    assert found.chance.mean == approx(gaps.mean())
    assert found.chance.q95 == approx(np.quantile(gaps, 0.95))
    assert found.chance.p_value == approx((1 + (gaps >= 0.75 - 1e-9).sum()) / 100)
    assert found.chance.permutations == 99


def test_findings_come_worst_first():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(4), 150)
    values = 0.3 * rng.random(600) + np.array([0.4, 0.2, 0.6, 0.0])[group]
    for metric, sign in (("mrr", -1), ("urp_abs", 1)):
        analysis = analysis_of([group], metric, values)
        (found,) = results(analysis)
        harms = [sign * finding.difference for finding in found.findings]
        assert len(harms) >= 3
        assert harms == sorted(harms, reverse=True)


OPTIONS = AuditOptions(permutations=199, engine=Engine(threads=1), min_support=10)


def test_findings_that_covariates_take_away_are_named_and_others_are_not():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 2, 1000)
    # values of the first metric hang on the level alone, those of the second on the group
    is_member = rng.random(1000) < 0.1 + 0.4 * level
    noise = rng.normal(size=(2, 1000))
    measured = measured_as("mrr@5,ndcg@5", noise - [1.5 * level, 1.5 * is_member])
    grouping = build_grouping([~is_member], min_users=10, depth=3)
    raw = analyse(measured, grouping, OPTIONS)
    (first,), _ = listed = [[one.position for one in list_findings(i, raw)[0]] for i in range(2)]
    strata = Strata.from_codes([level.astype(np.int32)], [2])
    adjusted = analyse(measured, grouping, OPTIONS, strata=strata)
    (gone,) = confounded_findings(listed, adjusted)
    assert (gone.metric, gone.group) == ("mrr@5", grouping.group(first).as_dict())
