"""Scorers: what a function is given, and what it may not return."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.arrays import AnyArray
from fairrec.core.errors import FairRecError, ScoringError
from fairrec.inputs.candidates import CandidateLists
from fairrec.scoring.model import FunctionModel
from fairrec.scoring.scorer import ModelScorer, TableScorer
from fairrec.search.options import SearchOptions
from tests.scoring.small_candidates import candidates_of

CANDIDATES, USERS = candidates_of({"ann": [10, 20], "bob": [], "cat": [20], "dan": [30, 10, 20]})
ALL = np.arange(4)


def test_a_table_gives_the_scores_of_the_lists_in_the_order_asked():
    candidates = CandidateLists(
        np.array([0, 2, 2, 3]), np.zeros(3, np.int32), np.array([0.1, 0.2, 0.3]), None, USERS
    )
    scorer = TableScorer(candidates)
    assert scorer.ask(np.array([2, 1, 0, 2])).tolist() == [0.3, 0.1, 0.2, 0.3]
    assert scorer.ask(np.array([0, 1, 2])).tolist() == [0.1, 0.2, 0.3]
    assert scorer.ask(np.array([1])).tolist() == []


def test_scores_of_a_table_cannot_be_changed_through_what_is_returned():
    scores = np.array([0.1, 0.2])
    candidates = CandidateLists(np.array([0, 2]), np.zeros(2, np.int32), scores, None, USERS)
    with pytest.raises(ValueError, match="read-only"):
        TableScorer(candidates).ask(np.array([0]))[0] = 9
    scores[0] = 0.5  # the array itself is as writable as it was


def test_a_function_is_given_one_entry_a_pair_in_the_order_asked():
    seen: list[tuple[AnyArray, AnyArray]] = []

    def function(user_ids: AnyArray, item_ids: AnyArray) -> AnyArray:
        seen.append((user_ids, item_ids))
        return np.arange(len(user_ids))

    scores = ModelScorer(FunctionModel(function), CANDIDATES, USERS).ask(np.array([3, 1, 0]))
    ((users, items),) = seen
    assert users.tolist() == ["dan", "dan", "dan", "ann", "ann"]
    assert items.tolist() == [30, 10, 20, 10, 20]
    assert users.dtype == object
    assert items.dtype == np.int64
    assert scores.tolist() == [0, 1, 2, 3, 4]
    assert scores.dtype == np.float64


@pytest.mark.parametrize(
    ("ids", "seen_as"),
    [
        (pl.Series([1, 2], dtype=pl.UInt64), [1, 2]),
        (pl.Series([1, 2], dtype=pl.Int16), [1, 2]),
        (pl.Series(["1", "ü\n"]), ["1", "ü\n"]),
        (pl.Series(["a", "b"], dtype=pl.Categorical), ["a", "b"]),
    ],
    ids=lambda part: str(part)[:20],
)
def test_ids_are_whole_numbers_or_text(ids: pl.Series, seen_as: list[Any]):
    candidates = CandidateLists(np.array([0, 1, 2]), np.array([1, 0], np.int32), ALL, None, ids)
    seen: list[Any] = []

    def function(user_ids: AnyArray, item_ids: AnyArray) -> AnyArray:
        seen.extend([user_ids.tolist(), item_ids.tolist()])
        return np.zeros(2)

    ModelScorer(FunctionModel(function), candidates, ids).ask(np.array([0, 1]))
    assert seen == [seen_as, seen_as[::-1]]


def test_a_function_may_write_into_what_it_is_given():
    def function(user_ids: AnyArray, item_ids: AnyArray) -> AnyArray:
        scores = np.array(item_ids, dtype=float)
        user_ids[:] = None
        item_ids[:] = 0
        return scores

    scorer = ModelScorer(FunctionModel(function), CANDIDATES, USERS)
    for _ in range(2):
        assert scorer.ask(ALL).tolist() == [10, 20, 20, 30, 10, 20]


def test_a_failure_inside_names_the_users_and_keeps_the_cause():
    def function(user_ids: AnyArray, item_ids: AnyArray) -> AnyArray:
        raise LookupError("no\nembedding")

    with pytest.raises(ScoringError, match=re.escape("LookupError: no\\nembedding")) as caught:
        ModelScorer(FunctionModel(function), CANDIDATES, USERS).ask(np.array([2]))
    assert "a batch of 1 user ('cat')" in str(caught.value)
    assert isinstance(caught.value.__cause__, LookupError)
    assert isinstance(caught.value, FairRecError)
    assert isinstance(caught.value, RuntimeError)


def test_an_interrupt_is_no_failure_of_the_function():
    def function(user_ids: AnyArray, item_ids: AnyArray) -> AnyArray:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ModelScorer(FunctionModel(function), CANDIDATES, USERS).ask(ALL)


def test_scores_of_a_table_are_hashed_for_a_ledger_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    def audit(**options: Any) -> None:
        table = pl.DataFrame({"user_id": [1, 2], "item_id": [[1, 2]] * 2, "label": [[1, 0]] * 2})
        fairrec.audit(
            table.with_columns(score=pl.lit([0.5, 0.1])),
            users=pl.DataFrame({"user_id": [1, 2], "team": ["a", "b"]}),
            **{"by": "team", "metrics": "mrr@2", "permutations": 0, "min_support": 1, **options},
        )

    hashed: list[Any] = []
    folder_name = TableScorer.identity
    monkeypatch.setattr(TableScorer, "identity", lambda one: hashed.append(one) or folder_name(one))
    audit(search="exact")
    assert not hashed
    audit(search=SearchOptions("exact", ledger=tmp_path / "ledger.db"))
    assert len(hashed) == 1
