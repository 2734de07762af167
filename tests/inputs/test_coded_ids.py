"""Ids of columns that hold each text once."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.inputs.ids import encode_ids

KINDS = (pl.Categorical, pl.Enum(["c", "b", "1.0", "a", "", "1", "2", "10"]))


@given(texts=st.lists(st.sampled_from(["a", "b", "c", "", "1", "2", "10", "1.0"])))
@pytest.mark.parametrize("kind", KINDS, ids=["categories", "a fixed list"])
def test_codes_and_keys_are_those_of_the_same_text(kind: Any, texts: list[str]):
    as_text = pl.Series("item_id", texts, pl.String)
    expected, expected_keys = encode_ids(as_text, "here")
    codes, keys = encode_ids(as_text.cast(kind), "here")
    assert codes.tolist() == expected.tolist()
    assert keys.to_list() == expected_keys.to_list()
    if texts:
        assert keys.dtype == expected_keys.dtype


def test_whole_numbers_as_text_are_whole_numbers():
    codes, keys = encode_ids(pl.Series(["10", "9", "1.0", "1"], dtype=pl.Categorical), "here")
    assert keys.to_list() == [1, 9, 10]
    assert codes.tolist() == [2, 1, 0, 0]


def test_no_text_is_made_of_rows_that_have_numbers(monkeypatch):
    n_rows = []
    real = encode_ids.__globals__["ids_as_integers_or_text"]

    def counted(ids: pl.Series, where: str) -> pl.Series:
        n_rows.append(len(ids))
        return real(ids, where)

    monkeypatch.setitem(encode_ids.__globals__, "ids_as_integers_or_text", counted)
    encode_ids(pl.Series(["b", "a"] * 500, dtype=pl.Categorical), "here")
    assert n_rows == [2]
