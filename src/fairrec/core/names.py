"""Names joined by commas, and pairs of name and value: how lists are written as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class PairError(ValueError):
    """A part of a list that is no pair of name and value, or names what is named already."""

    def __init__(self, part: str) -> None:
        super().__init__(part)
        self.part = part


def names_in(given: str | Iterable[str]) -> list[str]:
    """The names in a text with commas, or in a sequence, which may have names with commas.

    >>> names_in("gender, age:10,")
    ['gender', 'age:10']
    >>> names_in(["gender", "town, county"])
    ['gender', 'town, county']
    """
    parts = given.split(",") if isinstance(given, str) else given
    return [part.strip() for part in parts if part.strip()]


def pairs_in(given: str | Iterable[str] | Mapping[str, str], between: str = "=") -> dict[str, str]:
    """The values by name in `name=value` pairs, each name once; a mapping as it is.

    >>> pairs_in("user_id=uid, items.categories=tags")
    {'user_id': 'uid', 'items.categories': 'tags'}
    >>> pairs_in("gender:2,age:7", between=":")
    {'gender': '2', 'age': '7'}
    """
    if isinstance(given, Mapping):
        return dict(given)
    pairs: dict[str, str] = {}
    for part in names_in(given):
        name, mark, value = (piece.strip() for piece in part.partition(between))
        if not (name and mark and value) or name in pairs:
            raise PairError(part)
        pairs[name] = value
    return pairs
