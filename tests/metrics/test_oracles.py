"""Fast metrics equal the slow loops, and are undefined in the same places."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.core.arrays import FloatArray
from fairrec.metrics import METRICS, parse_metric
from fairrec.metrics.measured import measure_everyone
from fairrec.metrics.ranked import RankedLists
from fairrec.metrics.reading import read_inputs
from tests.inputs.made_by.world import USERS
from tests.metrics.metric_lists import (
    Candidate,
    User,
    World,
    asked_for,
    per_user,
    random_world,
    ranked_lists,
    user,
    values_of,
    world_values,
)
from tests.metrics.oracles.definitions import DEFINITIONS, value
from tests.metrics.oracles.peers import PEERS as OTHER_PEERS
from tests.metrics.oracles.peers import Peer, expected
from tests.metrics.oracles.tables import HELD_OUT, HERE, RECOMMENDATIONS, read
from tests.metrics.slow_metrics import (
    SLOW_FROM_LABELS,
    SLOW_FROM_SIDE_DATA,
    SLOW_FROM_THE_LISTS_ALONE,
    auc,
    n_orders,
    over_orders,
)
from tests.recommendations import FORMS, Served, random_served

LONGEST = 12


MOST_ORDERS = 24


"""Lists with more orders of equal scores would take a while."""


SLOW_FROM_CANDIDATES = SLOW_FROM_LABELS | SLOW_FROM_THE_LISTS_ALONE


CUTOFFS = [1, 2, 5, LONGEST, 3 * LONGEST]


WORLDS = {
    "graded labels and ties": {},
    "single targets": {"share_relevant": 0.1, "max_label": 1},
    "many positives": {"share_relevant": 0.8},
    "no positives": {"share_relevant": 0.0},
    "no ties": {"has_ties": False},
    "very short lists": {"max_length": 2},
    "long lists, both ways to count AUC": {"max_length": 40, "share_relevant": 0.5},
}


@cache
def world_called(name: str) -> World:
    return random_world(np.random.default_rng(11), **WORLDS[name])


@pytest.fixture(params=WORLDS)
def world(request) -> World:
    return world_called(request.param)


@cache
def lists_of(name: str, k: int) -> RankedLists:
    """The lists of a world, ranked as deep as an audit with this cut-off does."""
    world = world_called(name)
    return ranked_lists(world.users, world.categories, world.history, k)


def assert_same(fast, slow) -> None:
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("called", WORLDS)
@pytest.mark.parametrize("name", SLOW_FROM_CANDIDATES)
def test_metric_from_candidates_equals_the_slow_loop(name, called):
    users = world_called(called).users
    is_quick = np.array([n_orders(one) <= MOST_ORDERS for one in users])
    assert called.startswith("long") or is_quick.mean() > 0.5
    for k in CUTOFFS:
        slow = [
            over_orders(SLOW_FROM_CANDIDATES[name], one, k)
            for one, is_looked_at in zip(users, is_quick, strict=True)
            if is_looked_at
        ]
        fast = per_user(parse_metric(asked_for(name, k)), lists_of(called, k))
        assert_same(fast[is_quick], slow)


@pytest.mark.parametrize("called", WORLDS)
@pytest.mark.parametrize("name", SLOW_FROM_SIDE_DATA)
def test_metric_from_side_data_equals_the_slow_loop(name, called):
    world = world_called(called)
    for k in CUTOFFS:
        slow = [SLOW_FROM_SIDE_DATA[name](one, k, world) for one in world.users]
        assert_same(per_user(parse_metric(asked_for(name, k)), lists_of(called, k)), slow)


def test_auc_equals_the_slow_loop(world):
    assert_same(world_values("auc", world), [auc(candidates) for candidates in world.users])


@pytest.mark.parametrize("called", WORLDS)
def test_a_deeper_metric_beside_it_changes_nothing(called):
    for name in (*SLOW_FROM_CANDIDATES, *SLOW_FROM_SIDE_DATA):
        metric = parse_metric(asked_for(name, 3))
        alone, shared = (per_user(metric, lists_of(called, k)) for k in (3, 20))
        np.testing.assert_array_equal(shared, alone, err_msg=name)


def test_every_metric_has_a_slow_loop():
    slow = {*SLOW_FROM_CANDIDATES, *SLOW_FROM_SIDE_DATA, "auc"}
    # those of two lists have theirs in test_list_change
    of_two = {name for name in METRICS if "against_lists" in METRICS[name].needs}
    assert slow | of_two == set(METRICS)


AT_K = ["ndcg", "mrr", "hit", "recall", "precision", "map", "urd", "urp", "urp_abs"]


AT_K += ["f1", "ild", "popularity", "share", "mean", "novelty", "miscalibration"]


N_ITEMS = 15


cutoffs = st.integers(1, 12)


@st.composite
def candidates(draw, min_size: int = 0) -> User:
    """Distinct items, scores with ties and graded labels."""
    items = draw(st.lists(st.integers(0, N_ITEMS - 1), unique=True, min_size=min_size))
    return [
        Candidate(item, float(draw(st.integers(-3, 3))), float(draw(st.sampled_from([0, 0, 1, 3]))))
        for item in items
    ]


@st.composite
def worlds(draw) -> World:
    # the first user keeps the tables from being empty
    users = [user([1, 0]), *draw(st.lists(candidates(), max_size=6))]
    category_sets = st.frozensets(st.sampled_from("abcd"), max_size=3)
    categories = draw(st.dictionaries(st.integers(0, N_ITEMS - 1), category_sets, min_size=1))
    interactions = st.tuples(st.integers(0, 8), st.integers(0, N_ITEMS - 1))
    return World(users, categories, [(0, 0), *draw(st.lists(interactions, max_size=30))])


def all_values(world: World, k: int) -> dict[str, FloatArray]:
    """The values of every metric, from ranked lists they share."""
    lists = ranked_lists(world.users, world.categories, world.history, max_k=k)
    names = ["auc", *(asked_for(name, k) for name in AT_K)]
    return {name: per_user(parse_metric(name), lists) for name in names}


def with_scores(world: World, change: Callable[[float], float]) -> World:
    users = [[c._replace(score=float(change(c.score))) for c in one] for one in world.users]
    return World(users, world.categories, world.history)


@given(world=worlds(), k=cutoffs, data=st.data())
def test_the_order_of_users_is_irrelevant(world, k, data):
    order = data.draw(st.permutations(range(len(world.users))))
    new_position = {old: new for new, old in enumerate(order)}
    shuffled = World(
        [world.users[old] for old in order],
        world.categories,
        [(new_position.get(owner, owner + 100), item) for owner, item in world.history],
    )
    before, after = all_values(world, k), all_values(shuffled, k)
    for name, values in before.items():
        np.testing.assert_array_equal(after[name], values[list(order)], err_msg=name)


@pytest.mark.parametrize("k", [5, 10, 20])
def test_users_with_the_same_list_have_the_same_ndcg_to_the_last_bit(k):
    rng = np.random.default_rng(3)
    for n_users in (2, 11, 50):
        one = user(0.3 * rng.integers(0, 4, 30), rng.random(30))
        values = values_of(f"ndcg@{k}", [one] * n_users)
        assert len(np.unique(values)) == 1


INCREASING = {
    "constant": lambda x: x + 1000,
    "scale": lambda x: 0.25 * x - 7,
    "exp": np.exp,
    "arctan": np.arctan,
    "cubic": lambda x: x**3 + x,
}


@given(world=worlds(), k=cutoffs)
def test_an_increasing_change_of_the_scores_changes_nothing(world, k):
    before = all_values(world, k)
    for way, change in INCREASING.items():
        after = all_values(with_scores(world, change), k)
        for name, values in before.items():
            np.testing.assert_array_equal(after[name], values, err_msg=f"{name}, {way}")


@given(world=worlds(), k=cutoffs, data=st.data())
def test_other_item_ids_change_nothing(world, k, data):
    new_id = data.draw(st.permutations(range(100, 100 + N_ITEMS)))
    relabelled = World(
        [[c._replace(item=new_id[c.item]) for c in one] for one in world.users],
        {new_id[item]: names for item, names in world.categories.items()},
        [(owner, new_id[item]) for owner, item in world.history],
    )
    before, after = all_values(world, k), all_values(relabelled, k)
    is_tied = any(len({c.score for c in one}) < len(one) for one in world.users)
    for name, values in before.items():
        if name.startswith("mean"):
            continue  # what an item costs here follows from its id
        if is_tied and name.partition("@")[0] not in SLOW_FROM_LABELS:
            continue  # the order of equal scores follows from their ids
        np.testing.assert_allclose(after[name], values, rtol=0, atol=1e-12, err_msg=name)


@given(one=candidates(min_size=1), k=cutoffs)
def test_ndcg_and_map_of_the_best_order_are_one(one, k):
    ideal = [c._replace(score=c.label) for c in one]
    expected = [1.0] if any(c.label > 0 for c in one) else [np.nan]
    np.testing.assert_array_equal(values_of(f"ndcg@{k}", [ideal]), expected)
    np.testing.assert_allclose(values_of(f"map@{k}", [ideal]), expected, rtol=0, atol=1e-12)


CUTOFFS_METRICS_HELD_OUT = (1, 3, 10)


NAMES = [f"{name}@{k}" for name in DEFINITIONS for k in CUTOFFS_METRICS_HELD_OUT]


def table_of(result) -> dict[str, dict[int, float]]:
    """The values of each metric by user, NaN where there is none."""
    ids = result.per_user["user_id"].to_list()
    columns = {name: result.per_user[name].fill_null(np.nan) for name in result.metrics}
    return {name: dict(zip(ids, column, strict=True)) for name, column in columns.items()}


def slow_table(served: Served) -> dict[str, dict[int, float]]:
    return {
        f"{name}@{k}": {
            user: value(name, served.lists.get(user), served.held_out.get(user), k)
            for user in served.users
        }
        for name in DEFINITIONS
        for k in CUTOFFS_METRICS_HELD_OUT
    }


def assert_same_metrics_held_out(
    one: dict[str, dict[int, float]], other: dict[str, dict[int, float]]
) -> None:
    assert one.keys() == other.keys()
    for name, values in one.items():
        assert values.keys() == other[name].keys()
        for who in values:
            assert values[who] == pytest.approx(other[name][who], abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_every_metric_is_that_of_a_loop_over_dictionaries(form, seed):
    served = random_served(seed)
    assert any(user not in served.lists for user in served.users)
    assert any(user not in served.held_out for user in served.users)
    assert_same_metrics_held_out(table_of(served.audit(form, metrics=NAMES)), slow_table(served))


def test_by_hand():
    # two of three held-out items in the first three places, 2 and 3, of gains 1 and 3
    served = Served({"a": [7, 1, 2, 3]}, {"a": {1: 1.0, 2: 3.0, 9: 2.0}})
    served = Served({0: served.lists["a"], 1: [5]}, {0: served.held_out["a"], 1: {5: 1.0}})
    names = ["recall@3", "precision@3", "hit@3", "mrr@3", "map@3", "ndcg@3", "hit@1", "coverage@5"]
    found = {name: of[0] for name, of in table_of(served.audit(metrics=names)).items()}
    ideal = 3 / np.log2(2) + 2 / np.log2(3) + 1 / np.log2(4)
    assert found == pytest.approx(
        {
            "recall@3": 2 / 3,
            "precision@3": 2 / 3,
            "hit@3": 1,
            "mrr@3": 1 / 2,
            "map@3": (1 / 2 + 2 / 3) / 3,
            "ndcg@3": (1 / np.log2(3) + 3 / np.log2(4)) / ideal,
            "hit@1": 0,
            "coverage@5": 4 / 5,
        }
    )


CUTOFFS_METRICS_ELSEWHERE = (1, 5, 10, 20)


TABLES = read()


EVERY_PEER = [(library, peer) for library, peers in OTHER_PEERS.items() for peer in peers]


def kept(library: str) -> dict[int, dict[str, float]]:
    """The values that a library gave each user."""
    with (HERE / f"{library}.csv").open(newline="", encoding="utf-8") as stream:
        rows = [
            {name: float(value) for name, value in row.items()} for row in csv.DictReader(stream)
        ]
    return {int(row.pop("user_id")): row for row in rows}


KEPT: Mapping[str, Mapping[int, Mapping[str, float]]] = {
    library: kept(library) for library in OTHER_PEERS
}


@pytest.mark.parametrize(("library", "peer"), EVERY_PEER)
@pytest.mark.parametrize("k", CUTOFFS_METRICS_ELSEWHERE)
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
    names = {f"{peer.metric}@{k}" for _, peer in peers for k in CUTOFFS_METRICS_ELSEWHERE}
    found = ours(sorted(names), relevant=None if has_labels else "rating>=1")
    for library, peer in peers:
        for k in CUTOFFS_METRICS_ELSEWHERE:
            theirs = {user: peer.value(mine, k) for user, mine in KEPT[library].items()}
            told = {
                user: peer.of_ours(value, len(TABLES.held_out[user]), k)
                for user, value in found[f"{peer.metric}@{k}"].items()
            }
            assert told == pytest.approx(theirs, abs=1e-12), f"{library} {peer.measure(k)}"


@pytest.mark.parametrize("library", OTHER_PEERS)
def test_who_has_held_out_items_has_a_value_and_nobody_else(library):
    without_list = set(TABLES.held_out) - set(TABLES.lists)
    assert set(KEPT[library]) == set(TABLES.held_out)
    assert len(without_list) == 4
    for who in without_list:
        assert set(KEPT[library][who].values()) == {0.0}
