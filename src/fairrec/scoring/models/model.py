"""A model outside FairRec: what it is asked for, and what it must say of itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from fairrec.core.arrays import AnyArray
from fairrec.scoring.models.call_options import CallOptions
from fairrec.scoring.models.feature_names import IDS, Feature, parse_features

ScoringFunction = Callable[..., Any]
"""User ids and item ids, one entry a pair, and features by name -> one finite number per pair."""


@dataclass(frozen=True, slots=True)
class ModelInput:
    """One input of a model and where its values come from.

    Parameters
    ----------
    name : as the model calls it
    column : `user_id`, `item_id` or the name of a feature
    values : one for each user or item, of the type the model takes
    """

    name: str
    column: str
    values: AnyArray = field(repr=False)


class Stopped(Exception):  # noqa: N818 - an ending, not an error
    """The model was told to give up waiting."""


@runtime_checkable
class Model(Protocol):
    """Asked for the scores of pairs. Asking may cost money.

    Attributes
    ----------
    features : columns it is given beside the ids
    concurrency : calls that may be under way at once, each in a thread of its own
    rows_per_call : the most pairs in one call
    who : the model as the subject of a sentence
    """

    features: tuple[Feature, ...]
    concurrency: int
    rows_per_call: int
    who: str

    def open(self) -> None:
        """Reach the model; what cannot work is an error now, before anything is paid for."""

    def identity(self) -> str:
        """Names the model and its version, so that a ledger is never used for another."""

    def bind(self, columns: Mapping[str, AnyArray]) -> tuple[ModelInput, ...]:
        """The inputs it takes, from the columns there are: one value for each user or item."""

    def answer(self, inputs: Mapping[str, AnyArray]) -> Any:
        """One number per pair, from one value per pair for each input."""

    def faults(self) -> dict[str, int]:
        """What went wrong and was tried again, by kind."""

    def stop(self) -> None:
        """Try nothing again; calls that wait for another attempt raise `Stopped`."""

    def close(self) -> None:
        """Let go of connections."""


class FunctionModel:
    """A Python function of user ids and item ids, and of features where it is given any.

    Parameters
    ----------
    function : takes two arrays of one length, whole numbers or text, and returns one finite
        number per pair
    concurrency : above 1 it is called in several threads at once
    name : names the function for a ledger
    features : columns it is given beside the ids, by their names: `users:age` as `age=`
    """

    who = "The scoring function"

    def __init__(
        self,
        function: ScoringFunction,
        concurrency: int = CallOptions.concurrency,
        rows_per_call: int = CallOptions.rows_per_call,
        name: str = "",
        features: str | Sequence[str] | None = None,
    ) -> None:
        self._function = function
        self._name = name
        calls = CallOptions(concurrency, rows_per_call, features)
        self.features: tuple[Feature, ...] = parse_features(calls.features)
        self.concurrency, self.rows_per_call = calls.concurrency, calls.rows_per_call

    def open(self) -> None:
        """Nothing to reach."""

    def identity(self) -> str:
        """The name given, and with what it is called; the empty text where there is no name."""
        given = [f"{one.table}:{one.column}" for one in self.features] if self._name else []
        return " ".join([self._name, *given])

    def bind(self, columns: Mapping[str, AnyArray]) -> tuple[ModelInput, ...]:
        """The two ids and the features as they are."""
        names = (*IDS, *(one.column for one in self.features))
        return tuple(ModelInput(name, name, columns[name]) for name in names)

    def answer(self, inputs: Mapping[str, AnyArray]) -> Any:
        """What the function returns."""
        given = {one.column: inputs[one.column] for one in self.features}
        return self._function(inputs["user_id"], inputs["item_id"], **given)

    def faults(self) -> dict[str, int]:
        """None: a function is never called again."""
        return {}

    def stop(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing to let go of."""
