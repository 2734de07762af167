"""Whom a counterfactual asks about: users as they are, and under each other value."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairrec.auditing.search import open_ledger, read_features
from fairrec.core.arrays import BoolArray, IntArray
from fairrec.core.errors import InputError, ScoringError, keep_spellings
from fairrec.core.options import invalid, spell
from fairrec.core.progress import Progress
from fairrec.counterfactuals.attribute_values import AttributeValues, values_of, with_value
from fairrec.counterfactuals.options import CounterfactualOptions
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.scoring.ledger import Ledger
from fairrec.scoring.model import FunctionModel, Model

MOST_VALUES = 24
"""Values that everybody is scored under, before somebody has to say which one is meant."""

_LONGEST_NAME = 40
"""Letters of a value in the name of its ledger, of up to four bytes each."""
_OF_SQLITE = ("-journal", "-shm", "-wal")
"""Files that SQLite keeps beside a ledger, and takes for its own."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The ledgers of users as they are and otherwise.

    Parameters
    ----------
    others : scores of everybody under another value, by the value; by another model under 0
    values : what users have of the attributes; None where the model is another
    model, other_model : in words; nothing where there is no other
    """

    inputs: AuditInputs
    as_is: Ledger
    others: Mapping[int, Ledger]
    values: AttributeValues | None
    model: str
    other_model: str = ""

    def value_of_lists(self, lists: IntArray) -> IntArray:
        """The value of each user; -1 where it is not known, or does not matter."""
        if self.values is None:
            return np.full(len(lists), -1)
        return self.values.value_of_lists[lists]

    def words(self, value: int) -> str:
        """What users have, or get."""
        if self.values is None:
            return "the other model"
        return self.values.words(value)

    @contextmanager
    def told_under(self, value: int) -> Iterator[None]:
        """Errors of the model with what users were to have, which their own values do not tell."""
        try:
            yield
        except ScoringError as error:
            under = "The other model" if self.values is None else f"Users as {self.words(value)}"
            raise type(error)(f"{under}: {keep_spellings(error)}") from error

    @property
    def has_candidates(self) -> BoolArray:
        """(n_lists,), whom the model can be asked about; all others are told by themselves."""
        return np.greater(np.diff(self.inputs.candidates.offsets), 0)

    @property
    def is_unknown(self) -> BoolArray:
        """(n_lists,), who of them has no value that could be changed."""
        if self.values is None:
            return np.zeros(self.inputs.candidates.n_users, dtype=bool)
        return self.has_candidates & np.less(self.values.value_of_lists, 0)

    @property
    def is_at_reference(self) -> BoolArray:
        """(n_lists,), who of them has the only value there is to change to."""
        mine = self.value_of_lists(np.arange(self.inputs.candidates.n_users))
        return self.has_candidates & np.isin(mine, [*self.others]) & (len(self.others) == 1)

    @property
    def is_to_score(self) -> BoolArray:
        """(n_lists,), who has candidates and something to change."""
        return self.has_candidates & ~(self.is_unknown | self.is_at_reference)

    def in_random_order(self, seed: int) -> IntArray:
        """Lists of all who are to be scored."""
        lists = np.flatnonzero(self.is_to_score)
        if not len(lists):
            raise InputError(
                "Nobody is left: every user is without candidates or a value of what is changed, "
                f"or has the one of {spell('reference')} already."
            )
        return np.random.default_rng(seed).permutation(lists)


@contextmanager
def asked_about(
    inputs: AuditInputs,
    plan: CounterfactualOptions,
    model: Model,
    identity: str,
    progress: Progress,
) -> Iterator[Asked]:
    """Ledgers for users as they are, and for each other value."""
    with ExitStack() as stack:
        model.open()
        stack.callback(model.close)
        identity = identity or model.identity()
        file = None if plan.ledger is None else Path(plan.ledger)
        features = read_features(inputs, model)

        def opened(ledger: Ledger, stage: str) -> Ledger:
            stack.enter_context(ledger)
            ledger.on_paid = lambda: progress(f"scoring {stage}", ledger.users, inputs.n_users)
            return ledger

        as_is = opened(open_ledger(inputs, model, file, identity, features=features), "as they are")
        if plan.other_model is not None:
            other = _other_model(plan.other_model)
            other.open()
            stack.callback(other.close)
            beside = None if file is None else _beside(file, "other model")
            name = other.identity()
            if beside is not None and not name:
                raise InputError(
                    f"{spell('ledger')} must know whose scores it holds, and the function given "
                    f"as {spell('other_model')} has no name. Leave out {spell('ledger')}, or "
                    "give a run or an address."
                )
            ledger = open_ledger(inputs, other, beside, name)
            others = {0: opened(ledger, "by the other model")}
            yield Asked(inputs, as_is, others, None, model.who, other.who)
            return
        values = values_of(features, plan.attribute)
        others = {}
        for value in _targets(values, plan):
            words = values.words(value)
            ledger = open_ledger(
                inputs,
                model,
                None if file is None else _beside(file, words),
                f"{identity} with {words}",
                features=with_value(features, values, value),
            )
            others[value] = opened(ledger, f"with {words}")
        yield Asked(inputs, as_is, others, values, model.who)


def _targets(values: AttributeValues, plan: CounterfactualOptions) -> list[int]:
    """The values that users are given: the reference, or every one that somebody has."""
    if plan.reference is not None:
        return [values.position(plan.reference)]
    if len(values.values) < 2:
        said = values.words(0) if values.values else "no known value"
        raise InputError(
            f"{spell('attribute', list(plan.attribute))}: everybody has {said}, so there is "
            "nothing to change it to."
        )
    if len(values.values) > MOST_VALUES:
        example = dict(zip(values.names, values.values[0], strict=True))
        raise InputError(
            f"{spell('attribute', list(plan.attribute))}: users have {len(values.values):,} "
            f"values, and each would be scored under all of them (at most {MOST_VALUES}). Say "
            f"which one is meant: {spell('reference', example)}"
        )
    return [*range(len(values.values))]


def _other_model(given: Any) -> Model:
    """A model, a function, an address or a folder of a run."""
    if isinstance(given, Model):
        return given
    if callable(given):
        return FunctionModel(given)
    if not isinstance(given, str | Path):
        raise invalid("other_model", "a folder of a trained run, an address, or a model", given)
    if re.match(r"https?://", str(given)):
        from fairrec.scoring.endpoint import Endpoint

        return Endpoint(str(given))
    if not Path(given).is_dir():
        raise InputError(
            f"{spell('other_model', str(given))}: no folder of a run is there, and it is no "
            "address. Name one of them; a function goes in Python: "
            "fairrec.counterfactual(..., other_model=function)"
        )
    from fairrec.scoring.model import load_run

    return load_run(Path(given)).model()


def _beside(file: Path, words: str) -> Path:
    """The ledger of users with another value, beside that of users as they are."""
    name = re.sub(r"[^\w=.-]+", "-", words)[:_LONGEST_NAME]
    if name != words or name.endswith(_OF_SQLITE):
        # two values may look alike without the letters that no file can have
        name += f"-{hashlib.sha256(words.encode()).hexdigest()[:8]}"
    return file.with_name(f"{file.name}.{name}")
