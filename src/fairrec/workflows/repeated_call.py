"""The call that repeats an audit made from Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from fairrec.core.audit_options import AboutOptions, AuditOptions
from fairrec.core.options import changed, declared
from fairrec.core.told import told_path
from fairrec.inputs.table_options import TABLE_NAMES, TableOptions, ends_in_words
from fairrec.search.options import SearchOptions

_WRITTEN: dict[str, Callable[[Any], object]] = {
    "side": str,
    "unit": str,
    "by": list,
    "given": list,
    "metrics": list,
    "columns": dict,
    "relevant": str,
    "gain": str,
    "missing_lists": str,
    "better": ends_in_words,
}


def audit_call(
    said: Sequence[str],
    options: AuditOptions,
    about: AboutOptions,
    how: Sequence[str] = (),
    function: str = "audit",
) -> str:
    """The call with these arguments about tables and about how users are scored.

    >>> audit_call(["predictions", "users=users"], AuditOptions(), AboutOptions())[:36]
    'fairrec.audit(predictions, users=use'
    """
    parts = [*said]
    parts += [
        f"{name}={getattr(options, name)!r}"
        for name in declared(AuditOptions)
        if name not in ("threads", "max_memory", "matters")
    ]
    if options.matters is not None:
        parts.append(f"matters={str(options.matters)!r}")
    parts += how
    parts += [f"{name}={value!r}" for name, value in vars(about).items() if value]
    return f"fairrec.{function}({', '.join(parts)})"


def said_of_tables(tables: TableOptions, metrics: Sequence[str]) -> list[str]:
    """The arguments about tables, which go by their names.

    Parameters
    ----------
    metrics : those that were audited
    """
    given = {**changed(tables), "metrics": metrics}
    said = [] if tables.values is not None else ["predictions"]
    said += [f"{name}={name}" for name in TABLE_NAMES if name in given]
    return said + said_of(given)


def said_of(given: dict[str, Any]) -> list[str]:
    """The arguments about what is made of tables.

    >>> said_of({"by": ("age",), "metrics": ("auc",), "users": "users.csv"})
    ["by=['age']", "metrics=['auc']"]
    """
    return [f"{name}={write(given[name])!r}" for name, write in _WRITTEN.items() if name in given]


def said_of_scores(how: SearchOptions | None, scorer: object) -> list[str]:
    """The arguments about how users are scored."""
    said = []
    if how is not None:
        ledger = None if how.ledger is None else told_path(how.ledger)
        said.append(f"search={replace(how, ledger=ledger)!r}")
    return said if scorer is None else [*said, "scorer=scorer"]
