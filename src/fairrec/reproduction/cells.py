"""Finished cells on disk, so that an experiment goes on where it was stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from fairrec.core.errors import InputError
from fairrec.core.files import errors_of_disk, write_text
from fairrec.core.options import Progress

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """One piece of an experiment: it is worked out once and kept.

    Parameters
    ----------
    kind : cells of a kind have rows of one form
    name : for the progress bar
    about : what determines the rows: data, model, options, seed and the version of the code; asked
        for only when the cell's turn comes, as it may need a trained model
    work : told the progress -> rows of plain values
    labels : added to each row when it is used, not kept
    """

    kind: str
    name: str
    about: Callable[[Progress], Mapping[str, Any]]
    work: Callable[[Progress], Sequence[Row]]
    labels: Mapping[str, Any] = field(default_factory=dict)


class CellStore:
    """A folder with one small JSON file for each finished cell, named by what determines it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.n_worked = 0

    def rows(self, cell: Cell, told: Progress) -> list[Row]:
        """The rows of a cell, worked out now unless they were before."""
        # through JSON, so that a tuple and the list it becomes are the same
        about = json.loads(json.dumps({"kind": cell.kind, **cell.about(told)}, sort_keys=True))
        text = json.dumps(about, sort_keys=True)
        file = self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.json"
        if file.exists():
            kept = _read(file)
            if kept["about"] == about:
                return [{**cell.labels, **row} for row in kept["rows"]]
        rows = [*cell.work(told)]
        self._keep(file, {"name": cell.name, "about": about, "rows": rows})
        self.n_worked += 1
        return [{**cell.labels, **row} for row in rows]

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
            f"{file}: is damaged ({error!r}). Remove it, and its cell is worked out again."
        ) from error


def run_cells(cells: Sequence[Cell], store: CellStore, told: Progress) -> dict[str, pl.DataFrame]:
    """The rows of all cells, a table for each kind."""
    rows: dict[str, list[Row]] = {}
    for done, cell in enumerate(cells):

        def inner(stage: str, part: int, whole: int, at: int = done, of: Cell = cell) -> None:
            detail = f": {stage}" if stage else ""
            told(f"{at + 1} of {len(cells)}, {of.name}{detail}", at, len(cells))

        inner("", 0, 0)
        rows.setdefault(cell.kind, []).extend(store.rows(cell, inner))
    return {kind: pl.DataFrame(part, infer_schema_length=None) for kind, part in rows.items()}
