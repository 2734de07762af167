"""The values of an attribute in the order people expect."""

from __future__ import annotations

import re

from fairrec.inputs.users import MISSING

_FIRST_NUMBER = re.compile(
    r"(?P<below>under|below|up to|less than|<=?|≤)?\s*[\[(]?"
    r"(?P<number>[-\u2212]?\d{1,15}(\.\d{1,15})?)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)")

ValueOrder = tuple[int, float, tuple[tuple[int, float, str], ...], str]


def value_order(value: str) -> ValueOrder:
    """Numbers and ranges by their first number, then words and the numbers in them, missing last.

    >>> sorted(["b", "(missing)", "18-24", "9", "under 18", "a"], key=value_order)
    ['9', 'under 18', '18-24', 'a', 'b', '(missing)']
    >>> sorted(["City 10", "city 9", "City 2"], key=value_order)
    ['City 2', 'city 9', 'City 10']
    """
    if value == MISSING:
        return 2, 0.0, (), value
    found = _FIRST_NUMBER.match(value)
    if found is None:
        return 1, 0.0, _parts(value), value
    below = 1e-9 if found["below"] else 0.0
    return 0, float(found["number"].replace("\u2212", "-")) - below, _parts(value), value


def _parts(value: str) -> tuple[tuple[int, float, str], ...]:
    """Its numbers and the words between them, whatever their case; numbers come first."""
    return tuple(
        (0, float(part), "") if at % 2 else (1, 0.0, part.casefold())
        for at, part in enumerate(_NUMBER.split(value))
        if part
    )
