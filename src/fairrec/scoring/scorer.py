"""Where scores come from: a table that holds them, or a function that is asked for them."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, Protocol

import numpy as np
import polars as pl

from fairrec.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fairrec.errors import ScoringError, plain, some_of
from fairrec.inputs.candidates import CandidateLists, gather_lists

ScoringFunction = Callable[[AnyArray, AnyArray], Any]
"""User ids and item ids, one entry a pair -> one finite number per pair."""


class Scorer(Protocol):
    """Says what a model thinks of candidates. Asking may cost money."""

    def scores(self, lists: IntArray) -> FloatArray:
        """The scores of all candidates of these lists, one list after the other."""


class TableScorer:
    """Scores that came with the candidates."""

    def __init__(self, candidates: CandidateLists) -> None:
        self._candidates = candidates

    def scores(self, lists: IntArray) -> FloatArray:
        """The scores of all candidates of these lists, one list after the other."""
        return gather_lists(self._candidates.scores, self._candidates.offsets, lists)


class CallableScorer:
    """Scores from a function of users and items.

    Parameters
    ----------
    function : takes two arrays of one length, user ids and item ids, whole numbers or text, and
        returns one finite number per pair
    candidates : their scores are not looked at
    user_ids : (n_lists,), the user of each list

    Examples
    --------
    >>> offsets, items = np.array([0, 2, 3]), np.array([0, 1, 1], dtype=np.int32)
    >>> candidates = CandidateLists(offsets, items, np.empty(0), None, pl.Series([10, 20]))
    >>> scorer = CallableScorer(lambda users, items: users + items, candidates, pl.Series([1, 2]))
    >>> scorer.scores(np.array([1, 0])).tolist()
    [22.0, 11.0, 21.0]
    """

    def __init__(
        self, function: ScoringFunction, candidates: CandidateLists, user_ids: pl.Series
    ) -> None:
        self._function = function
        self._candidates = candidates
        self._user_ids = _as_array(user_ids)
        self._item_ids = _as_array(candidates.item_ids)

    def scores(self, lists: IntArray) -> FloatArray:
        """The scores of all candidates of these lists, one list after the other."""
        offsets = self._candidates.offsets
        batch = _Batch(self._user_ids[lists], offsets[lists + 1] - offsets[lists])
        items = self._item_ids[gather_lists(self._candidates.items, offsets, lists)]
        try:
            answer = self._function(batch.user_of_pair(), items)
        except Exception as error:
            raise ScoringError(
                f"The scoring function failed on {batch.all_users()}: "
                f"{type(error).__name__}: {plain(error, 300)}"
            ) from error
        return _checked(answer, batch)


class _Batch:
    """The users of one call, and how many candidates each has."""

    def __init__(self, users: AnyArray, lengths: IntArray) -> None:
        self.users = users
        self.lengths = lengths

    def user_of_pair(self) -> AnyArray:
        """A new array each time: the function may write into the one it is given."""
        return np.repeat(self.users, self.lengths)

    def all_users(self) -> str:
        """In words."""
        return f"a batch of {self._size()} ({some_of(self.users.tolist())})"

    def users_of(self, is_concerned: BoolArray) -> str:
        """The users of some pairs, in words."""
        users = list(dict.fromkeys(self.user_of_pair()[is_concerned].tolist()))
        return f"user {some_of(users)} (in a batch of {self._size()})"

    def _size(self) -> str:
        return f"{len(self.users):,} user{'s' if len(self.users) != 1 else ''}"


def _checked(answer: Any, batch: _Batch) -> FloatArray:
    """One finite float per pair, or a clear error."""
    n_pairs = int(batch.lengths.sum())
    remedy = "Return one number for each pair of user and item."
    try:
        scores = np.asarray(answer)
    except Exception as error:
        raise ScoringError(
            f"The scoring function returned a {type(answer).__name__} that is no array of numbers "
            f"({plain(error, 300)}) for {batch.all_users()}. {remedy}"
        ) from error
    if scores.shape != (n_pairs,):
        shape = f"{len(scores):,} scores" if scores.ndim == 1 else f"shape {scores.shape}"
        found = shape if scores.ndim else f"a single {type(answer).__name__}"
        raise ScoringError(
            f"The scoring function returned {found} for {n_pairs:,} pairs of "
            f"{batch.all_users()}. {remedy}"
        )
    if scores.dtype.kind not in "biuf":
        is_wrong = np.array([not _is_number(score) for score in scores.tolist()], dtype=bool)
        if is_wrong.any():
            raise ScoringError(
                f"The scoring function returned what is no number, such as "
                f"{plain(repr(scores[is_wrong].tolist()[0]))}, for {batch.users_of(is_wrong)}. "
                f"{remedy}"
            )
    with np.errstate(over="ignore"):
        numbers = scores.astype(np.float64, copy=False)
    is_wrong = ~np.isfinite(numbers)
    if is_wrong.any():
        raise ScoringError(
            f"The scoring function returned {numbers[is_wrong][0]} for {is_wrong.sum():,} of "
            f"{n_pairs:,} pairs, of {batch.users_of(is_wrong)}. Return finite numbers; an item "
            "that must not be recommended can have a very low score."
        )
    return numbers


def _is_number(score: Any) -> bool:
    """Whether an object is a number and no larger than a float can be."""
    if not isinstance(score, Real):
        return False
    try:
        float(score)
    except OverflowError:
        return False
    return True


def _as_array(ids: pl.Series) -> AnyArray:
    """Ids as NumPy integers, or as text objects."""
    if ids.dtype.is_integer():
        return ids.to_numpy()
    return np.array(ids.cast(pl.String).to_list(), dtype=object)
