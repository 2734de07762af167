"""The files of a saved audit, each with the id of its summary."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from fairrec.core.atomic_io import is_interrupted
from fairrec.core.errors import InputError, plain
from fairrec.core.files import errors_of_reading, open_file
from fairrec.core.json_file import load_json
from fairrec.core.parquet import damaged, read_parquet
from fairrec.result.folder import RESULT
from fairrec.result.parts import ID, refuse_other_id
from fairrec.result.schema import AuditSummary

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
