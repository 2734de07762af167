"""Names joined by commas, and pairs of name and value: how lists are written as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping


class UnfitError(ValueError):
    """A part of what was given does not fit, and why, where that is not plain to see."""

    def __init__(self, part: object, why: str = "") -> None:
        super().__init__(part)
        self.part, self.why = part, why


def names_in(given: str | Iterable[str]) -> list[str]:
    """The names in a text with commas, or in a sequence, which may have names with commas.

    >>> names_in("gender, age:10,")
    ['gender', 'age:10']
    >>> names_in(["gender", "town, county"])
    ['gender', 'town, county']
    """
    if isinstance(given, bytes | Mapping):
        raise UnfitError(given)
    parts = given.split(",") if isinstance(given, str) else [*given]
    for part in parts:
        if not isinstance(part, str):
            raise UnfitError(part)
    return [part.strip() for part in parts if part.strip()]


def pairs_in(given: str | Iterable[str] | Mapping[str, str], between: str = "=") -> dict[str, str]:
    """The values by name in `name=value` pairs, each name once; a mapping as it is.

    >>> pairs_in("user_id=uid, items.categories=tags")
    {'user_id': 'uid', 'items.categories': 'tags'}
    >>> pairs_in("gender:2,age:7", between=":")
    {'gender': '2', 'age': '7'}
    >>> pairs_in("share@10[pay=high]=higher")
    {'share@10[pay=high]': 'higher'}
    """
    if isinstance(given, Mapping):
        for name in given:
            if not isinstance(name, str):
                raise UnfitError(name)
        return dict(given)
    pairs: dict[str, str] = {}
    for part in names_in(given):
        # what stands in brackets belongs to the name
        brackets = re.match(r"[^\[=]*\[[^\]]*\]", part)
        start = brackets.end() if brackets else 0
        rest, mark, value = part[start:].partition(between)
        name, value = (part[:start] + rest).strip(), value.strip()
        if not (name and mark and value) or name in pairs:
            raise UnfitError(part)
        pairs[name] = value
    return pairs
