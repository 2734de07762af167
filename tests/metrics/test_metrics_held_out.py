"""Recommendations against held-out interactions: dictionaries, a join by hand, and ranx agree."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairrec
from tests.metrics.oracles.definitions import DEFINITIONS, value
from tests.metrics.test_metrics_ranx import PEERS
from tests.recommendations import FORMS, Served, random_served

CUTOFFS = (1, 3, 10)
NAMES = [f"{name}@{k}" for name in DEFINITIONS for k in CUTOFFS]


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
        for k in CUTOFFS
    }


def assert_same(one: dict[str, dict[int, float]], other: dict[str, dict[int, float]]) -> None:
    assert one.keys() == other.keys()
    for name, values in one.items():
        assert values.keys() == other[name].keys()
        for user in values:
            assert values[user] == pytest.approx(other[name][user], abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_every_metric_is_that_of_a_loop_over_dictionaries(form, seed):
    served = random_served(seed)
    assert any(user not in served.lists for user in served.users)
    assert any(user not in served.held_out for user in served.users)
    assert_same(table_of(served.audit(form, metrics=NAMES)), slow_table(served))


def served_worlds() -> st.SearchStrategy[Served]:
    """A few users with short lists, some without, some with nothing held out."""
    items = st.integers(0, 6)
    lists = st.dictionaries(st.integers(0, 5), st.lists(items, unique=True, max_size=5), min_size=1)
    gains = st.dictionaries(items, st.sampled_from([0.5, 1.0, 4.0]), min_size=1, max_size=5)
    held_out = st.dictionaries(st.integers(0, 5), gains, min_size=1)
    return st.builds(Served, lists, held_out).filter(
        lambda served: (
            {item for items in served.lists.values() for item in items}
            & {item for items in served.held_out.values() for item in items}
        )
    )


@settings(max_examples=6)
@given(served=served_worlds(), seed=st.integers(0, 99))
def test_neither_order_of_rows_nor_form_changes_anything_and_values_stay_in_0_to_1(served, seed):
    expected = slow_table(served)
    lists, test = served.recommendations("both"), served.test()
    some = {user: items for user, items in served.lists.items() if items}
    for form in FORMS:
        result = served.audit(form, metrics=NAMES)
        # an empty list of a user with nothing held out has no row in the long form
        unlisted = (
            {} if form.startswith("lists") else {*served.lists} - {*some} - {*served.held_out}
        )
        wanted = {
            name: {user: found for user, found in column.items() if user not in unlisted}
            for name, column in expected.items()
        }
        assert_same(table_of(result), wanted)
        for name in result.metrics:
            column = result.per_user[name].drop_nulls()
            assert column.is_between(0, 1).all()
    rng = np.random.default_rng(seed)
    rows = test[rng.permutation(test.height)]
    shuffled = served.audit(test=rows, gain="rating", metrics=NAMES)
    assert_same(table_of(shuffled), table_of(served.audit(metrics=NAMES)))
    rows = lists[rng.permutation(lists.height)]
    users = pl.DataFrame({"user_id": served.users, "group": "g"})
    mixed = fairrec.audit(
        rows,
        test=test,
        gain="rating",
        users=users[rng.permutation(users.height)],
        by="group",
        metrics=NAMES,
        permutations=0,
        min_support=1,
    )
    assert_same(table_of(mixed), table_of(served.audit(metrics=NAMES)))


def test_a_join_by_hand_gives_the_same_labels():
    """Where every held-out item is recommended, labelled candidates say the same as two tables."""
    rng = np.random.default_rng(4)
    lists = {user: rng.permutation(9)[:6].tolist() for user in range(40)}
    held_out = {
        user: {item: float(rng.integers(1, 4)) for item in rng.choice(items, 2, replace=False)}
        for user, items in lists.items()
    }
    served = Served(lists, held_out)
    joined = served.recommendations().join(
        served.test().rename({"rating": "label"}), on=["user_id", "item_id"], how="left"
    )
    users = pl.DataFrame({"user_id": served.users, "group": "g"})
    by_hand = fairrec.audit(
        joined.with_columns(pl.col("label").fill_null(0)),
        users=users,
        by="group",
        metrics=NAMES,
        permutations=0,
        min_support=1,
    )
    assert_same(table_of(by_hand), table_of(served.audit(metrics=NAMES)))


def test_a_join_by_hand_hides_what_was_never_recommended():
    # of two held-out items one is recommended, at the first place
    served = Served({0: [1, 2], 1: [3, 2]}, {0: {1: 1.0, 9: 1.0}, 1: {9: 1.0}})
    joined = pl.DataFrame(
        {
            "user_id": [0, 0, 1, 1],
            "item_id": [1, 2, 3, 2],
            "score": [2, 1, 2, 1],
            "label": [1, 0, 0, 0],
        }
    )
    users = pl.DataFrame({"user_id": [0, 1], "group": ["a", "b"]})
    by_hand = fairrec.audit(
        joined, users=users, by="group", metrics="recall@2", permutations=0, min_support=1
    )
    assert by_hand.per_user["recall@2"].to_list() == [1, None]
    result = served.audit(metrics="recall@2")
    assert result.per_user["recall@2"].to_list() == [1 / 2, 0]


@pytest.mark.parametrize("name", [*PEERS, "map"])
def test_metric_is_the_one_of_ranx(name, ranx):
    # ranx has a value for who is in both alone; map is divided by R, ours by min(k, R)
    served = random_served(8, share_without_list=0, share_without_held_out=0)
    k = 7 if name == "map" else 3
    peer = f"{PEERS.get(name, name)}@{k}"
    # as dictionaries, because its own containers have to be compiled
    relevant = {
        str(user): {str(item): int(gain) for item, gain in served.held_out[user].items()}
        for user in served.users
    }
    run = {
        str(user): {str(item): float(-place) for place, item in enumerate(served.lists[user])}
        for user in served.users
    }
    # of a single metric with a cut-off it loses the name
    theirs = ranx.evaluate(relevant, run, [peer, "hits@1"], return_mean=False)[peer]
    mine = table_of(served.audit(metrics=f"{name}@{k}"))[f"{name}@{k}"]
    np.testing.assert_allclose([mine[user] for user in served.users], theirs, rtol=0, atol=1e-12)


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
