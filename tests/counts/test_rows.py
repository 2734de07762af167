from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.counts.foreign import with_info
from fairrec.counts.rows import counted_users
from fairrec.counts.table import Counts
from tests.counts.small_counts import counts_of, tables


def made(rows):
    return with_info(Counts(pl.DataFrame(rows), None), {})


def test_families_share_rows_and_keep_their_own_users():
    counts = made(
        {
            "family": ["hit@5"] * 3 + ["mrr@5"] * 2,
            "gender": ["F", "F", "M", "F", "M"],
            "level": ["0", "1", "1", "a", "b"],
            "users": [2, 3, 4, 5, 4],
            "hit@5": [0.0, 3.0, 4.0, None, None],
            "hit@5^2": [0.0, 3.0, 4.0, None, None],
            "mrr@5": [None, None, None, 2.5, 1.0],
            "mrr@5^2": [None, None, None, 1.5, 0.25],
        }
    )
    found = counted_users(counts)
    measured = found.measured
    # two levels of hits of women and one of men
    assert measured.values.shape == (2, 3)
    assert found.n_users.sum() == 9
    assert measured.alike.n.sum(axis=1).tolist() == [9, 9]
    assert measured.column(0).mean == pytest.approx(7 / 9)
    assert measured.column(1).mean == pytest.approx(3.5 / 9)
    assert found.attributes[0].values == ("F", "M")
    # users of a level with different values keep the squares around their mean
    assert measured.alike.inner[1].sum() == pytest.approx(1.5 - 2.5**2 / 5)
    assert measured.alike.inner[0].sum() == 0


def test_families_of_other_users_are_refused():
    counts = made(
        {
            "family": ["hit@5", "mrr@5"],
            "gender": ["F", "F"],
            "level": ["1", "1"],
            "users": [2, 3],
            "hit@5": [2.0, None],
            "hit@5^2": [2.0, None],
            "mrr@5": [None, 3.0],
            "mrr@5^2": [None, 3.0],
        }
    )
    with pytest.raises(InputError, match="2 users of gender=F for 'hit@5' and 3 for 'mrr@5'"):
        counted_users(counts)


def test_a_family_without_rows_is_refused():
    counts = counts_of(tables())
    empty = replace(counts, rows=counts.rows.filter(pl.col("family") != "auc,ndcg@5,mrr@8"))
    with pytest.raises(InputError, match="no rows of the family"):
        counted_users(empty)


def test_values_have_their_own_order_and_kind():
    counts = counts_of(tables())
    gender, age, country = counted_users(counts).attributes
    assert gender.values == ("F", "M")
    assert age.values == ("0-19", "20-39", "40-59", "60-79")
    assert country.values == ("a", "b", "c", "(missing)")
    assert country.n_missing > 0
    assert "is missing for" in country.warnings[0]
    numbers = made(
        {
            "family": ["hit@5"] * 3,
            "code": [10, 9, None],
            "level": ["1"] * 3,
            "users": [1, 1, 1],
            "hit@5": [1.0] * 3,
            "hit@5^2": [1.0] * 3,
        }
    )
    assert counted_users(numbers).attributes[0].values == (9, 10, "(missing)")


def test_users_of_one_value_have_it_to_the_last_digit():
    n = 1001
    sums = np.array([np.add.reduce([0.1] * n), np.add.reduce([0.1] * 7)])
    counts = made(
        {
            "family": ["mrr@20"] * 2,
            "gender": ["F", "M"],
            "level": ["x", "x"],
            "users": [n, 7],
            "mrr@20": sums,
            "mrr@20^2": [np.add.reduce([0.1 * 0.1] * n), np.add.reduce([0.1 * 0.1] * 7)],
        }
    )
    values = counted_users(counts).measured.values[0]
    assert values[0] == values[1] == pytest.approx(0.1)


def test_outcomes_are_those_with_somebody_missing():
    found = counted_users(counts_of(tables()))
    kinds = {(one.kind, one.metrics) for one in found.outcomes}
    every = ("auc", "ndcg@5", "mrr@8")
    assert kinds == {("no list", every), ("no relevant item", every)}


def test_families_with_other_users_of_a_combination_are_refused():
    counts = counts_of({**tables(n_positive=3), "metrics": "auc,coverage@3"})
    is_one = (pl.col("family") == "auc") & (pl.col("gender") == "F")
    swapped = pl.when(is_one).then(pl.lit("M")).otherwise(pl.col("gender")).alias("gender")
    with pytest.raises(InputError, match=r"users of gender=F.* for 'auc' and .* for 'coverage@3'"):
        counted_users(replace(counts, rows=counts.rows.with_columns(swapped)).summed())


def test_users_without_any_of_several_values_are_told_once():
    users = pl.DataFrame({"user_id": range(3), "lang": ["en", "fr", None], "x": [0.0, 1.0, 1.0]})
    counted = counted_users(counts_of({"values": users, "by": "lang:each"}))
    assert [len(one.warnings) for one in counted.attributes] == [1, 0]
    assert [one.n_missing for one in counted.attributes] == [1, 1]
