"""The folder of a result: which files are its own, what may replace them, and how they are read.

A result replaces one of its own kind as a whole. Other files of its names are replaced only with
`force`, and what is read for the new result never is.

All files of a result carry one id, made from its content, so that a file of another result is
refused.

`run.json` records when and where a result was made, for the auditor alone: `result.json` has the
same bytes for the same command on the same data, and no path of the machine it was made on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import AwareDatetime, Field

from fairrec.core.atomic_io import atomic_folder, check_writable, is_interrupted
from fairrec.core.errors import InputError, OutputError, as_unicode, listed, plain
from fairrec.core.files import (
    errors_of_reading,
    is_json_with,
    load_json,
    open_file,
    read_parquet,
)
from fairrec.core.options import spell
from fairrec.inputs.formats import list_files
from fairrec.inputs.tables import Table
from fairrec.result.parts import (
    ID,
    Part,
    ResultFile,
    load_part,
    refuse_other_id,
    save_part,
    with_id,
)
from fairrec.result.schema import AuditSummary
from fairrec.search.loop import Searched

PAGE, RESULT = "report.html", "result.json"


@dataclass(frozen=True, slots=True)
class ResultKind:
    """A kind of result that lies in a folder.

    Parameters
    ----------
    called : with its article
    known_by : a JSON file of it that no other kind has, or only kinds that come before
    files : all that it may write; the last one vouches for the others
    """

    called: str
    known_by: str
    files: tuple[str, ...]


AUDIT = ResultKind(
    "an audit",
    "result.json",
    ("groups.parquet", "per_user.parquet", "report.html", "run.json", "result.json"),
)
MITIGATION = ResultKind(
    "a mitigation",
    "mitigation.json",
    (
        *("changes.parquet", "mitigation.json", "predictions.parquet", "reranker.json"),
        *AUDIT.files,
    ),
)
COUNTERFACTUAL = ResultKind(
    "a counterfactual", "counterfactual.json", ("counterfactual.json", *AUDIT.files)
)
COMPARISON = ResultKind(
    "a comparison",
    "comparison.json",
    ("changes.parquet", "report.html", "comparison.json"),
)
TREND = ResultKind("a trend", "trend.json", ("report.html", "trend.json"))
KINDS = (TREND, COMPARISON, MITIGATION, COUNTERFACTUAL, AUDIT)
"""A mitigation and a counterfactual hold an audit, so they come first."""


def folder_name(folder: Path) -> str:
    """What to call the result of a folder."""
    return as_unicode(folder.name)


def result_kind(folder: Path) -> ResultKind | None:
    """The kind of result in a folder, by the name it is known by; None where there is none."""
    return next((kind for kind in KINDS if (folder / kind.known_by).exists()), None)


def refuse_no_audit(folder: Path) -> None:
    """An error where a folder holds a result without an audit of its own."""
    kind = result_kind(folder)
    if kind is not None and AUDIT.known_by not in kind.files:
        raise InputError(
            f"{plain(folder, 300)}: holds {kind.called} and no audit by itself. Name the folder of "
            "an audit: its --out."
        )


def names_to_replace(
    kind: ResultKind, folder: Path, force: bool, inputs: Iterable[str | Path] = ()
) -> tuple[str, ...]:
    """The names that are the new result's own in a folder, as `atomic_folder` takes them.

    An error where something under them is not to be replaced; asked before any work is done, and
    again when the result is written.

    Parameters
    ----------
    force : whether to replace results of another kind, and files of no result
    inputs : paths of what is read, which is never replaced
    """
    check_writable(folder)
    where, insist = plain(folder, 300), f"or insist: {spell('force', True)}"
    held = _own_kind_in(folder)
    if held is not None and held is not kind and not force:
        raise OutputError(
            f"{where}: holds {held.called}, which {kind.called} would replace as a whole. Choose "
            f"another folder, {insist}"
        )
    older = held.files if held else ()
    foreign = [name for name in kind.files if name not in older and os.path.lexists(folder / name)]
    if foreign and not force and not is_interrupted(folder):
        raise OutputError(
            f"{where}: {listed(foreign)} there is of no result of FairRec and would be "
            f"overwritten. Choose another folder, {insist}"
        )
    names = (*sorted({*older} - {*kind.files}), *kind.files)
    there = [name for name in names if (folder / name).exists()]
    read = [file for path in inputs for file in list_files(Path(path)) if file.exists()]
    if name := next((one for one in there for file in read if file.samefile(folder / one)), None):
        raise OutputError(
            f"{where}: {name} there is read for {kind.called}, which would replace it. Choose "
            "another folder."
        )
    return names


def refuse_overwriting(name: str, file: Path | None, others: Iterable[object]) -> None:
    """An error where a file to be written is read, is written otherwise, or is of a result.

    Parameters
    ----------
    name : the option that names it
    others : paths of what is read or written besides, files and folders; other values are ignored
    """
    if file is None:
        return
    target = file.resolve()
    kind = _own_kind_in(target.parent)
    if kind is not None and target.name in kind.files:
        raise OutputError(
            f"{plain(file, 300)}: is a file of {kind.called}, which {spell(name)} would overwrite. "
            "Name another file."
        )
    paths = {path.resolve() for path in others if isinstance(path, Path)}
    is_in_result = target.parent in paths and any(target.name in kind.files for kind in KINDS)
    if target in paths or is_in_result:
        raise OutputError(
            f"{plain(file, 300)}: is read or written by this command already, and {spell(name)} "
            "would overwrite it. Name another file."
        )


def _own_kind_in(folder: Path) -> ResultKind | None:
    """The result of ours that lies in a folder, of any version."""
    known = ("schema_version", "fairrec_version")
    return next((kind for kind in KINDS if is_json_with(folder / kind.known_by, *known)), None)


def write_with_page(
    folder: Path,
    owned: Sequence[str],
    id: str,
    write: Callable[[Path], None],
    make_page: Callable[[], str] | None,
) -> None:
    """Write the files of a result and its page, all of them or none.

    A result may have taken hours: where only its page fails, the result is written without it, and
    the error says so.

    Parameters
    ----------
    owned : as of `atomic_folder`
    id : of the result, which all of its files carry
    write : writes all but the page into a folder
    make_page : None for no page
    """
    failed = None
    with atomic_folder(folder, owned) as part:
        write(part)
        try:
            if make_page is not None:
                page = with_id(make_page(), id)
                (part / PAGE).write_text(page, encoding="utf-8", newline="\n")
        except Exception as error:
            failed = error
    if failed is not None:
        raise OutputError(
            f"{folder}: the result is written, but its page could not be made "
            f"({type(failed).__name__}: {failed}). Leave it out with {spell('report', False)}."
        ) from failed


RUN = "run.json"


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
    absolute = os.path.abspath(path)  # noqa: PTH100
    return Place(given=as_unicode(os.fspath(path)), absolute=as_unicode(absolute))


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
    return AuditRun(
        made_at=made_at.replace(microsecond=0),
        seconds=round(seconds, 3),
        seconds_scoring=0.0 if searched is None else round(searched.ledger.seconds, 3),
        command=as_unicode(command),
        folder=as_unicode(str(Path.cwd())),
        inputs=table_places(tables),
    )


def put_run(run: AuditRun, part: Path, folder: Path, id: str) -> None:
    """Write the run of a result that is for a folder into one on its way."""
    save_part(run.model_copy(update={"output": as_place(folder)}), part / RUN, id)


def load_audit_run(folder: str | Path, id: str) -> AuditRun | None:
    """The run of a result saved in a folder; None where it was passed on without."""
    path = Path(folder) / RUN
    if not path.exists():
        return None
    again = "Audit again, or set it aside: a result can be read without it."
    return load_part(path, AuditRun, "run of an audit", id, again)


GROUPS, PER_USER = "groups.parquet", "per_user.parquet"
_FIX = "Is it an audit? Then audit again."


def load_saved(folder: str | Path) -> tuple[AuditSummary, str]:
    """The summary of an audit saved in a folder, and the id of its files."""
    path = Path(folder) / RESULT
    if not path.exists() and is_interrupted(Path(folder)):
        raise InputError(
            f"{plain(folder, 300)}: a command was stopped while it replaced the files there. Give "
            "that command again."
        )
    summary = load_json(path, AuditSummary, "result", fix="Is it an audit?")
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
    with open_file(path, _FIX) as stream, errors_of_reading(path, _FIX):
        found = pl.read_parquet_metadata(stream).get(ID)
    refuse_other_id(path, found, id)
    return table
