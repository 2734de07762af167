"""The values of an attribute in the order people expect."""

from __future__ import annotations

import re

from fairrec.inputs.users import MISSING

_FIRST_NUMBER = re.compile(
    r"(?P<below>under|below|up to|less than|<=?|≤)?\s*[\[(]?(?P<number>-?\d{1,15}(\.\d{1,15})?)"
)


def value_order(value: str) -> tuple[int, float, str]:
    """Numbers and ranges by their first number, then words, what is missing last.

    >>> sorted(["b", "(missing)", "18-24", "9", "under 18", "a"], key=value_order)
    ['9', 'under 18', '18-24', 'a', 'b', '(missing)']
    """
    if value == MISSING:
        return 2, 0.0, value
    found = _FIRST_NUMBER.match(value)
    if found is None:
        return 1, 0.0, value
    below = 1e-9 if found["below"] else 0.0
    return 0, float(found["number"]) - below, value
