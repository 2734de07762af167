"""A model outside FairRec: what it is asked for, and what it must say of itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from fairrec.core.arrays import AnyArray
from fairrec.scoring.models.call_options import CallOptions
from fairrec.scoring.models.feature_names import Feature

ScoringFunction = Callable[[AnyArray, AnyArray], Any]
"""User ids and item ids, one entry a pair -> one finite number per pair."""


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
    """A Python function of user ids and item ids.

    Parameters
    ----------
    function : takes two arrays of one length, whole numbers or text, and returns one finite
        number per pair
    concurrency : above 1 it is called in several threads at once
    name : names the function for a ledger
    """

    features: tuple[Feature, ...] = ()
    who = "The scoring function"

    def __init__(
        self,
        function: ScoringFunction,
        concurrency: int = CallOptions.concurrency,
        rows_per_call: int = CallOptions.rows_per_call,
        name: str = "",
    ) -> None:
        self._function = function
        self._name = name
        calls = CallOptions(concurrency, rows_per_call)
        self.concurrency, self.rows_per_call = calls.concurrency, calls.rows_per_call

    def open(self) -> None:
        """Nothing to reach."""

    def identity(self) -> str:
        """The name given; the empty text where there is none."""
        return self._name

    def bind(self, columns: Mapping[str, AnyArray]) -> tuple[ModelInput, ...]:
        """The two ids as they are."""
        return tuple(ModelInput(name, name, columns[name]) for name in ("user_id", "item_id"))

    def answer(self, inputs: Mapping[str, AnyArray]) -> Any:
        """What the function returns."""
        return self._function(inputs["user_id"], inputs["item_id"])

    def faults(self) -> dict[str, int]:
        """None: a function is never called again."""
        return {}

    def stop(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing to let go of."""
