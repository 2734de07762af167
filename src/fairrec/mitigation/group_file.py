"""Groups named in a file: one row a group."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fairrec.core.errors import InputError, UnknownNameError, plain, unknown_name
from fairrec.groups.group import Group
from fairrec.inputs.tables import Table
from fairrec.inputs.users import Attribute, Value
from fairrec.result.tables import RESERVED


def read_groups(path: str | Path, attributes: Sequence[Attribute]) -> list[Group]:
    """Groups from a table with a column for each attribute; an empty cell stands for any value."""
    table = Table(path, "groups")
    named = {
        attribute.name: column
        for attribute in attributes
        if (column := table.attribute_column(attribute.name)) is not None
    }
    if not named:
        raise InputError(
            f"{table.where}: no column is an attribute of this audit "
            f"({', '.join(plain(a.name) for a in attributes)}). Give one row per group with a "
            "column for each attribute, empty where any value will do."
        )
    known = {attribute.name: attribute.values for attribute in attributes}
    for column in table.columns:
        # a table of groups that an audit wrote is welcome
        if column not in named.values() and column not in RESERVED:
            raise UnknownNameError(f"{table.where}: {unknown_name('attribute', column, known)}")
    frame = table.read(named, labels=list(named)).fill_nan(None)
    groups = []
    for row, values in enumerate(frame.iter_rows(named=True), start=1):
        given = {name: value for name, value in values.items() if value not in (None, "")}
        group = Group.of({name: _as_known(value, known[name]) for name, value in given.items()})
        if not group.conditions:
            raise InputError(f"{table.where}, row {row}: the group has no condition. Fill in one.")
        groups.append(group)
    return list(dict.fromkeys(groups))


def _as_known(value: Value, known: Sequence[Value]) -> Value:
    """A value as the attribute has it: whole numbers with a gap are stored as floats."""
    return next((own for own in known if own == value), value)
