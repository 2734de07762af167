"""What lists give to items, and how it changes when users count more or less often."""

from __future__ import annotations

import numpy as np
import pytest

from fairrec.metrics.attention import Amounts, discounts
from tests.metrics.item_world import random_world, without


def test_places_are_discounted_as_in_ndcg():
    assert discounts(3) == pytest.approx([1, 1 / np.log2(3), 1 / 2])


def test_what_goes_to_every_item_is_added_to_what_goes_to_some():
    amounts = Amounts(
        np.array([0, 2, 3]), np.array([0, 2, 3]), np.array([1.0, 2.0, 5.0]), np.array([0.5, 0.25])
    )
    # the last stands for an item of no catalogue
    assert amounts.per_item(3) == pytest.approx([1.75, 0.75, 2.75])


@pytest.mark.parametrize("history", [False, True])
def test_blocks_have_what_their_lists_alone_would_give(history):
    world = random_world(1, n_users=12)
    names = "exposure@3,exposure_to_relevance@3"
    read = world.read(names, history=history)
    catalogue, n_lists = read.shown.catalogue, read.shown.n_lists
    every = np.arange(catalogue.n_units)
    # items 0, 2, 4 ... in one cell, and 1, 3, 5 ... in the other
    found = [
        share.in_blocks(catalogue, every % 2, 2, np.arange(n_lists), n_lists)
        for share in read.shares
    ]
    whole = [share.per_unit(catalogue) for share in read.shares]
    for block, user in enumerate(world.lists):
        left = without(world, user).read(names, history=history).shares
        for share, of_all, parts in zip(left, whole, found, strict=True):
            lost = np.array(of_all) - np.array(share.per_unit(catalogue))
            by_cell = [[part[0::2].sum(), part[1::2].sum()] for part in lost]
            assert parts[:, block] == pytest.approx(np.array(by_cell))
