"""What lists give to items, and how it changes when users count more or less often."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec.inputs.table_options import TableOptions
from fairrec.metrics.attention import Amounts, discounts
from fairrec.metrics.reading_items import read_items
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
    name = "exposure_to_relevance@3"
    read = world.read(name, history=history)
    catalogue, n_lists = read.shown.catalogue, read.shown.n_lists
    # items 0, 2, 4 ... in one cell, and 1, 3, 5 ... in the other
    cell = np.arange(catalogue.n_units) % 2
    found = read.shares[0].in_blocks(catalogue, cell, 2, np.arange(n_lists), n_lists)
    of_all = np.array(read.shares[0].per_unit(catalogue))
    for block, user in enumerate(world.lists):
        left = without(world, user).read(name, history=history).shares[0]
        lost = of_all - np.array(left.per_unit(catalogue))
        by_cell = [[part[0::2].sum(), part[1::2].sum()] for part in lost]
        assert found[:, block] == pytest.approx(np.array(by_cell))


@pytest.mark.parametrize("history", [False, True])
def test_blocks_add_to_means_what_is_lost_without_them(history):
    """But for what is left to divide by, where a block has a part of all lists."""
    world = random_world(1, n_users=60)
    read = world.read("exposure@3", history=history)
    catalogue, n_lists = read.shown.catalogue, read.shown.n_lists
    every = np.arange(catalogue.n_units)
    added, n = read.shares[0].in_blocks(catalogue, every, len(every), np.arange(n_lists), n_lists)
    values = read.inputs.side.values["exposure@3"]
    assert added.sum(axis=0) == pytest.approx(values)
    assert n == pytest.approx(1 / n_lists)
    due = read.shares[0].per_unit(catalogue)[1]
    for block, user in enumerate(world.lists):
        left = without(world, user).read("exposure@3", history=history)
        left_due = left.shares[0].per_unit(catalogue)[1]
        lost = (values - left.inputs.side.values["exposure@3"]) * left_due / due
        assert added[block] - values / n_lists == pytest.approx(lost, abs=1e-12)


def test_an_item_goes_with_the_only_block_that_has_it():
    # items 0 and 1 are candidates of two users, item 2 of one alone; item 9 is in no catalogue
    rows = {"user_id": [0, 0, 0, 1, 1, 1, 2], "item_id": [0, 1, 9, 1, 0, 2, 9]}
    scores = {"score": [3.0, 2, 1, 3, 2, 1, 1], "label": [1, 0, 0, 1, 0, 0, 1]}
    items = pl.DataFrame({"item_id": range(3), "kind": ["a", "b", "a"]})
    given = TableOptions(items=items, side="items", by="kind", metrics="recommended@1")
    read = read_items(pl.DataFrame({**rows, **scores}), given)
    found = read.shares[0].in_blocks(
        read.shown.catalogue, np.arange(3), 3, np.arange(3), n_blocks=3
    )
    # shown once of two times: what a list gives beyond 1/2, half of it, by its leverage of 1/2
    beyond = 1 / 2 / 2 * np.sqrt(2) * np.sqrt(2 / 3)
    assert found[0, :, 0] - 1 / 2 / 3 == pytest.approx([beyond, -beyond, 0])
    assert found[0, :, 1] - 1 / 2 / 3 == pytest.approx([-beyond, beyond, 0])
    assert found[0, :, 2] == pytest.approx([0, 0, 0])
    assert found[1, :, 0] == pytest.approx([1 / 3] * 3)
    assert found[1, :, 2] == pytest.approx([0, 1, 0])
