"""A plan as a file: settings, what they were frozen with, and a checksum over both."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from fairrec.core.atomic_io import errors_of_disk, write_text
from fairrec.core.errors import OutputError, as_unicode, plain
from fairrec.core.options import from_command_line, spelled
from fairrec.core.settings import CHECKSUM, PLAN, checksum_of, parsed_toml, read_settings
from fairrec.core.toml_text import to_toml
from fairrec.groups.group import Group
from fairrec.metrics.own_code import OwnCode, own_code
from fairrec.result.plan_schema import PlanFacts, PlannedCode
from fairrec.workflows.plan_options import SETTINGS

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
    "matters": pl.Float64,
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
