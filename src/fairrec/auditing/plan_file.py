"""A plan as a file with a checksum, and how an audit differs from its plan."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from fairrec.auditing.options import AUDITED, NOT_PLANNED, SETTINGS
from fairrec.core.atomic_io import errors_of_disk, write_text
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import OutputError, as_unicode, listed, plain
from fairrec.core.options import Option, defaults, from_command_line, spelled
from fairrec.core.settings import CHECKSUM, PLAN, checksum_of, parsed_toml, read_settings, to_toml
from fairrec.core.version import __version__
from fairrec.groups.group import Group
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.users import users_sum
from fairrec.metrics.own_code import OwnCode, own_code
from fairrec.metrics.parsing import parse_metric
from fairrec.result.audit_result import AuditResult
from fairrec.result.plan_schema import PlanFacts, PlannedCode, PlannedTable
from fairrec.result.schema import AuditSummary, InputSummary

EXPECTED = {
    "metric": pl.String,
    "users": pl.Int64,
    "n_groups": pl.Int64,
    "harm": pl.Float64,
    "certified": pl.Float64,
    "certified_median": pl.Float64,
}
"""The table of what can be found and ruled out."""
NEEDED = {
    "metric": pl.String,
    "group": pl.String,
    "users": pl.Int64,
    "tolerance": pl.Float64,
    "times": pl.Float64,
    "users_needed": pl.Int64,
}
"""The table of the users it takes."""
COSTS = {
    "attribute": pl.String,
    "depth": pl.Int64,
    "n_groups": pl.Int64,
    "n_groups_left": pl.Int64,
    "users": pl.Int64,
    "cut_off": pl.Float64,
    "cut_off_left": pl.Float64,
    "found": pl.Float64,
    "certified": pl.Float64,
}
"""The table of what attributes and depth cost."""


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """What an audit is to test, and what it can be expected to find.

    Parameters
    ----------
    options : all that the plan sets, by name
    facts : the users and groups it was made with
    from_settings : the options that came from a settings file
    """

    options: dict[str, Any]
    facts: PlanFacts
    from_settings: tuple[str, ...] = ()

    @property
    def expectations(self) -> pl.DataFrame:
        """Group size -> the smallest harm found with 80% probability, for each metric.

        And the harm that is ruled out, with 80% probability and in half of all audits, for a group
        without any difference.
        """
        rows = [expected.model_dump() for expected in self.facts.expected]
        return pl.DataFrame(rows, schema=EXPECTED)

    @property
    def needed(self) -> pl.DataFrame:
        """Group -> how many users it takes to rule out what matters, for each metric."""
        rows = [
            {**needed.model_dump(), "group": Group.of(needed.group).label}
            for needed in self.facts.needed
        ]
        return pl.DataFrame(rows, schema=NEEDED)

    @property
    def costs(self) -> pl.DataFrame:
        """Attribute or lower depth -> how much smaller harms are found and ruled out without it."""
        return pl.DataFrame([cost.model_dump() for cost in self.facts.costs], schema=COSTS)

    def with_loaded(self, files: Iterable[Path]) -> AuditPlan:
        """The same with files that were loaded for own metrics."""
        code = {*self.facts.code, *planned_code(own_code((), files))}
        ordered = tuple(sorted(code, key=lambda each: (each.name, each.sha256)))
        return replace(self, facts=self.facts.model_copy(update={"code": ordered}))

    def text(self, file: str | Path) -> str:
        """The content of the file: its settings, and what they were frozen with.

        Parameters
        ----------
        file : where it will stand; tables are named from its folder
        """
        file = Path(file)
        settings = {
            name: _path_from(file.parent, value) if SETTINGS[name].kind.is_path else value
            for name, value in self.options.items()
        }
        content = {name: SETTINGS[name].kind.written(value) for name, value in settings.items()}
        facts = self.facts.model_dump(mode="json", exclude_none=True, exclude={CHECKSUM})
        content[PLAN] = {**facts, CHECKSUM: checksum_of({**content, PLAN: facts})}
        name = plain(file.name)
        with from_command_line():
            plan_, settings_, out = (spelled(each, name) for each in ("plan", "settings", "out"))
        text = (
            f"# A plan of an audit, frozen. To run it: fairrec audit ... {plan_}\n"
            f"# To change it, edit it and freeze it again: fairrec plan {settings_} {out}\n"
            f"{to_toml(content)}"
        )
        # what is too long to be read back is no plan
        parsed_toml(text.encode(), plain(file, 300))
        return text

    def save(self, file: str | Path) -> Path:
        """Write the plan; a file that is no plan is not replaced."""
        file = Path(file)
        text = self.text(file)
        check_plan_file(file)
        with errors_of_disk(file):
            file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, text)
        return file


def check_plan_file(file: Path) -> str | None:
    """Refuse a name that is none of a plan, and to replace what is no plan or may not be written.

    Where there is a plan already, the checksum it was frozen with comes back.
    """
    where = plain(file, 300)
    if file.suffix.lower() != ".toml":
        raise OutputError(f"{where}: a plan is a TOML file. Name it NAME.toml.")
    if not file.exists():
        return None
    frozen = read_settings(file, SETTINGS).frozen if file.is_file() else None
    if not frozen:
        raise OutputError(
            f"{where}: is there already and is no plan, so it is not replaced. Choose another name."
        )
    # the bits themselves: the system lets some users write to anything
    if not file.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        raise OutputError(
            f"{where}: is read-only, so this plan is not replaced. Choose another name, or make it "
            "writable."
        )
    return str(frozen.get(CHECKSUM))


def planned_code(code: Iterable[OwnCode]) -> tuple[PlannedCode, ...]:
    """As a plan keeps it."""
    return tuple(PlannedCode(name=each.name, sha256=each.sha256) for each in code)


def _path_from(folder: Path, path: str | Path) -> str:
    """A path from a folder, so that both can be moved together."""
    try:
        relative = os.path.relpath(path, folder)
    except ValueError:  # on another drive
        relative = str(Path(path).absolute())
    return as_unicode(Path(relative).as_posix())


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
    found = {"by": summary.by, "metrics": tuple(summary.metrics), "tolerance": summary.tolerance}
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
