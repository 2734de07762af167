"""The protocol of models; models that are Python functions or trained runs."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast, runtime_checkable

from fairrec.core.arrays import AnyArray, FloatArray
from fairrec.core.errors import InputError, plain, unknown_name
from fairrec.core.files import file_sum
from fairrec.core.options import invalid, spell
from fairrec.scoring.options import IDS, CallOptions, Feature, parse_features

if TYPE_CHECKING:
    import polars as pl

    from fairrec.core.progress import Progress
    from fairrec.inputs.audit_inputs import AuditInputs

SIGNAL_SECONDS = 0.5
"""Waits are cut into such steps: a signal may reach another thread, which wakes none that waits."""
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
    """Waiting was ended from outside."""


@runtime_checkable
class Model(Protocol):
    """Gives scores of pairs, which may cost money.

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

    def identity(self) -> str:
        """Names the model and its version, so that a ledger is never used for another."""

    def bind(self, columns: Mapping[str, AnyArray]) -> tuple[ModelInput, ...]:
        """The inputs it takes, from the columns there are: one value for each user or item."""

    def answer(self, inputs: Mapping[str, AnyArray]) -> Any:
        """One number per pair, from one value per pair for each input."""

    def open(self) -> None:
        """Reach the model; what cannot work is an error now, before anything is paid for."""
        return

    def faults(self) -> dict[str, int]:
        """What went wrong and was tried again, by kind."""
        return {}

    def end_at(self, moment: float) -> None:
        """Try nothing again after a moment of `time.monotonic`."""
        return

    def stop(self) -> None:
        """Try nothing again; calls that wait for another attempt raise `Stopped`."""
        return

    def close(self) -> None:
        """Let go of connections."""
        return


class FunctionModel(Model):
    """A Python function of user ids and item ids, and of features where it is given any.

    Parameters
    ----------
    function : takes two arrays of one length, whole numbers or text, and returns one finite
        number per pair; features are given by their names, `users:age` as `age=`
    name : names the function for a ledger
    concurrency, rows_per_call, features : see CallOptions
    """

    who = "The scoring function"

    def __init__(self, function: ScoringFunction, name: str = "", **options: Any) -> None:
        self._function, self._name = function, name
        calls = CallOptions(**options)
        self.features: tuple[Feature, ...] = parse_features(calls.features)
        self.concurrency, self.rows_per_call = calls.concurrency, calls.rows_per_call

    def identity(self) -> str:
        """The name given, and with what it is called; the empty text where there is no name."""
        return " ".join([self._name, *(map(str, self.features) if self._name else ())])

    def bind(self, columns: Mapping[str, AnyArray]) -> tuple[ModelInput, ...]:
        """The two ids and the features as they are."""
        names = (*IDS, *(one.column for one in self.features))
        return tuple(ModelInput(name, name, columns[name]) for name in names)

    def answer(self, inputs: Mapping[str, AnyArray]) -> Any:
        """What the function returns."""
        given = {one.column: inputs[one.column] for one in self.features}
        return self._function(inputs["user_id"], inputs["item_id"], **given)


def load_function(text: str, features: Sequence[str] = ()) -> tuple[ScoringFunction, str]:
    """The function that `package.module:function` names, and a name for its ledger.

    The module is looked for from the current folder first. The name holds the checksum of its
    file, so that a ledger is not used after the file was changed.

    >>> load_function("hypot")
    Traceback (most recent call last):
    fairrec.core.errors.InputError: invalid scorer: expected package.module:function, got 'hypot'
    """
    module_name, _, path = (part.strip() for part in text.partition(":"))
    if not (module_name and path):
        raise invalid("scorer", "package.module:function", text)
    where = f"{spell('scorer')} {plain(text)}"
    module: Any = _import_module(module_name, where)
    found = module
    for name in path.split("."):
        if not hasattr(found, name):
            known = [one for one in vars(found) if not one.startswith("_")]
            error = unknown_name(f"name in {plain(module_name)}", name, known)
            raise InputError(f"{where}: {error}")
        found = getattr(found, name)
    try:
        inspect.signature(found).bind("user_ids", "item_ids", **dict.fromkeys(features))
    except TypeError as error:
        called = ", ".join(["user_ids", "item_ids", *(f"{plain(name)}=" for name in features)])
        raise InputError(
            f"{where}: cannot be called as score({called}), which returns one number for each "
            f"pair: {plain(error, 200)}."
        ) from error
    except ValueError:
        # some built-in functions have no signature
        pass
    file = Path(getattr(module, "__file__", None) or "")
    return found, f"scorer {text.strip()}{f' of file {file_sum(file)}' if file.is_file() else ''}"


def _import_module(name: str, where: str) -> Any:
    sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        how = f"{spell('debug')} shows where."
        if isinstance(error, ModuleNotFoundError):
            how = f"Set PYTHONPATH; the current folder is {plain(Path.cwd(), 200)}."
        raise InputError(
            f"{where}: {plain(name)} cannot be imported: {type(error).__name__}: "
            f"{plain(error, 300)}. {how}"
        ) from error
    finally:
        sys.path.remove("")


Target = Literal["test", "validation"]


@runtime_checkable
class Run(Protocol):
    """A trained run: the lists it was made to rank, and the model that ranks them."""

    folder: Path
    file: Path
    """Where its test candidates are."""

    def tables(self) -> dict[str, Any]:
        """What an audit needs beside predictions: users, items, history and attributes."""

    def candidates(self, target: Target = "test") -> pl.DataFrame:
        """`user_id`, `item_id`, `label`, one row a user, to be scored."""

    def predictions(self, target: Target = "test") -> pl.DataFrame:
        """The candidates with their scores, one row a candidate."""

    def scored(self, inputs: AuditInputs, progress: Progress) -> AuditInputs:
        """The same inputs with the scores of their candidates."""

    def model(self, with_attributes: bool = True) -> Model:
        """The model to ask, where asked for with other attributes of users than in training."""


def load_run(folder: Path) -> Run:
    """The trained run in a folder, loaded by a package with an entry point `fairrec.runs`."""
    found = entry_points(group="fairrec.runs")
    if not found:
        raise InputError(
            f"{plain(folder, 300)}: no installed package loads trained runs. "
            "pip install 'fairrec[paper]'"
        )
    refused: list[InputError] = []
    for one in found:
        try:
            return cast(Run, one.load().load(folder))
        except InputError as error:
            refused.append(error)
    raise refused[0]


@dataclass(frozen=True, slots=True)
class ScoreByRun:
    """The scores of a run, as a function that any process can be sent and loads the model once."""

    folder: Path

    def __call__(self, user_ids: AnyArray, item_ids: AnyArray) -> FloatArray:
        """The model's score for each pair of user and item."""
        model = _load_model(self.folder)
        inputs = model.bind({"user_id": user_ids, "item_id": item_ids})
        return cast(FloatArray, model.answer({one.name: one.values for one in inputs}))


@cache
def _load_model(folder: Path) -> Model:
    return load_run(folder).model(with_attributes=False)
