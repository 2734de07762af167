"""Where scores come from: a table that holds them, or a model that is asked for them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fairrec.core.errors import FairRecError, ScoringError, UnavailableError, list_some, plain
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.ids import gather_lists
from fairrec.scoring.features import NO_FEATURES, JoinedFeatures, as_array
from fairrec.scoring.model import Model, Stopped


class Scorer(Protocol):
    """Says what a model thinks of candidates. Asking may cost money."""

    def ask(self, lists: IntArray) -> FloatArray:
        """The scores of all candidates of these lists, one list after the other."""


class TableScorer:
    """Scores that came with the candidates."""

    def __init__(self, candidates: CandidateLists) -> None:
        self._candidates = candidates

    def ask(self, lists: IntArray) -> FloatArray:
        """The scores of all candidates of these lists, one list after the other."""
        return gather_lists(self._candidates.scores, self._candidates.offsets, lists)

    def identity(self) -> str:
        """The checksum of all scores; it takes a while where there are many."""
        return f"table {hashlib.sha256(self._candidates.scores.tobytes()).hexdigest()}"


class ModelScorer:
    """Scores from a model that is asked for pairs of user and item.

    Parameters
    ----------
    model : a function, an endpoint or a file
    candidates : their scores are not looked at
    user_ids : (n_lists,), the user of each list
    features : what the model is given beside the ids

    Attributes
    ----------
    inputs : what the model is given, one value for each user or item
    """

    def __init__(
        self,
        model: Model,
        candidates: CandidateLists,
        user_ids: pl.Series,
        features: JoinedFeatures = NO_FEATURES,
    ) -> None:
        self._model = model
        self._candidates = candidates
        self._user_ids = _ids_as_array(user_ids)
        per_user = {"user_id": self._user_ids, **features.per_user}
        per_item = {"item_id": _ids_as_array(candidates.item_ids), **features.per_item}
        self._of_user = frozenset(per_user)
        self.inputs = model.bind({**per_user, **per_item})

    def ask(self, lists: IntArray) -> FloatArray:
        """The scores of all candidates of these lists, one list after the other."""
        offsets = self._candidates.offsets
        batch = Batch(self._user_ids[lists], offsets[lists + 1] - offsets[lists])
        items = gather_lists(self._candidates.items, offsets, lists)
        # new arrays each time: a function may write into those it is given
        inputs = {
            one.name: (
                np.repeat(one.values[lists], batch.lengths)
                if one.column in self._of_user
                else one.values[items]
            )
            for one in self.inputs
        }
        who = self._model.who
        try:
            answer = self._model.answer(inputs)
        except Stopped:
            raise
        except (Exception, SystemExit) as error:
            kind = type(error) if isinstance(error, UnavailableError) else ScoringError
            reason = plain(error, 1000)
            if not isinstance(error, FairRecError):
                reason = f"{type(error).__name__}: {plain(error, 300)}"
            raise kind(f"{who} failed on {batch}: {reason}") from error
        return check_scores(answer, batch, who)


def _ids_as_array(ids: pl.Series) -> AnyArray:
    """Ids as NumPy integers, or as text objects."""
    if ids.dtype.is_integer():
        return ids.to_numpy()
    return np.array(ids.cast(pl.String).to_list(), dtype=object)


@dataclass(frozen=True, slots=True)
class Batch:
    """The users of one call, and how many candidates each has."""

    users: AnyArray
    lengths: IntArray

    def __str__(self) -> str:
        return f"{self._size} ({list_some(self.users.tolist())})"

    def name_users(self, is_concerned: BoolArray) -> str:
        """The users of some pairs, in words."""
        users = dict.fromkeys(np.repeat(self.users, self.lengths)[is_concerned].tolist())
        return f"user {list_some([*users])} (in {self._size})"

    @property
    def _size(self) -> str:
        return f"a batch of {len(self.users):,} user{'s' if len(self.users) != 1 else ''}"


def check_scores(answer: Any, batch: Batch, who: str) -> FloatArray:
    """One finite float per pair, or an error that names the users."""
    n_pairs = int(batch.lengths.sum())
    fix = "Return one finite number for each pair of user and item."
    try:
        scores = as_array(answer)
        shape = f"an array of shape {scores.shape}"
    except Exception as error:
        # ragged, or on another device
        scores, shape = np.empty(0), f"a {type(answer).__name__} ({plain(error, 300)})"
    if scores.shape != (n_pairs,):
        raise ScoringError(f"{who} returned {shape} for {n_pairs:,} pairs of {batch}. {fix}")
    if scores.dtype.kind not in "biuf":
        is_wrong = np.array([not isinstance(score, Real) for score in scores.tolist()], dtype=bool)
        _refuse(is_wrong, scores, batch, who, fix)
    with np.errstate(over="ignore"):
        numbers = scores.astype(np.float64, copy=False)
    fix = "Return finite numbers; a very low score keeps an item from being recommended."
    _refuse(~np.isfinite(numbers), numbers, batch, who, fix)
    return numbers


def _refuse(is_wrong: BoolArray, scores: AnyArray, batch: Batch, who: str, fix: str) -> None:
    if is_wrong.any():
        raise ScoringError(
            f"{who} returned {plain(scores[is_wrong].tolist()[0])} for {is_wrong.sum():,} of "
            f"{len(scores):,} pairs, of {batch.name_users(is_wrong)}. {fix}"
        )
