"""When and where a result was made: `run.json`, which stays with the auditor.

`result.json` has the same bytes for the same command on the same data, and no path of the machine
it was made on; what differs from one run to the next is here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, Field

from fairrec.core.errors import InputError, OutputError, as_unicode, plain
from fairrec.core.folders import settle
from fairrec.core.json_file import load_json
from fairrec.inputs.tables import Table
from fairrec.result.file_sums import NO_SUMS, FileSums
from fairrec.result.parts import Part
from fairrec.search.searched import Searched

NAME = "run.json"


class Place(Part):
    """A file or folder of the auditor's machine."""

    given: str = Field(description="the path as it was given")
    absolute: str


class AuditRun(Part):
    """The content of `run.json`."""

    schema_version: Literal["1"] = "1"
    made_at: AwareDatetime = Field(description="date and time, UTC")
    seconds: float = Field(description="from tables to result")
    seconds_scoring: float = Field(
        default=0.0, description="of all calls of a model in this run, side by side or not"
    )
    seconds_in_ledger: float | None = Field(
        default=None,
        description="of the calls behind all scores in the ledger; null where none is kept in a "
        "file",
    )
    command: str = Field(description="as it was given, with its paths")
    folder: str = Field(description="the working folder")
    inputs: dict[str, Place] = Field(
        description="tables, the trained run, plan and settings; none in memory"
    )
    output: Place | None = Field(default=None, description="the folder it was written to")
    files: dict[str, str] = Field(
        default_factory=dict,
        description="SHA-256 of result.json, and of a table of users that was written in parts",
    )

    def with_inputs(self, places: Mapping[str, Place]) -> AuditRun:
        """The same with more that was read."""
        return self.model_copy(update={"inputs": {**self.inputs, **places}})

    def paths(self) -> list[str]:
        """Where all that was read lies."""
        return [place.absolute for place in self.inputs.values()]


def place_of(path: str | Path) -> Place:
    """Where a path leads."""
    given = os.fspath(path)
    return Place(given=as_unicode(given), absolute=as_unicode(os.path.abspath(given)))  # noqa: PTH100


def places_of(tables: Mapping[str, Table]) -> dict[str, Place]:
    """Where the tables lie that are files."""
    return {name: place_of(table.path) for name, table in tables.items() if table.path}


def audit_run(
    tables: Mapping[str, Table],
    searched: Searched | None,
    *,
    command: str,
    made_at: datetime,
    seconds: float,
) -> AuditRun:
    """The run of an audit, not written yet."""
    kept = searched is not None and searched.options.ledger is not None
    return AuditRun(
        made_at=made_at.replace(microsecond=0),
        seconds=round(seconds, 3),
        seconds_scoring=0.0 if searched is None else round(searched.ledger.seconds, 3),
        seconds_in_ledger=round(searched.ledger.spent.seconds, 3) if searched and kept else None,
        command=as_unicode(command),
        folder=_working_folder(),
        inputs=places_of(tables),
    )


def _working_folder() -> str:
    """Empty where somebody has removed it, which tables in memory do not mind."""
    with suppress(OSError):
        return as_unicode(str(Path.cwd()))
    return ""


def put_run(run: AuditRun, part: Path, folder: Path, files: Mapping[str, str]) -> None:
    """Write the run of a result that is for a folder into one on its way.

    Parameters
    ----------
    files : the checksums of what lies beside it and `result.json` does not vouch for
    """
    here = run.model_copy(update={"output": place_of(folder), "files": {**files}})
    (part / NAME).write_text(here.model_dump_json(indent=2) + "\n", encoding="utf-8")


def load_audit_run(folder: str | Path, sums: FileSums = NO_SUMS) -> AuditRun | None:
    """The run of a result saved in a folder; None where it was not passed on with it.

    Parameters
    ----------
    sums : of the result it must be the run of
    """
    settle(Path(folder))
    path = Path(folder) / NAME
    if not path.exists():
        return None
    again = "Audit again, or set it aside: a result can be read without it."
    run = load_json(path, AuditRun, "run of an audit", again=again)
    sums.refuse_other_run(path, run.files)
    return run


def refuse_other_run(folder: Path) -> None:
    """An error where a folder holds a trained run, whose `run.json` would be overwritten."""
    try:
        load_audit_run(folder)
    except InputError as error:
        raise OutputError(
            f"{plain(folder, 300)}: its run.json is of no audit, as of a trained run, and would be "
            "overwritten. Choose another folder."
        ) from error
