"""The options of an audit of both sides -> those of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fairrec.core.units import Side
from fairrec.metrics.parsing import side_of

_OF_OTHER = {
    "users": ("unit",),
    "items": ("users", "given", "against_lists", "missing_lists"),
}
"""Options that say nothing to a side."""


def of_side(options: Mapping[str, Any], side: Side) -> dict[str, Any]:
    """Those of one side, where what is not given may be left out.

    A side of which no metric is named has those that its tables allow.

    >>> of_side({"side": "both", "by_users": ["age"], "metrics": ["exposure@5"]}, "users")
    {'side': 'users', 'metrics': None, 'by': ['age']}
    """
    other = ("by_users", "by_items", *_OF_OTHER[side])
    mine = {name: value for name, value in options.items() if name not in other}
    mine |= {"side": side, "by": options.get(f"by_{side}", ())}
    if mine.get("metrics") is not None:
        mine["metrics"] = [name for name in mine["metrics"] if side_of(name) == side] or None
    if mine.get("better") is not None:
        mine["better"] = {
            name: end for name, end in mine["better"].items() if side_of(name) == side
        }
    if mine.get("matters") is not None:
        matters = mine["matters"]
        named = tuple(one for one in matters.by_metric if side_of(one[0]) == side)
        is_any = named or matters.of_others is not None
        mine["matters"] = replace(matters, by_metric=named) if is_any else None
    return mine
