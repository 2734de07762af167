"""A group: the users who share one value for each named attribute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fairrec.groups.lattice import ANY
from fairrec.inputs.several import HAS, LACKS
from fairrec.inputs.users import MISSING, Attribute, Value, column_of

NAMED = 2
"""So many values of one column that a group lacks are named beside those it has, more counted."""


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
        """The conditions as text; of a column with several values, first those that a group has.

        >>> Group.of({"is[a]": "no", "is[b]": "yes", "is[c]": "no", "is[d]": "no"}).label
        'is[b]=yes, 3 other is=no'
        """
        return ", ".join(_said(self.conditions)) or "everyone"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Group) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash(frozenset(self.conditions))


def _said(conditions: Sequence[tuple[str, Value]]) -> list[str]:
    """Each condition; at the end the number of values of one column that a group lacks."""
    answers = Counter((column_of(name, [value]), value) for name, value in conditions)
    said, others = [], []
    for name, value in conditions:
        column = column_of(name, [value])
        n_alike = 0 if column is None else answers[column, value]
        if n_alike > NAMED and value == LACKS and answers[column, HAS]:
            others.append(f"{n_alike} other {column}={LACKS}")
        elif n_alike > NAMED and value == MISSING:
            said.append(f"{column}={MISSING}")
        else:
            said.append(f"{name}={value}")
    return [*dict.fromkeys(said + others)]
