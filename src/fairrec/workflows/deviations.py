"""How an audit differs from what was planned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import listed, plain
from fairrec.core.options import Option, defaults
from fairrec.core.version import __version__
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.users import users_sum
from fairrec.metrics.own_code import OwnCode, own_code
from fairrec.metrics.parsing import parse_metric
from fairrec.result.audit_result import AuditResult
from fairrec.result.plan_schema import PlanFacts, PlannedCode, PlannedTable
from fairrec.result.schema import AuditSummary, InputSummary
from fairrec.workflows.plan_options import AUDITED, NOT_PLANNED

MOST_VALUES = 20
"""Of an attribute, so many values are named in a plan and compared with it."""
_DEFAULTS = {**defaults(TableOptions), **defaults(AuditOptions)}


def deviations(
    facts: PlanFacts,
    planned: Mapping[str, Any],
    values: Mapping[str, Any],
    result: AuditResult,
    loaded: Iterable[Path] = (),
) -> Iterator[str]:
    """What an audit did otherwise than planned, a line each.

    Parameters
    ----------
    planned : the options that the plan sets, by name; another one has its default
    values : those the audit was done with, where they are set
    loaded : files with own metrics
    """
    summary = result.summary
    if facts.fairrec_version != __version__:
        yield f"FairRec {__version__} (planned with {plain(facts.fairrec_version)})"
    # a run has attributes of its own, and metrics may be left to the tables or named in any case
    found = {"by": summary.by, "metrics": tuple(summary.metrics), "matters": summary.matters}
    used = {**_DEFAULTS, **values, **found}
    planned = {**_DEFAULTS, **planned}
    for name, option in AUDITED.items():
        if option.kind.is_path or name in NOT_PLANNED:
            continue
        now, then = (option.kind.written(each[name]) for each in (used, planned))
        if _compared(now) != _compared(then):
            yield f"{name} {_in_words(option, now)} (planned {_in_words(option, then)})"
    yield from _other_code(facts, summary, loaded)
    yield from _other_tables(facts, summary)
    yield from _other_users(facts, result)
    search = summary.search
    if search.users_scored < search.users_total:
        yield (
            f"the searcher {search.name} scored {search.users_scored:,} of "
            f"{search.users_total:,} users (planned all)"
        )


def _other_code(facts: PlanFacts, summary: AuditSummary, loaded: Iterable[Path]) -> Iterator[str]:
    """Own metrics that are written in other words, or of which that cannot be told."""
    # columns of values are measured by somebody else
    names = () if "values" in summary.inputs else summary.metrics
    now = own_code([parse_metric(name).metric for name in names], loaded)
    if {code.sha256 for code in now} != {code.sha256 for code in facts.code}:
        yield f"own metrics of {_of_code(now)} (planned {_of_code(facts.code)})"
    for code in now:
        if not code.sha256:
            yield f"the code of {code.name} is not known, so it is not compared with the planned"


def _of_code(code: Iterable[OwnCode | PlannedCode]) -> str:
    named = [
        f"{plain(each.name)}, checksum {each.sha256[:12]}" if each.sha256 else plain(each.name)
        for each in code
    ]
    return "; ".join(named) or "none"


def _other_users(facts: PlanFacts, result: AuditResult) -> Iterator[str]:
    """Another number of users, or others where no checksum of a file tells it."""
    summary = result.summary
    if summary.n_users != facts.n_users:
        yield f"{summary.n_users:,} users audited (planned {facts.n_users:,})"
        return
    tables = (facts.tables.get("users"), summary.inputs.get("users"))
    if any(table is None or table.sha256 for table in tables):
        return
    if {*summary.attributes} != {*facts.attributes}:
        return  # which is among the options
    users = result.with_users().per_user
    assert users is not None, "an audit that has just been made"
    now = users_sum(users["user_id"], [users[name] for name in summary.attributes])
    if now != facts.users_sha256:
        yield (
            f"users in memory with other ids or attributes, checksum {now[:12]} (planned "
            f"{plain(facts.users_sha256[:12]) or 'none'})"
        )


def _other_tables(facts: PlanFacts, summary: AuditSummary) -> Iterator[str]:
    """Tables other than those of the plan, and values of attributes that came or went with them."""
    for name, then in facts.tables.items():
        now = summary.inputs.get(name)
        if name == "pilot":
            continue
        if now is None:
            yield f"no {name} table (planned {_named(then)})"
        elif now.sha256 != then.sha256:
            yield f"{name} table {_named(now)} (planned {_named(then)})"
    known, now = facts.tables.get("users"), summary.inputs.get("users")
    if known is not None and now is not None and known.sha256 and now.sha256 == known.sha256:
        return
    for name, planned in facts.attributes.items():
        about = summary.attributes.get(name)
        if about is None:
            continue  # the attributes themselves are among the options
        if max(about.n_values, planned.n_values) > MOST_VALUES:
            if about.n_values != planned.n_values:
                n_values = f"{about.n_values:,} values (planned {planned.n_values:,})"
                yield f"attribute {plain(name)} has {n_values}"
            continue
        values = values_named(about.values)
        came = [value for value in values if value not in planned.values]
        went = [value for value in planned.values if value not in values]
        if came:
            yield f"attribute {plain(name)} has values that were not planned: {listed(came)}"
        if went:
            yield f"attribute {plain(name)} lacks planned values: {listed(went)}"


def values_named(values: Mapping[str, int]) -> tuple[str, ...]:
    """The values of an attribute as a plan names them, those with most users."""
    return tuple(plain(value) for value in [*values][:MOST_VALUES])


def _named(table: PlannedTable | InputSummary) -> str:
    if table.sha256 is None:
        return "in memory"
    name = table.file if isinstance(table, PlannedTable) else table.name
    return f"{plain(name)}, checksum {table.sha256[:12]}"


def _compared(data: Any) -> Any:
    """Names are tested alike in any order, and none of them is nothing."""
    if isinstance(data, list) and all(isinstance(part, str) for part in data):
        data = sorted(data)
    return None if data in ([], {}) else data


def _in_words(option: Option, data: Any) -> str:
    if data is None or data in ([], {}):
        return option.default or "none"
    if isinstance(data, dict):
        data = [f"{name}={value}" for name, value in data.items()]
    return plain(",".join(map(str, data)) if isinstance(data, list) else data, 200)
