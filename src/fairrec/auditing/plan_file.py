"""A plan as a file with a checksum, and how an audit differs from its plan."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w
from pydantic import BaseModel, ConfigDict, Field

from fairrec.auditing.options import AUDITED, NOT_PLANNED, SETTINGS
from fairrec.core.atomic_io import errors_of_disk, write_text
from fairrec.core.audit_options import AuditOptions, Engine
from fairrec.core.errors import OutputError, as_unicode, plain
from fairrec.core.options import Option, list_defaults, spell_in
from fairrec.core.settings import CHECKSUM, PLAN, compute_checksum, read_settings
from fairrec.core.version import __version__
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.users import users_sum
from fairrec.report.audit_result import AuditResult
from fairrec.report.words import group_label
from fairrec.result.schema import AuditSummary


class PlanPart(BaseModel):
    """A frozen part of a plan; what a later version adds is let pass."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class PlannedTable(PlanPart):
    """A table as it was when the plan was made."""

    file: str | None = Field(default=None, description="its name; none for a table in memory")
    sha256: str | None = None


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
    users_sha256: str
    min_users: int
    tables: dict[str, PlannedTable]
    attributes: dict[str, int]
    groups: tuple[PlannedGroups, ...]
    spread: dict[str, Spread] = Field(default_factory=dict)
    expected: tuple[Expected, ...] = ()
    needed: tuple[Needed, ...] = ()
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

    def __repr__(self) -> str:
        """What is planned, in a line."""
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"AuditPlan({plain(options, 300)})"

    @property
    def expectations(self) -> pl.DataFrame:
        """Group size -> the smallest harm found with 80% probability, for each metric.

        And the harm that is ruled out, with 80% probability and in half of all audits, for a group
        without any difference.
        """
        schema: dict[str, Any] = {"metric": pl.String, "users": pl.Int64, "n_groups": pl.Int64}
        schema |= dict.fromkeys(("harm", "certified", "certified_median"), pl.Float64)
        return pl.DataFrame([row.model_dump() for row in self.facts.expected], schema)

    @property
    def needed(self) -> pl.DataFrame:
        """Group -> users it takes to rule out harms beyond the tolerance, for each metric."""
        schema: dict[str, Any] = {"metric": pl.String, "group": pl.String, "users": pl.Int64}
        schema |= {"tolerance": pl.Float64, "times": pl.Float64, "users_needed": pl.Int64}
        rows = [{**row.model_dump(), "group": group_label(row.group)} for row in self.facts.needed]
        return pl.DataFrame(rows, schema)

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
        name = plain(file.name)
        plan_, settings_, out = (
            spell_in("fairrec plan", each, name) for each in ("plan", "settings", "out")
        )
        return (
            f"# A plan of an audit, frozen. To run it: fairrec audit ... {plan_}\n"
            f"# To change it, edit it and freeze it again: fairrec plan {settings_} {out}\n"
            f"{tomli_w.dumps({**content, PLAN: facts})}"
        )

    def save(self, file: str | Path) -> Path:
        """Write the plan; a file that is no plan is not replaced."""
        file = Path(file)
        text = self.text(file)
        check_plan_file(file)
        with errors_of_disk(file):
            file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, text)
        return file


def check_plan_file(file: Path) -> None:
    """Refuse a name that is none of a plan, and to replace a file that is no plan."""
    where = plain(file, 300)
    if file.suffix.lower() != ".toml":
        raise OutputError(f"{where}: a plan is a TOML file. Name it NAME.toml.")
    is_plan = file.is_file() and read_settings(file, SETTINGS).frozen is not None
    if file.exists() and not is_plan:
        raise OutputError(
            f"{where}: is there already and is no plan, so it is not replaced. Choose another name."
        )


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
) -> Iterator[str]:
    """What an audit did otherwise than planned, a line each.

    Parameters
    ----------
    planned : the options that the plan sets, by name; another one has its default
    values : those the audit was done with, where they are set
    """
    summary = result.summary
    if facts.fairrec_version != __version__:
        yield f"FairRec {__version__} (planned with {plain(facts.fairrec_version)})"
    # a run has attributes of its own, and metrics may be left to the tables or named in any case
    found = {"by": summary.by, "metrics": tuple(summary.metrics), "tolerance": summary.tolerance}
    for name, option in AUDITED.items():
        if option.form.is_path or name in NOT_PLANNED:
            continue
        now, then = (
            option.form.to_data(options[name])
            for options in ({**_DEFAULTS, **values, **found}, {**_DEFAULTS, **planned})
        )
        if _comparable(now) != _comparable(then):
            yield f"{name} {_format(option, now)} (planned {_format(option, then)})"
    yield from _other_tables(facts, summary)
    yield from _other_users(facts, result)
    search = summary.search
    if search.users_scored < search.users_total:
        yield (
            f"the searcher {search.name} scored {search.users_scored:,} of "
            f"{search.users_total:,} users (planned all)"
        )


def _comparable(data: Any) -> Any:
    """A value for which the order of names counts for nothing; an empty one is None."""
    if isinstance(data, list) and all(isinstance(part, str) for part in data):
        data = sorted(data)
    return None if data in ([], {}) else data


def _format(option: Option, data: Any) -> str:
    if data is None or data in ([], {}):
        return option.default or "none"
    if isinstance(data, dict):
        data = [f"{name}={value}" for name, value in data.items()]
    return plain(",".join(map(str, data)) if isinstance(data, list) else data, 200)


def _other_tables(facts: PlanFacts, summary: AuditSummary) -> Iterator[str]:
    """Tables other than those of the plan."""
    for name, then in facts.tables.items():
        now = summary.inputs.get(name)
        if name == "pilot":
            continue
        planned = _describe_table(then.file, then.sha256)
        if now is None:
            yield f"no {name} table (planned {planned})"
        elif now.sha256 != then.sha256:
            yield f"{name} table {_describe_table(now.name, now.sha256)} (planned {planned})"


def _describe_table(name: str | None, sha256: str | None) -> str:
    return "in memory" if sha256 is None else f"{plain(name)}, checksum {sha256[:12]}"


def _other_users(facts: PlanFacts, result: AuditResult) -> Iterator[str]:
    """Another number of users, or others in memory, where there is no checksum of a file."""
    summary = result.summary
    tables = (facts.tables.get("users"), summary.inputs.get("users"))
    is_in_memory = all(table is not None and not table.sha256 for table in tables)
    if summary.n_users != facts.n_users:
        yield f"{summary.n_users:,} users audited (planned {facts.n_users:,})"
    elif is_in_memory and {*summary.attributes} == {*facts.attributes}:
        users = result.with_users().per_user
        assert users is not None, "an audit that has just been made"
        now = users_sum(users["user_id"], [users[name] for name in summary.attributes])
        if now != facts.users_sha256:
            yield (
                f"users in memory with other ids or attributes, checksum {now[:12]} (planned "
                f"{plain(facts.users_sha256[:12])})"
            )
