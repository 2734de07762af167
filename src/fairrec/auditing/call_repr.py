"""The call from Python that repeats an audit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fairrec.core.audit_options import About, AuditOptions, Statistics
from fairrec.core.options import Options, list_changed, list_options
from fairrec.core.redact_paths import redact_path
from fairrec.inputs.table_options import TABLE_NAMES, TableOptions, Tables, ends_as_text
from fairrec.search.options import Search

_WRITTEN: dict[str, Callable[[Any], object]] = {
    "by": list,
    "adjust_for": list,
    "metrics": list,
    "columns": dict,
    "relevant": str,
    "better": ends_as_text,
}


def audit_call(
    arguments: Sequence[str], options: AuditOptions, about: About, function: str = "audit"
) -> str:
    """The call with these arguments about tables and about how users are scored.

    >>> audit_call(["predictions", "users=users"], AuditOptions(), About())[:36]
    'fairrec.audit(predictions, users=use'
    """
    named: dict[str, object] = {"depth": options.depth, "min_support": options.min_support}
    if options.tolerance is not None:
        named["tolerance"] = str(options.tolerance)
    named["seed"] = options.seed
    statistics = {name: getattr(options, name) for name in list_options(Statistics)}
    called = {name: getattr(about, name) for name in list_options(About) if getattr(about, name)}
    parts = [
        *arguments,
        *(f"{name}={value!r}" for name, value in named.items()),
        write_group("statistics", Statistics, statistics),
        *([write_group("about", About, called)] if called else []),
    ]
    return f"fairrec.{function}({', '.join(parts)})"


def describe_tables(tables: TableOptions, metrics: Sequence[str]) -> list[str]:
    """The arguments about tables, which go by their names.

    Parameters
    ----------
    metrics : those that were audited
    """
    given = {**list_changed(tables), "metrics": metrics}
    said = [] if tables.values is not None else ["predictions"]
    said += [f"{name}={name}" for name in TABLE_NAMES if name in given and name not in RARE]
    return said + describe_parts(given)


RARE = list_options(Tables)


class _Variable(str):
    """A table, which goes by its name."""

    __slots__ = ()
    __repr__ = str.__str__


def describe_parts(given: Mapping[str, Any]) -> list[str]:
    """The arguments about what is made of tables.

    >>> describe_parts(
    ...     {"by": ("age",), "metrics": ("auc",), "users": "users.csv", "gain": "rating"})
    ["by=['age']", "metrics=['auc']", "tables=fairrec.Tables(gain='rating')"]
    """
    written = {
        name: _WRITTEN[name](value) if name in _WRITTEN else value for name, value in given.items()
    }
    written |= {name: _Variable(name) for name in TABLE_NAMES if name in given}
    flat = ("by", "adjust_for", "metrics")
    parts = [f"{name}={written[name]!r}" for name in flat if name in written]
    rare = {name: written[name] for name in RARE if name in written}
    return [*parts, write_group("tables", Tables, rare)] if rare else parts


def write_group(name: str, cls: type[Options], values: Mapping[str, object]) -> str:
    """The argument that several options travel in.

    >>> write_group("statistics", Statistics, {"permutations": 99})
    'statistics=fairrec.Statistics(permutations=99)'
    """
    fields = ", ".join(f"{field}={value!r}" for field, value in values.items())
    return f"{name}=fairrec.{cls.__name__}({fields})"


def describe_scoring(search: Search | None, scorer: object) -> list[str]:
    """The arguments about how users are scored."""
    said = []
    if search is not None:
        ledger = None if search.ledger is None else redact_path(search.ledger)
        said.append(f"search=fairrec.{replace(search, ledger=ledger)!r}")
    return said if scorer is None else [*said, "scorer=scorer"]
