"""Ids of all kinds name the same user or item in every table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairrec.core.errors import InputError
from fairrec.inputs.ids import (
    encode,
    find_positions,
    gather_lists,
    ids_as_integers_or_text,
    list_bounds,
)
from tests.builders import audit, numbers_of, one_each, values_of


def _users(ids: Any, **columns: Any) -> pl.DataFrame:
    return pl.DataFrame({"user_id": ids, **(columns or {"group": ["x", "y"] * (len(ids) // 2)})})


@pytest.mark.parametrize(
    "ids",
    [
        [1, 2, 3, 4],
        [0, -1, -2, 5],
        [-(2**63), 2**63 - 1, 0, 1],
        [10**18, 10**18 + 1, 10**18 + 2, 10**18 + 3],
        ["a", "b", "c", "d"],
        ["1", "01", "001", "1.0"],
        ["a", "A", "a ", " a"],
        ["é", "e\u0301", "E", "e"],
        ["", "null", "None", "nan"],
        ["x" * 10_000, "x" * 9_999, "y", "z"],
        [True, False],
    ],
    ids=lambda ids: f"{str(ids[0])[:20]!r}...",
)
def test_ids_are_told_apart(ids: list[Any]):
    places = {user: place for place, user in enumerate(ids, start=1)}
    result = audit(one_each(places), _users(ids), "group")
    assert values_of(result, "mrr@5", ids) == [1 / place for place in places.values()]


def test_a_number_is_not_the_text_with_leading_zeros():
    with pytest.raises(InputError, match="user 7 not in"):
        audit(one_each({7: 1}), pl.DataFrame({"user_id": ["007"], "group": ["x"]}), "group")


@pytest.mark.parametrize(
    "written", [("1", "2"), ("1.0", "2.0"), ("1", "2.0"), ("1.000", "2"), ("1,0", "2,0")]
)
def test_whole_numbers_with_a_point_in_text_are_the_same_ids(written, tmp_path):
    predictions, users = one_each({1: 1, 2: 2}), _users([1, 2])
    expected = numbers_of(audit(predictions, users, "group"))
    as_text = users.with_columns(user_id=pl.Series(written))
    as_text.write_csv(tmp_path / "users.csv")
    for given_users in (as_text, tmp_path / "users.csv"):
        result = audit(predictions, given_users, "group")
        assert numbers_of(result) == expected
        assert result.per_user["user_id"].to_list() == (
            [1, 2] if isinstance(given_users, Path) else [*written]
        )
    floats = predictions.with_columns(pl.col("user_id", "item_id").cast(pl.Float64))
    floats.write_csv(tmp_path / "predictions.csv")
    assert "1.0" in (tmp_path / "predictions.csv").read_text()
    assert numbers_of(audit(tmp_path / "predictions.csv", as_text, "group")) == expected


@pytest.mark.parametrize(
    "ids",
    [
        ["1.0", "1"],
        ["1.0", "2.5"],
        ["1.0", "a"],
        ["1.0", "007.0"],
        ["1.0", "1."],
        ["1.0", "-0.0"],
        ["1.0", "9223372036854775808.0"],
        ["7", "007"],
        ["1e3", "2.0"],
        ["1,000", "2,000"],
    ],
    ids=str,
)
def test_ids_that_are_not_all_whole_stay_text(ids: list[str]):
    read = ids_as_integers_or_text(pl.Series(ids), "t")
    if ids == ["1.0", "1"]:
        assert read.to_list() == [1, 1]
    else:
        assert read.to_list() == ids


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.none(), min_size=1), st.booleans())
def test_whole_numbers_are_the_same_in_every_spelling(ids: list[int | None], has_point: bool):
    end = ".0" if has_point else ""
    text = pl.Series([None if one is None else f"{one}{end}" for one in ids], dtype=pl.String)
    assert ids_as_integers_or_text(text, "t").to_list() == ids


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1e30])
def test_floats_that_are_no_whole_number_are_refused_as_ids(bad: float):
    users = pl.DataFrame({"user_id": [1.0, bad], "group": ["x", "y"]})
    with pytest.raises(InputError, match=r"users table.*[Ii]ds"):
        audit(one_each({1: 1}), users, "group")


WHOLE = {pl.Int8: (-(2**7), 2**7 - 1), pl.Int16: (-(2**15), 2**15 - 1), pl.UInt8: (0, 2**8 - 1)}
WHOLE |= {pl.Int32: (-(2**31), 2**31 - 1), pl.Int64: (-(2**63), 2**63 - 1)}


@st.composite
def series_of_whole_numbers(draw: st.DrawFn) -> pl.Series:
    """Whole numbers of any width, close together or far apart."""
    kind = draw(st.sampled_from([*WHOLE]))
    low, high = WHOLE[kind]
    start = draw(st.integers(low, high))
    near = st.integers(max(low, start - 300), min(high, start + 300))
    numbers = draw(st.lists(near | st.integers(low, high), min_size=1, max_size=40))
    return pl.Series(numbers, dtype=kind)


@example(values=pl.Series([-100, -8, 46, 100], dtype=pl.Int8))
@example(values=pl.Series([-(2**15), -1, 2**15 - 1], dtype=pl.Int16))
@given(values=series_of_whole_numbers() | st.lists(st.text(max_size=3)).map(pl.Series))
def test_encoding_and_decoding_gives_the_values_back(values: pl.Series):
    values = values.cast(pl.String) if values.dtype == pl.Null else values
    codes, distinct = encode(values)
    assert distinct.gather(codes).to_list() == values.to_list()
    assert distinct.to_list() == sorted(set(values.to_list()))


@given(data=st.data())
def test_positions_are_those_of_a_dictionary(data: st.DataObject):
    keys = data.draw(series_of_whole_numbers()).unique()
    low, high = WHOLE[keys.dtype]
    values = data.draw(st.lists(st.sampled_from(keys.to_list()) | st.integers(low, high)))
    position = {key: at for at, key in enumerate(keys)}
    found = find_positions(pl.Series(values, dtype=keys.dtype), keys)
    assert found.tolist() == [position.get(value, -1) for value in values]


def test_floats_beyond_which_neighbours_are_one_are_refused():
    near = pl.Series([float(2**53), 1.0])
    assert ids_as_integers_or_text(near, "here").to_list() == [2**53, 1]
    with pytest.raises(InputError, match=r"here: ids are floats beyond 2\^53"):
        ids_as_integers_or_text(pl.Series([float(2**60), 1.0]), "here")


@given(lists=st.lists(st.lists(st.integers(0, 99), max_size=4), max_size=8), data=st.data())
def test_some_lists_are_one_after_the_other_as_in_a_loop(lists, data):
    chosen = data.draw(st.lists(st.integers(0, max(len(lists) - 1, 0)), max_size=9))
    chosen = chosen if lists else []
    flat = np.array([number for one in lists for number in one], dtype=np.int64)
    offsets = list_bounds(np.array([len(one) for one in lists], dtype=np.int64))
    taken = gather_lists(flat, offsets, np.array(chosen, dtype=np.int64))
    assert taken.tolist() == [number for at in chosen for number in lists[at]]
