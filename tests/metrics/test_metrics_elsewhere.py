"""Recommendations and held-out items have the values that other libraries gave them."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from math import isnan, log2

import pytest

from fairrec.metrics.measured import measure_everyone
from fairrec.metrics.reading import read_inputs
from tests.inputs.made_by.world import USERS
from tests.metrics.oracles.peers import PEERS, Peer, expected
from tests.metrics.oracles.tables import HELD_OUT, HERE, RECOMMENDATIONS, read

CUTOFFS = (1, 5, 10, 20)
TABLES = read()
EVERY_PEER = [(library, peer) for library, peers in PEERS.items() for peer in peers]


def kept(library: str) -> dict[int, dict[str, float]]:
    """The values that a library gave each user."""
    with (HERE / f"{library}.csv").open(newline="", encoding="utf-8") as stream:
        rows = [
            {name: float(value) for name, value in row.items()} for row in csv.DictReader(stream)
        ]
    return {int(row.pop("user_id")): row for row in rows}


KEPT: Mapping[str, Mapping[int, Mapping[str, float]]] = {
    library: kept(library) for library in PEERS
}


@pytest.mark.parametrize(("library", "peer"), EVERY_PEER)
@pytest.mark.parametrize("k", CUTOFFS)
def test_definition_is_that_of_the_library(library, peer: Peer, k):
    values = {user: peer.value(mine, k) for user, mine in KEPT[library].items()}
    assert values == pytest.approx(
        {user: expected(peer, TABLES, user, k) for user in values}, abs=1e-12
    )
    assert len(set(values.values())) > 1


def ours(names: Sequence[str], relevant: str | None) -> dict[str, dict[int, float]]:
    """What the audit's own reader and metrics give each user with held-out items."""
    # a condition alone makes all that meets it count alike
    how = {"gain": "rating"} if relevant is None else {"relevant": relevant}
    inputs, metrics = read_inputs(
        RECOMMENDATIONS, test=HELD_OUT, users=USERS, by="gender", metrics=names, **how
    )
    users = [int(user) for user in inputs.user_ids]
    return {
        metric.name: {
            user: value for user, value in zip(users, row, strict=True) if not isnan(value)
        }
        for metric, row in zip(metrics, measure_everyone(inputs, metrics).values, strict=True)
    }


@pytest.mark.parametrize("has_labels", [True, False])
def test_value_of_every_user_is_that_of_the_libraries(has_labels):
    peers = [(lib, peer) for lib, peer in EVERY_PEER if peer.has_labels is has_labels]
    names = {f"{peer.metric}@{k}" for _, peer in peers for k in CUTOFFS}
    found = ours(sorted(names), relevant=None if has_labels else "rating>=1")
    for library, peer in peers:
        for k in CUTOFFS:
            theirs = {user: peer.value(mine, k) for user, mine in KEPT[library].items()}
            told = {
                user: peer.of_ours(value, len(TABLES.held_out[user]), k)
                for user, value in found[f"{peer.metric}@{k}"].items()
            }
            assert told == pytest.approx(theirs, abs=1e-12), f"{library} {peer.measure(k)}"


@pytest.mark.parametrize("library", PEERS)
def test_who_has_held_out_items_has_a_value_and_nobody_else(library):
    without_list = set(TABLES.held_out) - set(TABLES.lists)
    assert set(KEPT[library]) == set(TABLES.held_out)
    assert len(without_list) == 4
    for user in without_list:
        assert set(KEPT[library][user].values()) == {0.0}


@pytest.mark.parametrize("k", CUTOFFS)
def test_the_larger_average_precision_of_rectools_is_ours(k):
    ours = Peer("map", "")
    for user, mine in KEPT["rectools"].items():
        both = mine[f"MAP(k={k})"], mine[f"MAP(k={k}, divide_by_k=True)"]
        assert max(both) == pytest.approx(expected(ours, TABLES, user, k), abs=1e-12)


@pytest.mark.parametrize("k", CUTOFFS)
def test_ndcg_of_rectools_has_the_ideal_of_k_items_unless_told_otherwise(k):
    for user, mine in KEPT["rectools"].items():
        places = min(k, len(TABLES.held_out[user]))
        share = sum_of_discounts(places) / sum_of_discounts(k)
        achievable = mine[f"NDCG(k={k}, divide_by_achievable=True)"]
        assert mine[f"NDCG(k={k})"] == pytest.approx(achievable * share, abs=1e-12)


def sum_of_discounts(k: int) -> float:
    return sum(1 / log2(place + 1) for place in range(1, k + 1))


@pytest.mark.parametrize("k", CUTOFFS)
def test_ndcg_burges_of_ranx_has_the_gain_of_powers_of_two(k):
    powers = TABLES._replace(
        held_out={
            user: {item: 2**label - 1 for item, label in mine.items()}
            for user, mine in TABLES.held_out.items()
        }
    )
    for user, mine in KEPT["ranx"].items():
        value = expected(Peer("ndcg", ""), powers, user, k)
        assert mine[f"ndcg_burges@{k}"] == pytest.approx(value, abs=1e-12)
