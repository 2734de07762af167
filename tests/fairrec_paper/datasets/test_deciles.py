from __future__ import annotations

import polars as pl

from fairrec_paper.datasets.bundle import behaviour_deciles, decile


def test_equal_values_share_a_decile():
    values = pl.DataFrame({"value": [1, 9, 1, 5]})
    # smaller values: 0, 3, 0 and 2 of 4
    expected = [10 * 0 // 4, 10 * 3 // 4, 10 * 0 // 4, 10 * 2 // 4]
    assert values.select(decile("value"))["value"].to_list() == expected


def test_ten_different_values_fill_ten_deciles():
    values = pl.DataFrame({"value": [3.5 * number for number in range(10)]})
    assert values.select(decile("value"))["value"].to_list() == list(range(10))


def test_behaviour_is_measured_on_training_interactions_only():
    rows = [
        # the last two of u1, the dearest, are targets
        *[("u1", 1, 5.0, 10.0), ("u1", 2, 1.0, 1.0), ("u1", 3, 99.0, 99.0), ("u1", 4, 99.0, 99.0)],
        # two interactions: the last is a target
        *[("u2", 1, 7.0, 7.0), ("u2", 2, 99.0, 99.0)],
        ("u3", 1, 2.0, 2.0),
    ]
    interactions = pl.DataFrame(
        {"user_id": [row[0] for row in rows], "time": [row[1] for row in rows]}
        | {"price": [row[2] for row in rows], "amount": [row[3] for row in rows]}
    )
    # activity 2, 1, 1; spend 11, 7, 2; top price 5, 7, 2
    assert behaviour_deciles(interactions, amount="amount").rows() == [
        ("u1", 10 * 2 // 3, 10 * 2 // 3, 10 * 1 // 3),
        ("u2", 0, 10 * 1 // 3, 10 * 2 // 3),
        ("u3", 0, 0, 0),
    ]


def test_sums_of_decimals_that_are_equal_share_a_decile():
    interactions = pl.DataFrame(
        {
            "user_id": ["u1"] * 4 + ["u2"] * 3,
            "time": [1, 2, 3, 4, 1, 2, 3],
            "price": [0.1, 0.2, 1.0, 1.0, 0.3, 1.0, 1.0],
        }
    )
    assert 0.1 + 0.2 != 0.3
    assert behaviour_deciles(interactions, amount="price")["spend"].to_list() == [0, 0]
