"""Where scores come from: a table that holds them, or a model that is asked for them."""

from __future__ import annotations

import hashlib
from typing import Protocol

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray, FloatArray, IntArray
from fairrec.core.errors import FairRecError, ScoringError, UnavailableError, plain
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.ids import gather_lists
from fairrec.scoring.answers import Batch, checked
from fairrec.scoring.models.features import NO_FEATURES, JoinedFeatures
from fairrec.scoring.models.model import Model, Stopped


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

    Examples
    --------
    >>> from fairrec.scoring.models.model import FunctionModel
    >>> offsets, items = np.array([0, 2, 3]), np.array([0, 1, 1], dtype=np.int32)
    >>> candidates = CandidateLists(offsets, items, np.empty(0), None, pl.Series([10, 20]))
    >>> model = FunctionModel(lambda users, items: users + items)
    >>> scorer = ModelScorer(model, candidates, pl.Series([1, 2]))
    >>> scorer.ask(np.array([1, 0])).tolist()
    [22.0, 11.0, 21.0]
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
        self._user_ids = _as_array(user_ids)
        per_user = {"user_id": self._user_ids, **features.per_user}
        per_item = {"item_id": _as_array(candidates.item_ids), **features.per_item}
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
            raise kind(f"{who} failed on {batch.all_users()}: {_reason(error)}") from error
        return checked(answer, batch, who)


def _reason(error: BaseException) -> str:
    """Why a model failed; what is not of FairRec is named by its kind too."""
    if isinstance(error, FairRecError):
        return plain(error, 1000)
    return ": ".join(filter(None, (type(error).__name__, plain(error, 300))))


def _as_array(ids: pl.Series) -> AnyArray:
    """Ids as NumPy integers, or as text objects."""
    if ids.dtype.is_integer():
        return ids.to_numpy()
    return np.array(ids.cast(pl.String).to_list(), dtype=object)
