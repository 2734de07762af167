"""Measures of the whole catalogue against slow loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fairrec.statistics.inequality import spread_over
from tests.metrics.item_world import ItemWorld, random_world

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
    return spread_over(read.shown, TOP, read.inputs.attributes)


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
    found = found_of(world).representation[0]
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
            world.items,
            {user: shown},
            {user: world.held_out[user]},
            {user: world.seen[user]},
        )
        read = alone.read(f"exposure_to_relevance@{TOP}", history=history)
        due = read.shares[0].per_unit(read.shown.catalogue)[1]
        given = attention(shown)
        squares.append(sum((given.get(i, 0) - due[i]) ** 2 for i in world.items))
    assert found_of(world, history).loss == pytest.approx(np.mean(squares))


def test_gini_and_coverage_count_items_that_nobody_was_shown():
    world = ItemWorld(
        {item: {"kind": "a"} for item in range(4)},
        {1: [0], 2: [0], 3: [0]},
        {1: {3: 1.0}},
        {},
    )
    found = found_of(world)
    # one item of four has all the attention
    assert found.gini == pytest.approx(0.75)
    assert (found.n_shown, found.n_items, found.n_lists) == (1, 4, 3)
    assert found.representation[0].to_catalogue == pytest.approx(1)


@pytest.mark.parametrize("seed", range(3))
def test_items_shown_are_counted_by_value(seed):
    world = random_world(seed)
    shown = {item for items in world.lists.values() for item in items[:TOP]}
    found = found_of(world).representation[0]
    for at, kind in enumerate(found.attribute.values):
        of_kind = {item for item, about in world.items.items() if about["kind"] == kind}
        assert (found.n_items[at], found.n_shown[at]) == (len(of_kind), len(of_kind & shown))
