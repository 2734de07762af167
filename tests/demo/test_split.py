from __future__ import annotations

import polars as pl

from fairrec.demo.held_out import split_last


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


def test_a_user_with_one_interaction_has_no_target_and_is_counted():
    split = split_last(interactions((1, 10, 5), (2, 20, 1), (2, 21, 2)))
    assert split.n_too_short == 1
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
