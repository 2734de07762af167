"""A float of 32 or 16 bits is the number that its shortest decimal shows: 0.7, not 0.69999999."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairrec
from fairrec.counts.merging import merged
from fairrec.inputs.candidates import read_candidates
from fairrec.inputs.frames import widen_floats
from fairrec.inputs.tables import Table
from tests.builders import audit, numbers_of, one_each, values_of
from tests.grouped_options import group_options

TENTHS = [tenth / 10 for tenth in range(1, 10)]
USERS = [f"u{user}" for user in range(9)]

HOLDS = {
    "polars float32": lambda frame, types: frame.cast(dict.fromkeys(types, pl.Float32)),
    "pandas float32": lambda frame, types: frame.to_pandas().astype(dict.fromkeys(types, "f4")),
    "pandas float16": lambda frame, types: frame.to_pandas().astype(dict.fromkeys(types, "f2")),
    "pandas objects": lambda frame, types: frame.to_pandas().assign(
        **{name: pd.Series([*frame[name].to_numpy().astype("f4")], dtype=object) for name in types}
    ),
    "arrow halffloat": lambda frame, types: pa.table(
        {
            name: pa.array(frame[name].to_numpy().astype("f2"))
            if name in types
            else frame[name].to_arrow()
            for name in frame.columns
        }
    ),
}


@pytest.fixture(params=HOLDS)
def narrow(request: pytest.FixtureRequest) -> Any:
    return HOLDS[request.param]


@pytest.mark.parametrize("by", ["g", "g:0.1", "g:0.3|0.7", "g:q3"])
def test_attributes_have_the_groups_of_wide_floats(by: str, narrow: Any):
    predictions = one_each({user: at % 3 + 1 for at, user in enumerate(USERS)})
    users = pl.DataFrame({"user_id": USERS, "g": TENTHS})
    expected = audit(predictions, users, by)
    found = audit(predictions, narrow(users, ["g"]), by)
    assert found.per_user["g"].to_list() == expected.per_user["g"].to_list()
    assert numbers_of(found) == numbers_of(expected)


@pytest.mark.parametrize("column", ["label", "rating"])
def test_thresholds_are_met_by_what_is_shown(column: str, narrow: Any):
    rows = [
        (user, item, -item, TENTHS[(at + item) % 9])
        for at, user in enumerate(USERS)
        for item in range(9)
    ]
    table = pl.DataFrame(rows, schema=["user_id", "item_id", "score", column], orient="row")
    users = pl.DataFrame({"user_id": USERS, "g": ["a", "b", "c"] * 3})
    relevant = f"{column}>=0.7"
    if column == "label":
        found = audit(narrow(table, [column]), users, "g", relevant=relevant, metrics="mrr@9")
    else:
        recs = table.drop(column)
        found = audit(
            recs, users, "g", test=narrow(table, [column]), relevant=relevant, metrics="mrr@9"
        )
    # each user has 0.7, 0.8 and 0.9 once
    first = [next(item for item in range(9) if (at + item) % 9 >= 6) for at in range(9)]
    assert values_of(found, "mrr@9", USERS) == [1 / (place + 1) for place in first]


def test_gains_and_values_are_those_of_wide_floats(narrow: Any):
    predictions = one_each(dict.fromkeys(USERS, 1)).with_columns(label=pl.Series(TENTHS * 4))
    users = pl.DataFrame({"user_id": USERS, "g": ["a", "b", "c"] * 3})
    expected = audit(predictions, users, "g", metrics="ndcg@2")
    found = audit(narrow(predictions, ["label"]), users, "g", metrics="ndcg@2")
    assert numbers_of(found) == numbers_of(expected)
    values = pl.DataFrame({"user_id": USERS, "watch": TENTHS})
    options = {"metrics": "watch", "permutations": 39, "min_support": 1}
    results = [
        fairrec.audit(**group_options(values=held, users=users, by="g", **options))
        for held in (values, narrow(values, ["watch"]))
    ]
    assert numbers_of(results[0]) == numbers_of(results[1])


def test_lists_hold_what_is_shown():
    lists = {"user_id": ["a"], "item_id": [[1, 2, 3]], "score": [[0.3, 0.2, 0.1]]}
    wide = pl.DataFrame({**lists, "label": [[0.7, 0.6, 0.1]]})
    for kind in (pl.List(pl.Float32), pl.Array(pl.Float32, 3), pl.List(pl.Float16)):
        table = Table(wide.with_columns(pl.col("label").cast(kind)), "predictions")
        assert table.read({"label": "label"})["label"].to_list() == [[0.7, 0.6, 0.1]]


def test_scores_keep_their_exact_values():
    scores = np.array([0.7, 0.6], dtype=np.float32)
    table = pl.DataFrame({"user_id": ["a", "a"], "item_id": [1, 2], "score": scores})
    lists = read_candidates(Table(table, "predictions"), pl.Series(["a"]), "users", False)[0]
    assert lists.scores.tolist() == scores.astype(float).tolist()


@given(
    st.one_of(
        st.lists(numbers, min_size=1)
        for numbers in (
            st.floats(width=32),
            *(st.integers(-9999, 9999).map(lambda n, d=d: n / d) for d in (1, 10, 100, 10_000)),
        )
    ),
    st.sampled_from([pl.Float32, pl.Float16]),
)
def test_numbers_are_those_that_numpy_shows(values: list[float], kind: Any):
    narrow = pl.Series(values).cast(kind)
    expected = [float(str(one)) for one in narrow.to_numpy()]
    np.testing.assert_array_equal(widen_floats(narrow).to_numpy(), expected)
    lists = widen_floats(pl.Series([narrow, narrow], dtype=pl.List(kind)))
    np.testing.assert_array_equal(lists.explode().to_numpy(), expected * 2)
    gap = widen_floats(pl.concat([narrow, pl.Series([None], dtype=kind)]))
    assert gap.null_count() == 1


def test_parts_of_different_width_count_as_the_same_groups(tmp_path: Path):
    predictions = one_each({user: at % 3 + 1 for at, user in enumerate(USERS)})
    users = pl.DataFrame({"user_id": USERS, "g": [0.7, 0.1, 0.3] * 3})
    whole = fairrec.count(predictions, users=users, by="g", metrics="mrr")
    parts = []
    for kind, is_in in ((pl.Float32, slice(0, 4)), (pl.Float64, slice(4, 9))):
        some = users[is_in].with_columns(pl.col("g").cast(kind))
        mine = predictions.filter(pl.col("user_id").is_in(some["user_id"].to_list()))
        parts.append(fairrec.count(mine, users=some, by="g", metrics="mrr"))
    assert merged(parts, disjoint=True).rows.equals(whole.rows)


def test_ids_beyond_what_a_narrow_float_tells_apart_are_refused():
    users = pl.DataFrame({"user_id": pl.Series([2.0**24 + 2, 1.0], dtype=pl.Float32), "g": "a"})
    with pytest.raises(fairrec.FairRecError, match=r"ids are floats beyond 2\^24 \(such as"):
        audit(one_each({1: 1}), users, "g")
