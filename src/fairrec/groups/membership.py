"""Which users belong to which of some named groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairrec.core.arrays import BoolArray, IntArray
from fairrec.core.errors import InputError, plain, unknown_name
from fairrec.core.options import spelled
from fairrec.groups.group import Group
from fairrec.inputs.users import Attribute


def is_member(group: Group, attributes: Sequence[Attribute]) -> BoolArray:
    """(n_users,), whether a user meets all conditions; nobody has a value that does not occur."""
    named = {attribute.name: attribute for attribute in attributes}
    is_in = np.ones(len(attributes[0].codes), dtype=bool)
    for name, value in group.conditions:
        if name not in named:
            raise unknown_name("attribute", name, named)
        # by their text, because a group may come from a file that knows text only
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
    """An error for a group that nobody belongs to."""
    for group in groups:
        if not is_member(group, attributes).any():
            raise InputError(
                f"{where}: no user is in the group {plain(group.label)}. Check the values, and "
                f"that attributes are binned as they are in {spelled('by')}."
            )
