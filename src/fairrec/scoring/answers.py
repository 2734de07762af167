"""What a model answers for a batch of users: one finite number per pair, or a clear error."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from fairrec.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fairrec.core.errors import ScoringError, plain, some_of


class Batch:
    """The users of one call, and how many candidates each has."""

    def __init__(self, users: AnyArray, lengths: IntArray) -> None:
        self.users = users
        self.lengths = lengths

    @property
    def n_pairs(self) -> int:
        """The number of pairs of user and item."""
        return int(self.lengths.sum())

    def all_users(self) -> str:
        """In words."""
        return f"a batch of {self._size()} ({some_of(self.users.tolist())})"

    def users_of(self, is_concerned: BoolArray) -> str:
        """The users of some pairs, in words."""
        of_pair = np.repeat(self.users, self.lengths)
        users = list(dict.fromkeys(of_pair[is_concerned].tolist()))
        return f"user {some_of(users)} (in a batch of {self._size()})"

    def _size(self) -> str:
        return f"{len(self.users):,} user{'s' if len(self.users) != 1 else ''}"


def as_array(answer: Any) -> AnyArray:
    """An answer as an array; numbers with a text among them stay numbers, masked ones are none.

    >>> as_array([0.5, "x"]).tolist()
    [0.5, 'x']
    """
    if isinstance(answer, np.ma.MaskedArray):
        # what lies under the mask is whatever was there
        return np.array(answer.tolist(), dtype=object)
    array = np.asarray(answer)
    if array.dtype.kind in "SU" and not isinstance(answer, np.ndarray):
        return np.asarray(answer, dtype=object)
    return array


def checked(answer: Any, batch: Batch, who: str) -> FloatArray:
    """One finite float per pair, or an error that names the users.

    Parameters
    ----------
    who : the model, as the subject of a sentence
    """
    n_pairs = batch.n_pairs
    remedy = "Return one number for each pair of user and item."
    try:
        scores = as_array(answer)
    except Exception as error:
        raise ScoringError(
            f"{who} returned a {type(answer).__name__} that is no array of numbers "
            f"({plain(error, 300)}) for {batch.all_users()}. {remedy}"
        ) from error
    if scores.shape != (n_pairs,):
        shape = f"{len(scores):,} scores" if scores.ndim == 1 else f"shape {scores.shape}"
        found = shape if scores.ndim else f"a single {type(answer).__name__}"
        raise ScoringError(
            f"{who} returned {found} for {n_pairs:,} pairs of {batch.all_users()}. {remedy}"
        )
    if scores.dtype.kind not in "biuf":
        is_wrong = np.array([not _is_number(score) for score in scores.tolist()], dtype=bool)
        if is_wrong.any():
            raise ScoringError(
                f"{who} returned what is no number, such as "
                f"{plain(repr(scores[is_wrong].tolist()[0]))}, for {batch.users_of(is_wrong)}. "
                f"{remedy}"
            )
    with np.errstate(over="ignore"):
        numbers = scores.astype(np.float64, copy=False)
    is_wide = scores.dtype.kind in "iuO" or scores.dtype.itemsize > numbers.itemsize
    if is_wide and len(np.unique(scores)) > len(np.unique(numbers)):
        raise ScoringError(
            f"{who} returned numbers of more digits than 64-bit floats have, so that some would "
            f"become equal, for {batch.all_users()}. Round or shift them."
        )
    is_wrong = ~np.isfinite(numbers)
    if is_wrong.any():
        raise ScoringError(
            f"{who} returned {numbers[is_wrong][0]} for {is_wrong.sum():,} of "
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
