"""The demo's world: its options, the split of its interactions, and the lists drawn for targets."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.core.errors import FairRecError, InputError
from fairrec.demo.held_out import NegativeSampler, split_last
from fairrec.demo.world_options import WorldOptions, skewed


@given(st.integers(0, 2**32), st.integers(1, 8))
def test_drawn_items_are_different_and_unknown_to_the_user(seed, n):
    rng = np.random.default_rng(seed)
    known = rng.random((12, 30)) < rng.random((12, 1)) * 0.7
    known[0] = False
    known[1, : 30 - n] = True
    known[1, 30 - n :] = False
    users, items = np.nonzero(known)
    sampler = NegativeSampler(users, items, 12, 30)
    enough = np.flatnonzero((~known).sum(axis=1) >= n)
    drawn = sampler.draw_lists(np.repeat(enough, 5), n, rng)
    for user, row in zip(np.repeat(enough, 5), drawn, strict=True):
        assert len(set(row.tolist())) == n
        assert not known[user, row].any()


def test_a_user_who_knows_nearly_everything_is_a_clear_error():
    sampler = NegativeSampler(np.zeros(9, dtype=int), np.arange(9), 1, 10)
    with pytest.raises(InputError, match="all but 1 of 10 items"):
        sampler.draw_lists(np.array([0]), 2, np.random.default_rng(0))


def interactions(*rows):
    return pl.DataFrame(
        rows, schema={"user_id": pl.Int64, "item_id": pl.Int64, "time": pl.Int64}, orient="row"
    )


def pairs(table):
    return sorted(table.select("user_id", "item_id").rows())


def test_the_last_is_tested_the_one_before_validates():
    split = split_last(
        interactions((1, 10, 5), (1, 11, 9), (1, 12, 7), (1, 13, 1), (2, 20, 3), (2, 21, 2))
    )
    assert pairs(split.test) == [(1, 11), (2, 20)]
    assert pairs(split.validation) == [(1, 12)]
    assert pairs(split.train) == [(1, 10), (1, 13), (2, 21)]


def test_a_user_with_one_interaction_has_no_target():
    split = split_last(interactions((1, 10, 5), (2, 20, 1), (2, 21, 2)))
    assert pairs(split.test) == [(2, 21)]
    assert pairs(split.train) == [(1, 10), (2, 20)]


def test_equal_times_keep_the_order_of_the_rows():
    split = split_last(interactions((1, 10, 5), (1, 11, 5), (1, 12, 5)))
    assert pairs(split.test) == [(1, 12)]
    assert pairs(split.validation) == [(1, 11)]


def test_without_times_the_order_is_drawn_and_seeded():
    table = interactions(*((1, item, None) for item in range(50)))
    first = pairs(split_last(table, seed=0).test)
    assert first == pairs(split_last(table, seed=0).test)
    assert len({pairs(split_last(table, seed=s).test)[0] for s in range(10)}) > 5


def test_a_user_with_some_times_missing_gets_a_random_order():
    # were rows without a time always first, targets would always have one
    table = interactions(*((1, item, item if item < 10 else None) for item in range(20)))
    targets = {pairs(split_last(table, seed=seed).test)[0][1] for seed in range(30)}
    assert min(targets) < 10 <= max(targets)


def test_attributes_and_the_worse_served_group_may_be_text():
    options = WorldOptions(attributes="gender:2,age:3", worse_served="gender=0,age=2")
    assert options.attributes == {"gender": skewed(2, 0.5), "age": skewed(3, 0.5)}
    assert options.worse_served == {"gender": "0", "age": "2"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"worse_served": {"gendr": "F"}}, "Did you mean 'gender'"),
        ({"worse_served": {"gender": "X"}}, "No value of gender 'X'"),
        ({"strength": 2.0}, "invalid strength: expected a number from 0 to 1, got 2.0"),
        ({"n_users": 0}, "invalid n_users: expected a whole number from 1, got 0"),
        ({"n_items": 5, "n_categories": 6}, "an item for each of its 6 categories, and has 5"),
        ({"attributes": "age"}, "invalid attributes: expected name:number"),
        ({"attributes": [5]}, "invalid attributes: expected name:number.*, got 5"),
        ({"gap": "speed"}, "invalid gap: expected 'accuracy', 'diversity' or"),
    ],
)
def test_impossible_worlds_are_refused(options, said):
    with pytest.raises(FairRecError, match=said):
        WorldOptions(**options)
