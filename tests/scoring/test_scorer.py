"""Scorers: what a function is given, what a model may answer, and EASE."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from fairrec.core.arrays import AnyArray, FloatArray
from fairrec.core.errors import FairRecError, ScoringError
from fairrec.scoring.ease import Ease
from fairrec.scoring.model import FunctionModel
from fairrec.scoring.scorer import Batch, ModelScorer, check_scores
from tests.scoring.small_candidates import candidates_of

CANDIDATES, USERS = candidates_of({"ann": [10, 20], "bob": [], "cat": [20], "dan": [30, 10, 20]})
ALL = np.arange(4)


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


ANSWERED = np.array(["ann", "bob", "cat", "dan"], dtype=object)
N_CANDIDATES = np.array([2, 0, 1, 3])
LISTS = [0, 1, 2, 3]


def scores_from(answer: Any, lists: list[int] = LISTS) -> FloatArray:
    """An answer for the candidates of some users."""
    return check_scores(answer, Batch(ANSWERED[lists], N_CANDIDATES[lists]), "The model")


def error_from(answer: Any) -> str:
    """What is said about an answer that is refused."""
    with pytest.raises(ScoringError) as caught:
        scores_from(answer)
    return str(caught.value)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (np.zeros((6, 1)), "an array of shape (6, 1) for 6 pairs"),
        (None, "an array of shape () for 6 pairs"),
        ([[1, 2], [3]], "a list (setting an array element"),
        (np.array(list("abcdef")), "a for 6 of 6 pairs, of user 'ann', 'cat', 'dan' (in a batch"),
        (np.ma.array(range(6), mask=[0, 0, 1, 0, 0, 0]), "None for 1 of 6 pairs, of user 'cat'"),
        ([1, 2, 3, 4, np.nan, 6], "nan for 1 of 6 pairs, of user 'dan' (in a batch of 4 users)"),
        ([1, -np.inf, np.nan, 4, 5, 6], "-inf for 2 of 6 pairs, of user 'ann', 'cat' (in a batch"),
        (np.full(6, 1e4, np.longdouble) ** 1000, "inf for 6 of 6 pairs"),
    ],
    ids=lambda part: str(part)[:20].replace("\n", " "),
)
def test_what_is_no_finite_number_a_pair_is_refused(answer: Any, says: str):
    message = error_from(answer)
    assert says in message
    assert "4 users" in message
    assert len(message.splitlines()) == 1


def test_weights_solve_the_penalised_regression_of_each_item_on_the_others():
    rng = np.random.default_rng(0)
    x = (rng.random((60, 6)) < 0.4).astype(float)
    users, items = np.nonzero(x)
    model = Ease.fit(users, items, 60, 6, penalty=5.0)
    for item in range(6):
        others = [i for i in range(6) if i != item]
        gram = x[:, others].T @ x[:, others] + 5.0 * np.eye(5)
        expected = np.linalg.solve(gram, x[:, others].T @ x[:, item])
        assert model.weights[others, item] == pytest.approx(expected, abs=1e-9)
        assert model.weights[item, item] == 0


def test_a_checkerboard_is_completed():
    # even users took even items, odd users odd ones; each misses one
    users, items = np.nonzero((np.add.outer(np.arange(40), np.arange(20)) % 2) == 0)
    missing = (users * 2 + users % 2) % 20 == items
    model = Ease.fit(users[~missing], items[~missing], 40, 20, penalty=1.0)
    user = np.arange(40)
    right = model.score(user, (user * 2 + user % 2) % 20)
    wrong = model.score(user, (user * 2 + 1 - user % 2) % 20)
    assert (right > wrong + 0.5).all()
