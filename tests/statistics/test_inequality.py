"""Inequality between users, and over the items of a catalogue, beside slow loops."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pytest import approx

from fairrec import Engine
from fairrec.core.audit_options import AuditOptions
from fairrec.statistics.inequality import (
    MOST_VALUES,
    between_by_chance,
    gini,
    items_by_value,
    measure_spread,
    theil,
)
from fairrec.statistics.ratios import analyse_ratios
from tests.groups.small_grouping import build_grouping
from tests.metrics.item_world import ItemWorld, random_world
from tests.statistics.small_worlds import analysis_of, measured_as

OPTIONS = AuditOptions(engine=Engine(threads=1))
VALUES = arrays(np.float64, st.integers(2, 30), elements=st.floats(0, 10, width=16))


def slow_gini(values) -> float:
    return sum(abs(one - other) for one in values for other in values) / (
        2 * len(values) ** 2 * np.mean(values)
    )


def slow_theil(values) -> float:
    mean = np.mean(values)
    return sum(value / mean * math.log(value / mean) for value in values if value) / len(values)


@given(VALUES.filter(lambda values: values.sum() > 1e-3))
def test_gini_and_theil_are_those_of_plain_sums(values):
    assert gini(values) == approx(slow_gini(values), abs=1e-9)
    assert theil(values) == approx(slow_theil(values), abs=1e-9)


def inequality(measured, grouping, options=OPTIONS):
    return [*analyse_ratios(measured, grouping, options, measured.metrics).metrics.values()]


def inequality_of(codes, metrics, values, min_users=1):
    grouping = build_grouping(codes, min_users=min_users)
    return inequality(measured_as(metrics, values), grouping)


def test_the_index_is_what_lies_between_groups_and_what_lies_within_them():
    rng = np.random.default_rng(3)
    codes = [rng.integers(0, 3, 300), rng.integers(0, 4, 300)]
    values = rng.exponential(1 + codes[0])
    values[rng.random(300) < 0.3] = 0
    values[:20] = np.nan
    (found,) = inequality_of(codes, "mrr@5", values)
    known = ~np.isnan(values)
    assert (found.gini, found.theil) == approx(
        (slow_gini(values[known]), slow_theil(values[known]))
    )
    keys = [codes[0], codes[1], codes[0] * 10 + codes[1]]
    assert [split.attributes for split in found.splits] == [("a",), ("b",), ("a", "b")]
    for split, key in zip(found.splits, keys, strict=True):
        mean = values[known].mean()
        between = within = 0.0
        for one in np.unique(key):
            group = values[known & (key == one)]
            share = group.sum() / values[known].sum()
            within += share * slow_theil(group)
            between += share * math.log(group.mean() / mean)
        assert split.between == approx(between)
        assert split.within == approx(within)
        assert split.share_between == approx(between / (between + within))
        assert split.n_groups == len(np.unique(key))


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: (rng.random(3000) < 0.03).astype(float),
        lambda rng: rng.beta(4, 1, 3000),
        lambda rng: rng.lognormal(0, 1, 3000),
    ],
)
def test_chance_alone_shows_what_permutations_show_on_average(draw):
    rng = np.random.default_rng(0)
    values = draw(rng)
    # two large groups and many of one to thirty users
    small = rng.integers(1, 31, 60)
    sizes = np.array([1200, 3000 - 1200 - small.sum(), *small])
    group = np.repeat(np.arange(len(sizes)), sizes)

    def between(order: np.ndarray) -> float:
        return theil(np.bincount(group, weights=order) / sizes, sizes.astype(float))

    expected = np.mean([between(rng.permutation(values)) for _ in range(1000)])
    relative = values.var() / values.mean() ** 2
    found = [between_by_chance(rng.permutation(values), relative, sizes) for _ in range(100)]
    assert np.mean(found) == approx(expected, rel=0.05)
    assert found == approx([expected] * 100, rel=0.4)
    # of groups of one user, all of it lies between them
    single = between_by_chance(values, relative, np.ones(3000, dtype=np.int64))
    assert single == approx(theil(values))


def test_chance_between_two_large_groups_is_known_exactly():
    rng = np.random.default_rng(0)
    values = rng.beta(4, 1, 400)
    halves = values[np.argsort(rng.random((4000, 400)), axis=1)[:, :200]].mean(axis=1)
    ratio = np.stack([halves, 2 * values.mean() - halves]) / values.mean()
    expected = (ratio * np.log(ratio)).mean()
    relative = values.var() / values.mean() ** 2
    found = between_by_chance(values, relative, np.array([200, 200]))
    # a second half without the first would make it twice as large
    assert found == approx(expected, rel=0.1)


def test_the_worst_off_group_is_the_one_the_gap_names():
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, 2, 400), rng.integers(0, 5, 400)]
    values = rng.random(400)
    analysis = analysis_of(codes, "mrr@5", values, min_users=30)
    full = analysis.grouping.full
    worst = full[np.argmin(analysis.estimates.value[0, full])]
    (found,) = inequality(analysis.measured, analysis.grouping)
    split = found.splits[-1]
    assert split.worst_off.group == analysis.grouping.group(int(worst)).as_dict()
    assert split.worst_off.value == approx(analysis.estimates.value[0, worst])
    assert split.worst_off.support == analysis.moments.n[0, worst] >= 30


def test_values_below_0_and_users_not_scored_give_a_reason_instead():
    (found,) = inequality_of([[0, 1]], "urp@5", [-1.0, 1])
    assert (found.why_no_inequality, found.splits) == ("some values are negative", ())
    assert found.gini is None
    measured = measured_as("mrr@5", [1.0, 0.5])
    part = replace(measured, is_scored=np.array([True, False]))
    (found,) = inequality(part, build_grouping([[0, 1]]))
    assert found.why_no_inequality == "not everyone is scored"


TOP = 3


def attention(shown):
    return {item: 1 / math.log2(rank + 2) for rank, item in enumerate(shown[:TOP])}


def divergence(one, other):
    middle = [(a + b) / 2 for a, b in zip(one, other, strict=True)]
    return sum(
        sum(a * math.log2(a / m) for a, m in zip(side, middle, strict=True) if a > 0) / 2
        for side in (one, other)
    )


def found_of(world, history=False):
    read = world.read(f"exposure@{TOP}", history=history)
    return measure_spread(read.shown, TOP, read.inputs.attributes)


@pytest.mark.parametrize("seed", range(4))
def test_rank_fairness_is_that_of_a_slow_loop(seed):
    world = random_world(seed)
    kinds = {item: about["kind"] for item, about in world.items.items()}
    target = [[*kinds.values()].count(kind) / len(kinds) for kind in "ab"]
    distances = []
    for shown in world.lists.values():
        given = attention(shown)
        by_kind = [sum(a for i, a in given.items() if kinds[i] == kind) for kind in "ab"]
        distances.append(divergence([a / sum(by_kind) for a in by_kind], target))
    found = found_of(world).representation["kind"]
    assert found.to_catalogue == pytest.approx(1 - np.mean(distances))
    assert found.to_relevance != pytest.approx(found.to_catalogue)


@pytest.mark.parametrize("history", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_loss_is_the_squared_distance_from_the_ideal_order(seed, history):
    world = random_world(seed)
    squares = []
    for user, shown in world.lists.items():
        if user not in world.held_out:
            continue
        alone = ItemWorld(
            world.items, {user: shown}, {user: world.held_out[user]}, {user: world.seen[user]}
        )
        read = alone.read(f"exposure_to_relevance@{TOP}", history=history)
        due = read.shares[0].per_unit(read.shown.catalogue)[1]
        given = attention(shown)
        squares.append(sum((given.get(i, 0) - due[i]) ** 2 for i in world.items))
    assert found_of(world, history).expected_exposure_loss == pytest.approx(np.mean(squares))


def test_gini_and_coverage_count_items_that_nobody_was_shown():
    world = ItemWorld(
        {item: {"kind": "a"} for item in range(4)}, {1: [0], 2: [0], 3: [0]}, {1: {3: 1.0}}, {}
    )
    found = found_of(world)
    # one item of four has all the attention
    assert found.gini == pytest.approx(0.75)
    assert (found.n_shown, found.n_items, found.n_lists) == (1, 4, 3)
    assert found.representation["kind"].to_catalogue == pytest.approx(1)


def test_of_very_many_values_those_of_most_items_are_told_in_their_order():
    n = np.array([*range(1, MOST_VALUES + 3), 0])
    shown = items_by_value(range(len(n)), n, n)
    assert [*shown] == [str(at) for at in range(2, MOST_VALUES + 2)]
    assert (shown["2"].n_items, shown["2"].n_shown) == (3, 3)
