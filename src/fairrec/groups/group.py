"""A group: the users who share one value for each named attribute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import BaseModel, Field

from fairrec.core.arrays import BoolArray, IntArray
from fairrec.core.errors import InputError, plain, unknown_name
from fairrec.core.options import spell
from fairrec.groups.lattice import ANY
from fairrec.inputs.users import HAS, LACKS, MISSING, Attribute, Value, multivalued_column

NAMED = 2
"""Values of one column that a group lacks are named up to this number, and counted beyond."""


@dataclass(frozen=True, slots=True)
class Group:
    """A set of `attribute=value` conditions.

    >>> Group.of(gender="F", age="65+").label
    'gender=F, age=65+'
    """

    conditions: tuple[tuple[str, Value], ...]

    @classmethod
    def of(cls, mapping: Mapping[str, Value] | None = None, /, **conditions: Value) -> Group:
        """The group with these conditions."""
        return cls(tuple({**(mapping or {}), **conditions}.items()))

    @classmethod
    def of_codes(cls, codes: Iterable[int], attributes: Sequence[Attribute]) -> Group:
        """The group with these codes, one an attribute, ANY where its value does not matter."""
        return cls(
            tuple(
                (attribute.name, attribute.values[code])
                for attribute, code in zip(attributes, codes, strict=True)
                if code != ANY
            )
        )

    def as_dict(self) -> dict[str, Value]:
        """Attribute -> value."""
        return dict(self.conditions)

    @property
    def label(self) -> str:
        """The conditions as text; of a column with several values the ones a group has come first.

        >>> Group.of({"is[a]": "no", "is[b]": "yes", "is[c]": "no", "is[d]": "no"}).label
        'is[b]=yes, 3 other is=no'
        """
        return ", ".join(_describe(self.conditions)) or "everyone"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Group) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash(frozenset(self.conditions))


class GroupValue(BaseModel, frozen=True, extra="forbid"):
    """A group and its value for one metric."""

    group: dict[str, Value] = Field(description="attribute -> value")
    value: float
    support: int = Field(description="users of the group with a defined value")


def _describe(conditions: Sequence[tuple[str, Value]]) -> list[str]:
    """Each condition; at the end the number of values of one column that a group lacks."""
    answers = Counter((multivalued_column(name, [value]), value) for name, value in conditions)
    texts, others = [], []
    for name, value in conditions:
        column = multivalued_column(name, [value])
        n_alike = 0 if column is None else answers[column, value]
        if n_alike > NAMED and value == LACKS and answers[column, HAS]:
            others.append(f"{n_alike} other {column}={LACKS}")
        elif n_alike > NAMED and value == MISSING:
            texts.append(f"{column}={MISSING}")
        else:
            texts.append(f"{name}={value}")
    return [*dict.fromkeys(texts + others)]


def is_member(group: Group, attributes: Sequence[Attribute]) -> BoolArray:
    """(n_users,), whether a user meets all conditions."""
    named = {attribute.name: attribute for attribute in attributes}
    is_in = np.ones(len(attributes[0].codes), dtype=bool)
    for name, value in group.conditions:
        if name not in named:
            raise unknown_name("attribute", name, named)
        # by their text, as a group may come from a text file
        texts = [str(known) for known in named[name].values]
        code = texts.index(str(value)) if str(value) in texts else -1
        is_in &= named[name].codes == code
    return is_in


def group_of_users(groups: Sequence[Group], attributes: Sequence[Attribute]) -> IntArray:
    """(n_users,), position of the first of the groups a user belongs to; -1 for none."""
    found = np.full(len(attributes[0].codes), -1, dtype=np.int64)
    for position, group in enumerate(groups):
        found[(found < 0) & is_member(group, attributes)] = position
    return found


def refuse_empty(groups: Sequence[Group], attributes: Sequence[Attribute], where: str) -> None:
    """Refuse a group without users."""
    for group in groups:
        if not is_member(group, attributes).any():
            raise InputError(
                f"{where}: no user is in the group {plain(group.label)}. Check the values, and "
                f"that attributes are binned as they are in {spell('by')}."
            )
