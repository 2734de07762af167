"""What lists give to items, and how it changes when users count more or less often."""

from __future__ import annotations

import numpy as np
import pytest

from fairrec.metrics.attention import Amounts, discounts
from tests.metrics.item_world import ItemWorld, random_world


def test_places_are_discounted_as_in_ndcg():
    assert discounts(3) == pytest.approx([1, 1 / np.log2(3), 1 / 2])


def test_what_goes_to_every_item_is_added_to_what_goes_to_some():
    amounts = Amounts(
        np.array([0, 2, 3]), np.array([0, 2, 3]), np.array([1.0, 2.0, 5.0]), np.array([0.5, 0.25])
    )
    # the last stands for an item of no catalogue
    assert amounts.per_item(3) == pytest.approx([1.75, 0.75, 2.75])


@pytest.mark.parametrize("history", [False, True])
def test_what_values_owe_to_a_user_is_what_they_lose_without_the_list(history):
    world = random_world(1, n_users=40)
    names = ["exposure@3", "exposure_to_relevance@3"]
    read = world.read(",".join(names), history=history)
    catalogue, n_lists = read.shown.catalogue, read.shown.n_lists
    every = np.arange(catalogue.n_units)
    without = []
    for user in world.lists:
        others = {
            table: {who: one for who, one in getattr(world, table).items() if who != user}
            for table in ("lists", "held_out", "seen")
        }
        left = ItemWorld(world.items, **others).read(",".join(names), history=history)
        without.append(left)
    for at, (name, share) in enumerate(zip(names, read.shares, strict=True)):
        owes = share.influence(catalogue, every, len(every), np.arange(n_lists), n_lists)
        values = read.inputs.side.values[name]
        lost = np.array([values - one.inputs.side.values[name] for one in without])
        due = share.per_unit(catalogue)[1]
        left = np.array([one.shares[at].per_unit(catalogue)[1] for one in without])
        # of items no list has more than half of what is due
        is_spread = (left >= due / 2).all(axis=0)
        expected = lost[:, is_spread]
        assert owes[:, is_spread] == pytest.approx(expected)
        assert is_spread.sum() > 5
        assert np.abs(expected).max() > 0.01
