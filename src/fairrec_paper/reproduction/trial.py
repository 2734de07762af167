"""Finished trials on disk, so that an experiment goes on where it was stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

import fairrec
import fairrec_paper
from fairrec.core.atomic_io import errors_of_disk, write_text
from fairrec.core.errors import InputError
from fairrec.core.progress import Progress

Row = dict[str, Any]
PRESENTATION = ("report", "cli", "figures")
"""Folders that word and draw what was worked out: no number comes from them."""


@cache
def code_sum() -> str:
    """The SHA-256 checksum over the sources of both packages, without what only words and draws."""
    digest = hashlib.sha256()
    for package in (fairrec, fairrec_paper):
        folder = Path(package.__path__[0])
        for file in sorted(folder.rglob("*.py")):
            place = file.relative_to(folder)
            if place.parts[0] not in PRESENTATION:
                content = file.read_bytes()
                digest.update(f"{package.__name__} {place.as_posix()} {len(content)}\n".encode())
                digest.update(content)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Trial:
    """One piece of an experiment: it is worked out once and kept.

    Parameters
    ----------
    kind : trials of a kind have rows of one form
    name : for the progress bar
    about : what determines the rows besides the code: data, model, options and seed; asked for only
        when the trial's turn comes, as it may need a trained model
    work : progress -> rows of plain values
    labels : added to each row when it is used, not kept
    """

    kind: str
    name: str
    about: Callable[[Progress], Mapping[str, Any]]
    work: Callable[[Progress], Sequence[Row]]
    labels: Mapping[str, Any] = field(default_factory=dict)


class TrialStore:
    """A folder with one small JSON file for each finished trial, named by what determines it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.n_worked = 0

    def rows(self, trial: Trial, progress: Progress) -> list[Row]:
        """The rows of a trial, worked out now unless they were before."""
        about = {"kind": trial.kind, "code": code_sum(), **trial.about(progress)}
        text = json.dumps(about, sort_keys=True)
        file = self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.json"
        if file.exists():
            kept = _read(file)
            # through JSON, so that a tuple and the list it becomes are the same
            if kept["about"] == json.loads(text):
                return [{**trial.labels, **row} for row in kept["rows"]]
        rows = [*trial.work(progress)]
        self._keep(file, {"name": trial.name, "about": about, "rows": rows})
        self.n_worked += 1
        return [{**trial.labels, **row} for row in rows]

    def _keep(self, file: Path, content: Mapping[str, Any]) -> None:
        with errors_of_disk(file):
            self.folder.mkdir(parents=True, exist_ok=True)
        write_text(file, json.dumps(content, allow_nan=False))


def _read(file: Path) -> dict[str, Any]:
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        return {"about": kept["about"], "rows": [*kept["rows"]]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{file}: is damaged ({error!r}). Remove it, and its trial is worked out again."
        ) from error


def run_trials(
    trials: Sequence[Trial], store: TrialStore, progress: Progress
) -> dict[str, pl.DataFrame]:
    """The rows of all trials, a table for each kind."""
    rows: dict[str, list[Row]] = {}
    for done, trial in enumerate(trials):

        def inner(stage: str, part: int, whole: int, at: int = done, of: Trial = trial) -> None:
            detail = f": {stage}" if stage else ""
            progress(f"{at + 1} of {len(trials)}, {of.name}{detail}", at, len(trials))

        inner("", 0, 0)
        rows.setdefault(trial.kind, []).extend(store.rows(trial, inner))
    return {kind: pl.DataFrame(part, infer_schema_length=None) for kind, part in rows.items()}
