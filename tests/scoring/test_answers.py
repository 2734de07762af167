"""What a model may answer, and what is said of anything else."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

from fairrec.core.arrays import FloatArray
from fairrec.core.errors import ScoringError
from fairrec.scoring.scorer import Batch, check_scores

USERS = np.array(["ann", "bob", "cat", "dan"], dtype=object)
LENGTHS = np.array([2, 0, 1, 3])
ALL = [0, 1, 2, 3]


def scores_from(answer: Any, lists: list[int] = ALL) -> FloatArray:
    """An answer for the candidates of some users."""
    return check_scores(answer, Batch(USERS[lists], LENGTHS[lists]), "The model")


def error_from(answer: Any) -> str:
    """What is said about an answer that is refused."""
    with pytest.raises(ScoringError) as caught:
        scores_from(answer)
    return str(caught.value)


@pytest.mark.parametrize(
    "answer",
    [
        [0, 1, 2],
        (0.0, 1.0, 2.0),
        pl.Series([0, 1, 2]),
        np.array([0, 1, 2], dtype=np.float16),
        np.array([0, 1, 2], dtype=np.uint8),
        np.array([Fraction(0), 1, 2.0], dtype=object),
    ],
    ids=lambda answer: type(answer).__name__,
)
def test_any_array_of_numbers_will_do(answer: Any):
    scores = scores_from(answer, [0, 2])
    assert scores.dtype == np.float64
    assert scores.tolist() == [0, 1, 2]


def test_too_few_scores_are_refused():
    message = error_from(np.zeros(5))
    assert "5 scores for 6 pairs of a batch of 4 users ('ann', 'bob', 'cat' and 1 more)" in message
    assert "one number for each pair" in message


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (np.zeros((6, 1)), "shape (6, 1) for 6 pairs"),
        (None, "a single NoneType for 6 pairs"),
        (0.5, "a single float for 6 pairs"),
        ("high", "a single str for 6 pairs"),
        ([[1, 2], [3]], "a list that is no array of numbers"),
        (np.array(list("abcdef")), "no number, such as 'a', for user 'ann', 'cat', 'dan' (in a"),
        ([1, 2, None, 4, 5, 6], "no number, such as None, for user 'cat' (in a batch of 4 users)"),
        (np.ma.array(range(6), mask=[0, 0, 1, 0, 0, 0]), "no number, such as None, for user 'cat'"),
        ([1, 2, 3, 1j, 5, 6], "no number, such as (1+0j), for user 'ann'"),
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
