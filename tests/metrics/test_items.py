"""Metrics of items against slow loops over lists and places."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import FairRecError
from fairrec.inputs.table_options import TableOptions
from fairrec.metrics.reading import read_items
from tests.metrics.item_world import ItemWorld, random_world, without


def values(read, name):
    return read.inputs.side.values[name]


def test_attention_falls_with_the_place_and_a_list_without_the_item_gives_none():
    world = ItemWorld(
        items={1: {"kind": "a"}, 2: {"kind": "b"}, 3: {"kind": "b"}},
        lists={10: [1, 2], 11: [2, 1], 12: [2]},
        held_out={10: {3: 1.0}},
        seen={},
    )
    read = world.read("exposure@2,recommended@2,recommended@1")
    second = 1 / math.log2(3)
    assert values(read, "exposure@2") == pytest.approx([(1 + second) / 3, (second + 2) / 3, 0])
    assert values(read, "recommended@2") == pytest.approx([2 / 3, 1, 0])
    assert values(read, "recommended@1") == pytest.approx([1 / 3, 2 / 3, 0])


@pytest.mark.parametrize("history", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_values_are_those_of_a_slow_loop(seed, history):
    world = random_world(seed)
    read = world.read("exposure@3,exposure_to_relevance@3", history=history)
    exposure = [world.exposure(item, 3, history) for item in world.items]
    to_relevance = [world.to_relevance(item, 3, history) for item in world.items]
    assert values(read, "exposure@3") == pytest.approx(exposure, nan_ok=True)
    assert values(read, "exposure_to_relevance@3") == pytest.approx(to_relevance, nan_ok=True)
    assert np.nanmax(to_relevance) > 0


@pytest.mark.parametrize("history", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_wanted_and_in_no_catalogue_is_none_of_the_others(seed, history):
    world = random_world(seed)
    few = {item: about for item, about in world.items.items() if item % 3}
    world = ItemWorld(few, world.lists, world.held_out, world.seen)
    read = world.read("exposure_to_relevance@3", history=history)
    received, due = read.shares[0].per_unit(read.shown.catalogue)
    expected = [world.received_and_due(item, 3, history) for item in few]
    assert [*zip(received, due, strict=True)] == [pytest.approx(one) for one in expected]


def test_of_scored_candidates_an_item_could_be_in_the_lists_whose_candidate_it_is():
    predictions = pl.DataFrame(
        {
            "user_id": [1, 1, 1, 2, 2],
            "item_id": [7, 8, 9, 8, 9],
            "score": [0.9, 0.5, 0.1, 0.2, 0.8],
            "label": [0, 1, 0, 1, 0],
        }
    )
    items = pl.DataFrame({"item_id": [7, 8, 9, 6], "kind": ["a", "a", "b", "b"]})
    given = TableOptions(
        items=items, side="items", by="kind", metrics="exposure@1,exposure_to_relevance@2"
    )
    read = read_items(predictions, given)
    # by id: 6 is no candidate, 7 is first in its only list, 8 in none of two, 9 in one of two
    assert values(read, "exposure@1") == pytest.approx([math.nan, 1, 0, 0.5], nan_ok=True)
    second = 1 / math.log2(3)
    # in the ideal order 8 is first in both; 7 and 9 share the second place of user 1
    due = [0, second / 2, 2, second / 2 + second]
    received = [0, 1, 2 * second, 1]
    expected = [math.nan, *(got / of for got, of in zip(received[1:], due[1:], strict=True))]
    assert values(read, "exposure_to_relevance@2") == pytest.approx(expected, nan_ok=True)


def test_a_unit_has_what_its_items_received_over_what_they_were_due():
    world = random_world(5)
    one_by_one = world.read("exposure@3,exposure_to_relevance@3")
    items = {i: {**about, "kind": about["provider_id"][1]} for i, about in world.items.items()}
    units = ItemWorld(items, world.lists, world.held_out, world.seen).read(
        "exposure@3,exposure_to_relevance@3", unit="provider_id"
    )
    assert units.inputs.user_ids.to_list() == ["p0", "p1", "p2", "p3"]
    provider = np.array([int(about["provider_id"][1]) for about in world.items.values()])
    for name, share in zip(
        ("exposure@3", "exposure_to_relevance@3"), one_by_one.shares, strict=True
    ):
        received, due = share.per_unit(one_by_one.shown.catalogue)
        expected = [received[provider == p].sum() / due[provider == p].sum() for p in range(4)]
        assert values(units, name) == pytest.approx(expected)
    # where every list could have held every item that is the mean over its items
    assert values(units, "exposure@3") == pytest.approx(
        [values(one_by_one, "exposure@3")[provider == p].mean() for p in range(4)]
    )


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
    for block, who in enumerate(world.lists):
        left = without(world, who).read(name, history=history).shares[0]
        lost = of_all - np.array(left.per_unit(catalogue))
        by_cell = [[part[0::2].sum(), part[1::2].sum()] for part in lost]
        assert found[:, block] == pytest.approx(np.array(by_cell))


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


def read(drop=(), **given):
    tables = {name: one for name, one in random_world(1).tables().items() if name not in drop}
    lists = tables.pop("predictions", None)
    return read_items(lists, TableOptions(**{**tables, "side": "items", "by": "kind", **given}))


def test_the_metrics_by_default_are_those_that_the_tables_allow():
    names = [metric.name for metric in read().wanted]
    assert names == ["exposure@6", "exposure_to_relevance@6"]
    assert [metric.name for metric in read(drop=["test"]).wanted] == ["exposure@6"]


@pytest.mark.parametrize(
    ("given", "drop", "message"),
    [
        ({"metrics": "ndcg@5"}, (), "is one of users, and items are compared here. Of items: exp"),
        ({"metrics": "exposrue@5"}, (), "Did you mean 'exposure'"),
        ({"metrics": "exposure_to_relevance"}, ("test",), "needs to know what users wanted"),
        ({"users": pl.DataFrame({"user_id": [1]})}, (), "Leave out users"),
        ({"values": pl.DataFrame({"user_id": [1]})}, (), "Leave out values"),
        ({"adjust_for": "list_length"}, (), "Leave out adjust_for"),
        ({"missing_lists": "drop"}, (), "Leave out missing_lists"),
        ({"against_lists": pl.DataFrame({"user_id": [1]})}, (), "Leave out against_lists"),
        ({}, ("items",), "items table is missing"),
        ({}, ("predictions",), "predictions table is missing"),
        ({"by": "knid"}, (), "Did you mean 'kind'"),
        ({"unit": "provider_id"}, (), "provider_id 'p0' has items with different values"),
    ],
)
def test_what_items_cannot_be_compared_by_is_refused(given, drop, message):
    if "unit" in given:
        given = {**given, "by": "year"}
    with pytest.raises(FairRecError, match=message):
        read(drop, **given)
