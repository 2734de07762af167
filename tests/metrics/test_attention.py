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
def test_influence_is_the_change_of_values_when_a_user_counts_a_little_more(history):
    """Against the values of a world in which a user of whom there are many is one more."""
    world = random_world(1)
    names = ["exposure@3", "exposure_to_relevance@3"]
    read = world.read(",".join(names), history=history)
    catalogue = read.shown.catalogue
    n_items, n_lists = catalogue.n_units, read.shown.n_lists
    every = np.arange(n_items)
    copies = 400
    many = {
        table: {user * copies + at: one[user] for user in one for at in range(copies)}
        for table, one in (
            ("lists", world.lists),
            ("held_out", world.held_out),
            ("seen", world.seen),
        )
    }
    user = next(iter(world.held_out))
    more = {
        table: one if table == "seen" and not history else {**one, 10**6: one[user * copies]}
        for table, one in many.items()
    }
    more_read = ItemWorld(world.items, **more).read(",".join(names), history=history)
    for name, share in zip(names, read.shares, strict=True):
        grown = share.influence(catalogue, every, n_items, np.arange(n_lists), n_lists)
        assert grown.sum(axis=0) == pytest.approx(0, abs=1e-12)
        before = read.inputs.side.values[name]
        after = more_read.inputs.side.values[name]
        expected = np.nan_to_num((after - before) * copies)
        # lists are in the order of their users
        assert grown[user] == pytest.approx(expected, abs=0.02)
        assert np.abs(expected).max() > 0.05
