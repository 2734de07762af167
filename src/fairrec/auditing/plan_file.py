"""A plan as a file with a checksum, and how an audit differs from its plan."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import polars as pl
import tomli_w
from pydantic import BaseModel, ConfigDict, Field

from fairrec.auditing.options import AUDITED, NOT_PLANNED, SETTINGS
from fairrec.core.atomic_io import errors_of_disk, write_text
from fairrec.core.audit_options import AuditOptions, Engine
from fairrec.core.errors import OutputError, as_flags, as_unicode, plain
from fairrec.core.options import Option, list_defaults, spell
from fairrec.core.settings import CHECKSUM, PLAN, compute_checksum, read_settings
from fairrec.core.version import __version__
from fairrec.groups.group import Group
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.users import users_sum
from fairrec.metrics.own_code import OwnCode, own_code
from fairrec.metrics.parsing import parse_metric
from fairrec.report.audit_result import AuditResult
from fairrec.result.schema import AuditSummary, InputSummary


class PlanPart(BaseModel):
    """A frozen part of a plan; what a later version adds is let pass."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class PlannedTable(PlanPart):
    """A table as it was when the plan was made."""

    file: str | None = Field(default=None, description="its name; none for a table in memory")
    sha256: str | None = None


class PlannedCode(PlanPart):
    """Code of own metrics as it was when the plan was made."""

    name: str = Field(description="of the file; of the metric where it is in none")
    sha256: str = Field(description="empty where the code is not known")


class PlannedGroups(PlanPart):
    """The groups of one number of attributes."""

    depth: int
    n_groups: int = Field(description="with enough users")
    n_groups_below: int = Field(description="that occur, but have too few users")
    smallest: int | None = Field(default=None, description="users of the smallest of them")
    median: int | None = None
    largest: int | None = None


class Spread(PlanPart):
    """How the values of users are expected to lie."""

    sd: float
    mean: float | None = None


class Expected(PlanPart):
    """What an audit will find in groups of one size."""

    metric: str
    users: int = Field(description="of a group")
    n_groups: int = Field(description="planned groups with at least so many users")
    harm: float | None = Field(
        default=None,
        description="smallest true harm shown with 80% probability; none where not even the "
        "largest possible one is",
    )
    certified: float | None = Field(
        default=None,
        description="the harm that is ruled out with 80% probability where there is no difference; "
        "none where permutations are too few for it, or no group is in its size class",
    )
    certified_median: float | None = Field(
        default=None, description="the same with a probability of one half"
    )


class Needed(PlanPart):
    """Users it takes to rule out a harm beyond tolerance, for a group without any difference."""

    metric: str
    group: dict[str, str]
    users: int = Field(description="of the group now")
    tolerance: float = Field(description="in units of the metric")
    times: float | None = Field(
        default=None,
        description="how many times as many users it takes with 80% probability, 1 where they are "
        "enough; none where 1,000 times as many are not",
    )
    users_needed: int | None = Field(default=None, description="so many users in all")


class Cost(PlanPart):
    """What an attribute, or groups of more attributes than a depth, cost all other groups.

    In a metric without bounds, in a group of as many users as those of one attribute have.
    """

    attribute: str | None = Field(default=None, description="left out")
    depth: int | None = Field(default=None, description="a lower one, where it is no attribute")
    n_groups: int = Field(description="of the plan")
    n_groups_left: int
    users: int = Field(description="of the group it is reckoned for")
    cut_off: float = Field(description="standard errors from which a group is found")
    cut_off_left: float | None = Field(default=None, description="the same without it")
    found: float | None = Field(
        default=None, description="share by which harms that are found would be smaller"
    )
    certified: float | None = Field(
        default=None,
        description="share by which harms that are ruled out would be smaller; none where no group "
        "of about that size would be left",
    )


class PlanFacts(PlanPart):
    """What a plan was frozen with, beside the options it sets.

    Parameters
    ----------
    users_sha256 : of the ids of all users and their attributes, whatever table they come from
    attributes : name -> number of values
    spread : by metric; empty where nothing is known, and harm is in standard deviations
    """

    fairrec_version: str
    n_users: int
    users_sha256: str = ""
    min_users: int
    code: tuple[PlannedCode, ...] = ()
    tables: dict[str, PlannedTable]
    attributes: dict[str, int]
    groups: tuple[PlannedGroups, ...]
    spread: dict[str, Spread] = Field(default_factory=dict)
    expected: tuple[Expected, ...] = ()
    needed: tuple[Needed, ...] = ()
    costs: tuple[Cost, ...] = ()
    checksum: str = ""


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
        return _table(Expected, self.facts.expected)

    @property
    def needed(self) -> pl.DataFrame:
        """Group -> users it takes to rule out harms beyond the tolerance, for each metric."""
        return _table(Needed, self.facts.needed)

    @property
    def costs(self) -> pl.DataFrame:
        """Attribute or lower depth -> how much smaller harms are found and ruled out without it."""
        return _table(Cost, self.facts.costs)

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
            name: _path_from(file.parent, value) if SETTINGS[name].form.is_path else value
            for name, value in self.options.items()
        }
        content = {name: SETTINGS[name].form.to_data(value) for name, value in settings.items()}
        facts = self.facts.model_dump(mode="json", exclude_none=True, exclude={CHECKSUM})
        facts[CHECKSUM] = compute_checksum({**content, PLAN: facts})
        tables = {name: facts.pop(name) for name in ("groups", "expected", "needed", "costs")}
        rows = "".join(f"{name} = [\n{_inline(rows)}]\n" for name, rows in tables.items())
        name = plain(file.name)
        plan_, settings_, out = (
            as_flags(spell(each, name)) for each in ("plan", "settings", "out")
        )
        return (
            f"# A plan of an audit, frozen. To run it: fairrec audit ... {plan_}\n"
            f"# To change it, edit it and freeze it again: fairrec plan {settings_} {out}\n"
            f"{tomli_w.dumps({**content, PLAN: facts})}"
        ).replace(f"\n[{PLAN}]\n", f"\n[{PLAN}]\n{rows}", 1)

    def save(self, file: str | Path) -> Path:
        """Write the plan; a file that is no plan is not replaced."""
        file = Path(file)
        text = self.text(file)
        check_plan_file(file)
        with errors_of_disk(file):
            file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, text)
        return file


def _inline(rows: Iterable[Mapping[str, Any]]) -> str:
    """A line for each row: tomli-w breaks long ones into one line for each field."""
    return "".join(f"    {{ {', '.join(_pairs(row))} }},\n" for row in rows)


def _pairs(row: Mapping[str, Any], before: str = "") -> Iterator[str]:
    for name, value in row.items():
        if isinstance(value, dict):
            yield from _pairs(value, f"{before}{name}.")
        else:
            yield before + tomli_w.dumps({name: value}).strip()


def _table(part: type[Expected | Needed | Cost], rows: Iterable[PlanPart]) -> pl.DataFrame:
    """One row for each part, its fields as columns; a group by its label."""
    types = {int: pl.Int64, float: pl.Float64}
    schema = {
        name: next((types[kind] for kind in get_args(one) or (one,) if kind in types), pl.String)
        for name, one in ((name, field.annotation) for name, field in part.model_fields.items())
    }
    data = [row.model_dump() for row in rows]
    if "group" in schema:
        data = [{**row, "group": Group.of(row["group"]).label} for row in data]
    return pl.DataFrame(data, schema=schema)


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


_DEFAULTS = {**list_defaults(TableOptions), **list_defaults(AuditOptions), **list_defaults(Engine)}


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
        if option.form.is_path or name in NOT_PLANNED:
            continue
        now, then = (option.form.to_data(each[name]) for each in (used, planned))
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
    is_in_memory = all(table is not None and not table.sha256 for table in tables)
    # other attributes are among the options
    if not is_in_memory or {*summary.attributes} != {*facts.attributes}:
        return
    users = result.with_users().per_user
    assert users is not None, "an audit that has just been made"
    now = users_sum(users["user_id"], [users[name] for name in summary.attributes])
    if now != facts.users_sha256:
        yield (
            f"users in memory with other ids or attributes, checksum {now[:12]} (planned "
            f"{plain(facts.users_sha256[:12]) or 'none'})"
        )


def _other_tables(facts: PlanFacts, summary: AuditSummary) -> Iterator[str]:
    """Tables other than those of the plan."""
    for name, then in facts.tables.items():
        now = summary.inputs.get(name)
        if name == "pilot":
            continue
        if now is None:
            yield f"no {name} table (planned {_named(then)})"
        elif now.sha256 != then.sha256:
            yield f"{name} table {_named(now)} (planned {_named(then)})"


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
