"""What a batch shows of a model, and what is made of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from fairrec.auditing.doctor import (
    FEW_USERS,
    MOST_USERS,
    SAME,
    ModelCheck,
    examine_lists,
    first_lists,
)
from fairrec.inputs.tables import Table
from fairrec.scoring.model import FunctionModel

SOUND = ModelCheck(
    n_users=2,
    n_pairs=4,
    inputs=(),
    seconds=(0.1, 0.1),
    lowest=0.0,
    highest=2.0,
    n_distinct=4,
    again=0.0,
    backwards=0.0,
    alone=0.0,
    faults={},
)


def table(lengths: list[int]) -> dict[str, Table]:
    frame = pl.DataFrame(
        {
            "user_id": [f"u{at}" for at in range(len(lengths))],
            "item_id": [list(range(length)) for length in lengths],
        },
        schema={"user_id": pl.String, "item_id": pl.List(pl.Int64)},
    )
    return {"predictions": Table(frame, "predictions", {})}


def examined(function, lengths: list[int]) -> ModelCheck:
    model, tables = FunctionModel(function), table(lengths)
    return examine_lists(model, tables, *first_lists(tables, 100))


@pytest.mark.parametrize(
    ("seen", "says"),
    [
        ({"n_distinct": 1}, "all scores are equal"),
        ({"again": 0.5, "backwards": 0.5, "alone": 0.5}, "other scores the second time"),
        ({"backwards": 0.5, "alone": 0.5}, "depend on the order of the pairs"),
        ({"alone": 0.5}, "depend on who is asked together"),
    ],
)
def test_one_problem_is_named_for_each_cause(seen, says):
    (problem,) = replace(SOUND, **seen).problems()
    assert says in problem


def test_rounding_is_no_problem():
    assert SOUND.problems() == ()
    rounded = dict.fromkeys(("again", "backwards", "alone"), SAME * 2.0)
    assert replace(SOUND, **rounded).problems() == ()
    assert len(replace(SOUND, again=SAME * 2.1).problems()) == 1
    # one pair has no order
    assert replace(SOUND, n_pairs=1, n_distinct=1).problems() == ()


def test_the_first_users_with_candidates_that_fit_into_a_call_are_asked_for():
    candidates, ids = first_lists(table([0, 3, 2, 0, 4, 1]), 6)
    assert ids.to_list() == ["u1", "u2"]
    assert candidates.offsets.tolist() == [0, 3, 5]
    # one at least, however long, and no more than a few dozen
    assert first_lists(table([9, 1]), 6)[1].to_list() == ["u0"]
    assert len(first_lists(table([1] * 50), 100)[1]) == MOST_USERS


def test_a_model_is_asked_twice_backwards_and_for_a_few_users_alone():
    asked = []

    def score(user_ids, item_ids):
        asked.append([*zip(user_ids, item_ids, strict=True)])
        return np.array([float(item) for item in item_ids])

    seen = examined(score, [2, 1, 1, 3])
    first, again, backwards, *alone = asked
    assert first == again == backwards[::-1]
    assert [pair for one in alone for pair in one] == first[:4]
    assert len(alone) == FEW_USERS
    assert (seen.n_users, seen.n_pairs, seen.n_distinct) == (4, 7, 3)
    assert (seen.lowest, seen.highest) == (0, 2)
    assert (seen.again, seen.backwards, seen.alone) == (0, 0, 0)
    assert min(seen.seconds) > 0


def test_differences_are_the_largest_of_any_pair():
    n_calls = 0

    def score(user_ids, item_ids):
        nonlocal n_calls
        n_calls += 1
        return np.arange(len(item_ids)) * float(n_calls)

    seen = examined(score, [2, 2])
    # 0 1 2 3; then 0 2 4 6; then 9 6 3 0 when read backwards; then 0 4 and 0 5
    assert (seen.again, seen.backwards, seen.alone) == (3, 9, 3)
