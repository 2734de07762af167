"""The call from Python that repeats an audit."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

from fairrec.core.audit_options import About, AuditOptions
from fairrec.core.options import GROUPED, Options, list_changed
from fairrec.core.redact_paths import redact_path
from fairrec.inputs.table_options import TABLE_NAMES, TableOptions, ends_as_text
from fairrec.search.options import Search


class Variable(str):
    """A value that goes by its name, such as a table."""

    __slots__ = ()
    __repr__ = str.__str__


def describe_tables(tables: TableOptions, metrics: Sequence[str]) -> dict[str, Any]:
    """The arguments about tables, which go by their names.

    Parameters
    ----------
    metrics : those that were audited
    """
    given = {**list_changed(tables), "metrics": tuple(metrics)}
    given |= {name: Variable(name) for name in TABLE_NAMES if name in given}
    if "better" in given:
        given["better"] = ends_as_text(given["better"])
    return given if "values" in given else {"predictions": Variable("predictions"), **given}


def describe_scoring(search: Search | None, scorer: object) -> dict[str, Any]:
    """The arguments about how users are scored."""
    given: dict[str, Any] = {}
    if search is not None:
        ledger = None if search.ledger is None else redact_path(search.ledger)
        given["search"] = replace(search, ledger=ledger)
    return given if scorer is None else {**given, "scorer": Variable("scorer")}


def write_call(
    given: Mapping[str, Any], options: AuditOptions, about: About, function: str = "audit"
) -> str:
    """The call with these arguments, and the options that change a number or are shown.

    >>> tables = {"predictions": Variable("predictions"), "by": ("age",), "gain": "rating"}
    >>> write_call(tables, AuditOptions(permutations=99), About())
    "fairrec.audit(predictions, by=['age'], statistics=fairrec.Statistics(permutations=99), \
tables=fairrec.Tables(gain='rating'))"
    """
    values = {**given, **list_changed(options), **list_changed(about)}
    for name in ("engine", "settings", "command"):
        values.pop(name, None)
    parameters = inspect.signature(getattr(import_module("fairrec"), function)).parameters
    arguments = []
    for name in parameters:
        if name in values:
            value = _write(values[name])
            arguments.append(value if name == "predictions" else f"{name}={value}")
        elif name in GROUPED:
            kind, fields = GROUPED[name]
            inner = (one for one in fields if one in values and one not in parameters)
            if text := ", ".join(f"{one}={_write(values[one])}" for one in inner):
                arguments.append(f"{name}=fairrec.{kind}({text})")
    return f"fairrec.{function}({', '.join(arguments)})"


def _write(value: Any) -> str:
    if isinstance(value, tuple):
        return repr([*value])
    if isinstance(value, Mapping):
        return repr({**value})
    if isinstance(value, Options):
        return f"fairrec.{value!r}"
    return repr(value if isinstance(value, bool | int | float | str) else str(value))
