"""The files of a saved audit, each with the id of its summary.

`run.json` says when and where a result was made, and stays with the auditor: `result.json` has the
same bytes for the same command on the same data, and no path of the machine it was made on.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import AwareDatetime, Field

from fairrec.core.atomic_io import is_interrupted
from fairrec.core.errors import InputError, as_unicode, plain
from fairrec.core.files import errors_of_reading, open_file
from fairrec.core.saved_files import damaged, load_json, read_parquet
from fairrec.inputs.tables import Table
from fairrec.result.folder import RESULT
from fairrec.result.parts import ID, Part, ResultFile, load_part, refuse_other_id
from fairrec.result.schema import AuditSummary
from fairrec.search.searched import Searched

NAME = "run.json"


class Place(Part):
    """A file or folder of the auditor's machine."""

    given: str = Field(description="the path as it was given")
    absolute: str


class AuditRun(ResultFile):
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

    def with_inputs(self, places: Mapping[str, Place]) -> AuditRun:
        """The same with more that was read."""
        return self.model_copy(update={"inputs": {**self.inputs, **places}})

    def paths(self) -> list[str]:
        """Where all that was read lies."""
        return [place.absolute for place in self.inputs.values()]


def as_place(path: str | Path) -> Place:
    """Where a path leads."""
    given = os.fspath(path)
    return Place(given=as_unicode(given), absolute=as_unicode(os.path.abspath(given)))  # noqa: PTH100


def table_places(tables: Mapping[str, Table]) -> dict[str, Place]:
    """Where the tables lie that are files."""
    return {name: as_place(table.path) for name, table in tables.items() if table.path}


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
        inputs=table_places(tables),
    )


def _working_folder() -> str:
    """Empty where somebody has removed it, which tables in memory do not mind."""
    with suppress(OSError):
        return as_unicode(str(Path.cwd()))
    return ""


def put_run(run: AuditRun, part: Path, folder: Path, id: str) -> None:
    """Write the run of a result that is for a folder into one on its way."""
    here = run.model_copy(update={"output": as_place(folder), "id": id})
    (part / NAME).write_text(here.model_dump_json(indent=2) + "\n", encoding="utf-8")


def load_audit_run(folder: str | Path, id: str) -> AuditRun | None:
    """The run of a result saved in a folder; None where it was passed on without."""
    path = Path(folder) / NAME
    if not path.exists():
        return None
    again = "Audit again, or set it aside: a result can be read without it."
    return load_part(path, AuditRun, "run of an audit", id, again)


GROUPS, PER_USER = "groups.parquet", "per_user.parquet"
_FIX = "Is it an audit? Then audit again."


def load_summary(folder: str | Path) -> AuditSummary:
    """The summary of an audit saved in a folder."""
    return load_saved(folder)[0]


def load_saved(folder: str | Path) -> tuple[AuditSummary, str]:
    """The summary of an audit saved in a folder, and the id of its files."""
    path = Path(folder) / RESULT
    if not path.exists() and is_interrupted(Path(folder)):
        raise InputError(
            f"{plain(folder, 300)}: a command was stopped while it replaced the files there. Give "
            "that command again."
        )
    summary = load_json(path, AuditSummary, "result", fix="Is it an audit?")
    if not (summary.attributes and summary.metrics):
        raise InputError(
            f"{plain(path, 300)}: is no result of FairRec: it has no attributes or no metrics. "
            "Audit again."
        )
    return summary.model_copy(update={"id": ""}), summary.id


def load_groups(folder: str | Path, id: str) -> pl.DataFrame:
    """The table of groups of an audit saved in a folder."""
    return load_table(Path(folder) / GROUPS, id)


def load_per_user(folder: str | Path, id: str) -> pl.DataFrame | None:
    """The values of each user, or item; None where the audit was saved without them."""
    path = Path(folder) / PER_USER
    return load_table(path, id) if path.exists() else None


def load_table(path: Path, id: str) -> pl.DataFrame:
    """A table of the result with an id."""
    table = read_parquet(path, _FIX)
    with open_file(path, _FIX) as stream, errors_of_reading(path, _FIX), damaged(path, _FIX):
        found = pl.read_parquet_metadata(stream).get(ID)
    refuse_other_id(path, found, id)
    return table
