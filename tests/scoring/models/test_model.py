"""What a function is given as a model, and how often it may be called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.scoring.model import FunctionModel
from tests.scoring.http.served_world import CANDIDATES, N_USERS, USERS, in_process


def test_ids_reach_a_model_as_they_are_in_the_table(tmp_path: Path):
    seen: list[Any] = []

    def noted(user_ids: Any, item_ids: Any) -> list[float]:
        seen.append((user_ids[0], item_ids[0]))
        return [0.1 * (i % 7) for i in range(len(user_ids))]

    def ask(users: Any, candidates: Any) -> Any:
        fairrec.audit(
            candidates,
            users=users,
            by="gender",
            metrics="mrr",
            statistics=fairrec.Statistics(permutations=0),
            scorer=noted,
        )
        return seen[-1]

    users = USERS.with_columns(user_id=pl.Series(range(N_USERS)).cast(pl.String))
    numbers = CANDIDATES.with_columns(
        user_id=users["user_id"], item_id=pl.col("item_id").list.eval(pl.element().str.slice(1))
    )
    user, item = ask(users, numbers)
    assert (type(user), type(item)) == (str, str)
    whole = numbers.with_columns(
        pl.col("user_id").cast(pl.Int64), pl.col("item_id").cast(pl.List(pl.Int64))
    )
    user, item = ask(users.with_columns(pl.col("user_id").cast(pl.Int64)), whole)
    assert isinstance(user, np.int64)
    assert isinstance(item, np.int64)
    # CSV has no types: what looks like a number is one
    users.write_csv(tmp_path / "users.csv")
    numbers.explode("item_id", "label").write_csv(tmp_path / "candidates.csv")
    user, item = ask(tmp_path / "users.csv", tmp_path / "candidates.csv")
    assert isinstance(user, np.int64)
    assert isinstance(item, np.int64)


def test_a_text_item_is_still_found_in_a_table_of_numbers():
    items = pl.DataFrame({"item_id": range(40), "categories": [["a"], ["b"]] * 20})
    candidates = CANDIDATES.with_columns(
        item_id=pl.col("item_id").list.eval(pl.element().str.slice(1))
    )
    result = fairrec.audit(
        candidates, users=USERS, items=items, by="gender", metrics="urd", scorer=in_process
    )
    assert not [note for note in result.warnings if "no category" in note]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"concurrency": 0}, "invalid concurrency: .* got 0"),
        ({"concurrency": 257}, "invalid concurrency: .* got 257"),
        ({"rows_per_call": 0}, "invalid rows_per_call: .* got 0"),
        ({"rows_per_call": 1.5}, "invalid rows_per_call: .* got 1.5"),
    ],
)
def test_numbers_of_calls_that_cannot_be_are_refused(options: dict[str, Any], says: str):
    with pytest.raises(InputError, match=says):
        FunctionModel(in_process, **options)


def test_a_function_is_given_features_by_their_names():
    model = FunctionModel(
        lambda user_ids, item_ids, age: age + item_ids, name="f", features="users:age"
    )
    columns = {"user_id": np.array([1]), "item_id": np.array([2]), "age": np.array([30])}
    assert [one.name for one in model.bind(columns)] == ["user_id", "item_id", "age"]
    assert model.answer(columns).tolist() == [32]
    # scores under other features are those of another model, for a ledger
    assert model.identity() == "f users:age"
    assert FunctionModel(max, name="f").identity() == "f"
