"""Ledgers of the scores of users as they are, and under each other value."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from polars import selectors as cs

from fairrec.auditing.search import open_ledger, read_features
from fairrec.core.arrays import BoolArray, IntArray
from fairrec.core.errors import (
    InputError,
    ScoringError,
    listed,
    plain,
)
from fairrec.core.options import spell
from fairrec.core.progress import Progress
from fairrec.counterfactuals.options import CounterfactualOptions
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.scoring.features import JoinedFeatures
from fairrec.scoring.ledger import Ledger
from fairrec.scoring.model import Model

MOST_VALUES = 24
"""Values that everyone is scored under; with more of them a reference is needed."""


@dataclass(frozen=True, slots=True)
class AttributeValues:
    """The values that users have of some attributes, those of several together.

    Parameters
    ----------
    names : the attributes
    values : combinations that occur, one value of each attribute as text
    value_of_lists : (n_lists,), the combination of the user of a list; -1 where one is unknown
    example : (n_values,), a list of a user with the combination
    """

    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    value_of_lists: IntArray
    example: IntArray

    @classmethod
    def read(cls, features: JoinedFeatures, names: Sequence[str]) -> AttributeValues:
        """The values of attributes among the users of lists, in order."""
        columns = {name: features.per_user[name].tolist() for name in names}
        # a name that no attribute can have
        rows = f"rows by {' and '.join(names)}"
        table = pl.DataFrame(columns, strict=False).with_row_index(rows)
        known = table.with_columns(cs.float().fill_nan(None)).drop_nulls()
        found = known.group_by(names).agg(rows).sort(names)
        value_of_lists = np.full(table.height, -1, dtype=np.int64)
        for value, lists in enumerate(found[rows]):
            value_of_lists[lists] = value
        values = tuple(tuple(map(str, row)) for row in found.select(names).iter_rows())
        example = found[rows].list.min().to_numpy().astype(np.int64)
        return cls(tuple(names), values, value_of_lists, example)

    def describe(self, value: int) -> str:
        """`gender=F, age=25`."""
        pairs = zip(self.names, self.values[value], strict=True)
        return ", ".join(f"{plain(name)}={plain(one)}" for name, one in pairs)

    def key(self, value: int) -> str:
        """A text that is unique, also where descriptions are cut or escaped."""
        return json.dumps(dict(zip(self.names, self.values[value], strict=True)))

    def position(self, wanted: Mapping[str, str]) -> int:
        """The position of a combination; an error where no user has it.

        A model can have learned nothing about a value that does not occur.
        """
        # whole numbers of a column with gaps are stored as floats
        for value, texts in enumerate(self.values):
            named = dict(zip(self.names, texts, strict=True))
            if wanted.keys() == named.keys() and all(
                named[name] in (text, f"{text}.0") for name, text in wanted.items()
            ):
                return value
        known = "; ".join(map(self.describe, range(min(len(self.values), MOST_VALUES))))
        raise InputError(f"{spell('reference', wanted)}: no user has it. Known: {known}")

    def give(self, features: JoinedFeatures, value: int) -> JoinedFeatures:
        """The same features with this value for every user, all else equal."""
        at = self.example[value]
        changed = {
            name: np.repeat(features.per_user[name][at : at + 1], len(features.per_user[name]))
            for name in self.names
        }
        return replace(features, per_user={**features.per_user, **changed})


def refuse_unseen(model: Model, names: Sequence[str]) -> None:
    """An error for an attribute that is no input of the model, so that nothing could change."""
    given = [one.column for one in model.features if one.table == "users"]
    for name in names:
        if name not in given:
            what = f"only {listed(given)} of its users" if given else "the ids of its users alone"
            raise InputError(
                f"{spell('attribute', [name])}: {model.who[:1].lower()}{model.who[1:]} is given "
                f"{what}, so {plain(name)} itself cannot change anything. If the model takes it, "
                f"give it: {spell('features', f'users:{plain(name)}')}"
            )


@dataclass(frozen=True, slots=True)
class ScoredValues:
    """The ledgers of users as they are and under other values.

    Parameters
    ----------
    others : value -> the ledger of users under it
    values : of the attributes, by list
    model : in words
    """

    inputs: AuditInputs
    as_is: Ledger
    others: Mapping[int, Ledger]
    values: AttributeValues
    model: str

    @contextmanager
    def errors_under(self, value: int) -> Iterator[None]:
        """Name the value in errors of the model: those of the users themselves are others."""
        try:
            yield
        except ScoringError as error:
            under = self.values.describe(value)
            raise type(error)(f"Users as {under}: {error}") from error

    @property
    def has_candidates(self) -> BoolArray:
        """(n_lists,), whether there is anything to score."""
        return np.greater(np.diff(self.inputs.candidates.offsets), 0)

    @property
    def is_to_score(self) -> BoolArray:
        """(n_lists,), whether there are candidates, and another value to change to."""
        own = self.values.value_of_lists
        is_at_reference = np.isin(own, [*self.others]) & (len(self.others) == 1)
        return self.has_candidates & (own >= 0) & ~is_at_reference

    def draw(self, seed: int, most: int | None) -> IntArray:
        """Lists of users to score, a random sample up to a budget, in the users' order."""
        lists = np.flatnonzero(self.is_to_score)
        if not len(lists):
            raise InputError(
                "No user can be changed: each is without candidates, has no known value of "
                f"{spell('attribute')}, or has that of {spell('reference')} already."
            )
        sample = np.random.default_rng(seed).permutation(lists)[:most]
        in_order: IntArray = self.inputs.list_of_user[np.sort(self.inputs.user_of_list[sample])]
        return in_order


@contextmanager
def open_ledgers(
    inputs: AuditInputs, plan: CounterfactualOptions, model: Model, progress: Progress
) -> Iterator[ScoredValues]:
    """Ledgers for users as they are, and for each other value."""
    with ExitStack() as stack:
        model.open()
        stack.callback(model.close)
        identity = plan.scorer_identity or model.identity()
        file = None if plan.ledger is None else Path(plan.ledger)
        features = read_features(inputs, model)

        def opened(ledger: Ledger, stage: str) -> Ledger:
            stack.enter_context(ledger)
            ledger.on_paid = lambda: progress(f"scoring {stage}", ledger.users, inputs.n_users)
            return ledger

        as_is = opened(open_ledger(inputs, model, file, identity, features=features), "as they are")
        values = AttributeValues.read(features, plan.attribute)
        others = {}
        for value in _targets(values, plan):
            words, key = values.describe(value), values.key(value)
            ledger = open_ledger(
                inputs,
                model,
                _beside(file, words, key),
                f"{identity} with {key}",
                features=values.give(features, value),
            )
            others[value] = opened(ledger, f"with {words}")
        yield ScoredValues(inputs, as_is, others, values, model.who)


def _targets(values: AttributeValues, plan: CounterfactualOptions) -> list[int]:
    """The values to change to: the reference, or every one that occurs."""
    if plan.reference is not None:
        return [values.position(plan.reference)]
    attribute = spell("attribute", list(plan.attribute))
    if len(values.values) < 2:
        known = values.describe(0) if values.values else "no known value"
        raise InputError(f"{attribute}: every user has {known}, so there is no other value.")
    if len(values.values) > MOST_VALUES:
        example = dict(zip(values.names, values.values[0], strict=True))
        raise InputError(
            f"{attribute}: users have {len(values.values):,} values, and each user would be "
            f"scored under all of them (at most {MOST_VALUES}). Name one to change to: "
            f"{spell('reference', example)}"
        )
    return [*range(len(values.values))]


def _beside(file: Path | None, words: str, key: str) -> Path | None:
    """The ledger of users with another value, beside that of users as they are."""
    if file is None:
        return None
    # SQLite takes names such as scores-journal for its own
    if not re.fullmatch(r"[\w=.]{1,40}", words, re.ASCII):
        name = re.sub(r"[^\w=.]+", "-", words, flags=re.ASCII)[:40]
        words = f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:8]}"
    return file.with_name(f"{file.name}.{words}")
