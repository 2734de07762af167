"""The values that users have of some attributes, and features with another value."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np

from fairrec.core.arrays import AnyArray, IntArray
from fairrec.core.errors import InputError, keep_spellings, listed, plain, unknown_name
from fairrec.core.options import Blank, spell
from fairrec.inputs.tables import Table
from fairrec.scoring.features import JoinedFeatures, is_missing
from fairrec.scoring.model import Model


@dataclass(frozen=True, slots=True)
class AttributeValues:
    """The values that users have of some attributes, those of several together.

    Parameters
    ----------
    names : the attributes
    values : one of each attribute, as text; combinations that somebody has
    value_of_lists : (n_lists,), which of them the user of a list has; -1 where one is not known
    example : (n_values,), a list whose user has it
    """

    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    value_of_lists: IntArray
    example: IntArray

    def words(self, value: int) -> str:
        """`gender=F, age=25`; a checksum behind them where another value has the same words."""
        pairs = [*zip(self.names, self.values[value], strict=True)]
        said = ", ".join(f"{plain(name)}={plain(one)}" for name, one in pairs)
        if all(_is_told_whole(*pair, is_alone=len(pairs) == 1) for pair in pairs):
            return said
        return f"{said} ({sha256(json.dumps(pairs).encode()).hexdigest()[:8]})"

    def position(self, wanted: Mapping[str, str]) -> int:
        """Which of them this one is; an error where nobody has it.

        A value that nobody has is none that the model can have learned anything about.
        """
        if {*wanted} != {*self.names}:
            example = dict.fromkeys(self.names, Blank("VALUE"))
            raise InputError(
                f"{spell('reference')} is a value of each attribute that is changed, and of no "
                f"other: {spell('reference', example)}"
            )
        found: tuple[str, ...] = ()
        for at, name in enumerate(self.names):
            known = list(dict.fromkeys(one[at] for one in self.values))
            value = wanted[name] if wanted[name] in known else _same_number(wanted[name], known)
            if value is None:
                why = unknown_name(f"value of {plain(name)}", wanted[name], known)
                raise InputError(f"{spell('reference', wanted)}: {why}")
            found = (*found, value)
        if found not in self.values:
            raise InputError(
                f"{spell('reference', wanted)}: no user has these values together, so the model "
                "has never seen them. Name others."
            )
        return self.values.index(found)


def _same_number(wanted: str, known: Sequence[str]) -> str | None:
    """The value that is this number as a number column has it, 50.0 for 50; None for no such."""
    try:
        as_known = str(float(wanted))
    except ValueError:
        return None
    return as_known if as_known in known else None


def refuse_unseen(model: Model, names: Sequence[str], users: Table | None = None) -> None:
    """An error for an attribute that the model is never given, so that nothing could change.

    Parameters
    ----------
    users : the table with the attributes; None for the model's own
    """
    given = [one.column for one in model.features if one.table == "users"]
    for name in names:
        if name in given:
            continue
        if users is not None and users.attribute_column(name) is None:
            known = [column for column in users.columns if column != users.find(users.key)]
            error = unknown_name("column", name, known)
            raise InputError(
                f"{spell('attribute', [name])}: {users.where}: {keep_spellings(error)}{users.hint}"
            )
        what = f"only {listed(given)} of its users" if given else "the ids of its users alone"
        raise InputError(
            f"{spell('attribute', [name])}: {model.who[:1].lower()}{model.who[1:]} is given "
            f"{what}, so {plain(name)} itself cannot change anything; what it knows of it by other "
            "ways shows in an audit. If the model takes it, give it: "
            f"{spell('features', f'users:{plain(name)}')} (a run is given what it was trained "
            "with)"
        )


def values_of(features: JoinedFeatures, names: Sequence[str]) -> AttributeValues:
    """The values of attributes among the users of lists, in order."""
    codes, texts = zip(*(_coded(features.per_user[name]) for name in names), strict=True)
    stacked = np.stack(codes)
    is_known = (stacked >= 0).all(axis=0)
    value_of_lists = np.full(stacked.shape[1], -1, dtype=np.int64)
    together, first, mine = np.unique(
        stacked[:, is_known], axis=1, return_index=True, return_inverse=True
    )
    value_of_lists[is_known] = mine.ravel()
    values = tuple(
        tuple(texts[at][code] for at, code in enumerate(one)) for one in together.T.tolist()
    )
    return AttributeValues(tuple(names), values, value_of_lists, np.flatnonzero(is_known)[first])


def with_value(features: JoinedFeatures, values: AttributeValues, value: int) -> JoinedFeatures:
    """The same features with everybody having this value, and all else equal."""
    example = values.example[value]
    changed = {
        name: np.repeat(column[example : example + 1], len(column))
        for name, column in features.per_user.items()
        if name in values.names
    }
    return replace(features, per_user={**features.per_user, **changed})


def _is_told_whole(name: str, value: str, *, is_alone: bool) -> bool:
    """Whether a name and a value can be read back from their words."""
    is_shown = plain(name) == name and plain(value) == value
    return is_shown and "=" not in name and (is_alone or "," not in value)


def _coded(column: AnyArray) -> tuple[IntArray, list[str]]:
    """The number of each value, -1 where there is none, and all of them as text in their order."""
    given = [None if is_missing(one) else one for one in column.tolist()]
    known = {one for one in given if one is not None}
    try:
        ordered = sorted(known)
    except TypeError:
        ordered = sorted(known, key=str)
    code = {one: at for at, one in enumerate(ordered)}
    codes = np.array([-1 if one is None else code[one] for one in given], dtype=np.int64)
    return codes, [str(one) for one in ordered]
