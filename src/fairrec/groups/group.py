"""A group: the users who share one value for each named attribute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fairrec.groups.lattice import ANY
from fairrec.inputs.users import Attribute, Value


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
        """The conditions as text."""
        return ", ".join(f"{name}={value}" for name, value in self.conditions) or "everyone"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Group) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash(frozenset(self.conditions))
