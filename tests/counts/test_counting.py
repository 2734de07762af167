from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.core.version import __version__
from tests.counts.small_counts import counts_of, tables
from tests.grouped_options import group_options


def slow_counts(given, metric):
    """Every user by itself, in plain Python."""
    import fairrec

    users = fairrec.audit(**group_options(**given, permutations=0)).per_user
    found: dict[tuple, list[float]] = {}
    for row in users.iter_rows(named=True):
        key = (row["gender"], row["age"], row["country"], row[metric])
        n, total, squares = found.get(key, [0, 0.0, 0.0])
        value = row[metric] or 0.0
        found[key] = [n + 1, total + value, squares + value * value]
    return found


@pytest.mark.parametrize("metric", ["auc", "mrr@8"])
def test_users_are_counted_by_attributes_and_value(metric):
    given = tables()
    counts = counts_of(given)
    rows = counts.rows.filter(family="auc,ndcg@5,mrr@8")
    expected = slow_counts(given, metric)
    found: dict[tuple, list[float]] = {}
    for row in rows.iter_rows(named=True):
        total = row[metric]
        value = None if total is None else round(total / row["users"], 12)
        n, sums, squares = found.get(
            (key := (row["gender"], row["age"], row["country"], value)), [0, 0, 0]
        )
        found[key] = [n + row["users"], sums + (total or 0), squares + (row[f"{metric}^2"] or 0)]
    rounded = {
        (*key[:3], None if key[3] is None else round(key[3], 12)): numbers
        for key, numbers in expected.items()
    }
    assert found.keys() == rounded.keys()
    for key, numbers in rounded.items():
        assert found[key] == pytest.approx(numbers)


def test_what_an_audit_needs_is_told():
    counts = counts_of(tables(), part="europe")
    info = counts.info
    assert info.fairrec_version == __version__
    assert info.parts == ("europe",)
    assert info.by == ("gender", "age:20", "country")
    assert info.attributes["age"].binning == "width 20"
    assert info.attributes["gender"].kind == "text"
    assert info.metrics["auc"].higher_is_better is True
    # 15 of 580 users have no relevant item
    assert (info.metrics["auc"].n_expected, info.metrics["auc"].n_undefined) == (580, 15)
    assert info.n_candidates == 580 * 8


def test_what_stands_in_brackets_is_told():
    given = {**tables(), "metrics": "share@5[pay=high]"}
    given["items"] = pl.DataFrame({"item_id": range(8), "pay": ["high", "low"] * 4})
    assert counts_of(given).info.metrics["share@5[pay=high]"].called == "places for pay=high"


def test_ways_to_be_missing_are_counted_also_where_nobody_is():
    given = tables()
    predictions = given["predictions"]
    given["users"] = given["users"].filter(pl.col("user_id").is_in(predictions["user_id"].unique()))
    counts = counts_of(given)
    (name,) = [one for one in counts.info.missing if one.startswith("no list")]
    rows = counts.rows.filter(family=name)
    assert (rows["users"].sum(), rows["missing"].sum()) == (580, 0)


def test_users_without_predictions_are_counted_as_missing():
    counts = counts_of(tables())
    (name,) = [one for one in counts.info.missing if one.startswith("no list")]
    rows = counts.rows.filter(family=name)
    assert (rows["users"].sum(), rows["missing"].sum()) == (600, 20)
    assert rows["level"].unique().sort().to_list() == ["0", "1"]


def test_kinds_of_values_are_told():
    n = 40
    table = pl.DataFrame(
        {
            "user_id": np.arange(n),
            "code": np.arange(n) % 3,
            "old": np.arange(n) % 2 == 0,
            "size": np.arange(n) % 2 + 0.5,
            "hit": np.arange(n) % 2.0,
        }
    )
    counts = counts_of({"values": table, "by": "code,old,size", "metrics": "hit"})
    kinds = {name: about.kind for name, about in counts.info.attributes.items()}
    assert kinds == {"code": "whole number", "old": "true or false", "size": "number"}


def test_an_attribute_cannot_be_called_like_squares():
    given = tables()
    given["users"] = given["users"].rename({"gender": "auc^2"})
    with pytest.raises(InputError, match=r"Attribute 'auc\^2' has the name"):
        counts_of({**given, "by": "auc^2"})
