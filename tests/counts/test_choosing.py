from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.counts.selection import chosen
from tests.counts.small_counts import counts_of, tables


def test_what_is_not_named_is_added_up_over():
    counts = counts_of(tables())
    some = chosen(counts, ["gender"], [], None)
    assert some.keys == ["gender"]
    assert some.info.by == ("gender",)
    assert some.rows["users"].sum() == counts.rows["users"].sum()
    assert some.rows.height < counts.rows.height
    both = chosen(counts, ["age:20", "gender"], [], ["auc"])
    assert both.info.by == ("age:20", "gender")
    assert [*both.info.metrics] == ["auc"]
    assert "mrr@8" not in both.rows.columns
    assert all(one.metrics == ("auc",) for one in both.info.missing.values())


def test_an_attribute_may_become_a_circumstance():
    some = chosen(counts_of(tables()), ["gender"], ["age"], None)
    assert [*some.info.circumstances] == ["age"]
    assert some.info.given == ("age:20",)
    with pytest.raises(InputError, match="alike in it"):
        chosen(counts_of(tables()), ["gender"], ["gender"], None)


def test_metrics_are_found_in_any_case_and_without_their_cut_off():
    counts = counts_of(tables())
    assert [*chosen(counts, [], [], ["NDCG"]).info.metrics] == ["ndcg@5"]
    with pytest.raises(InputError, match="No metric is named"):
        chosen(counts, [], [], [])


def test_who_is_missing_cannot_be_told_by_a_circumstance():
    given = tables()
    counts = counts_of({**given, "by": "gender", "adjust_for": "country"})
    with pytest.raises(InputError, match=r"'country' was counted as a circumstance"):
        chosen(counts, ["gender", "country"], (), None)
    nobody = replace(counts, rows=counts.rows.filter(pl.col("missing").fill_null(0) == 0))
    assert chosen(nobody, ["gender", "country"], (), None).keys == ["gender", "country"]
