"""The pins on disk: the figures of each run, bad input, and public names."""

from __future__ import annotations

import csv
import json
import tempfile
from pathlib import Path
from typing import Any

from tests.pins.names import public_names
from tests.pins.rows import PinnedRow, rows_of
from tests.pins.runs import RUNS

FOLDER = Path(__file__).parent / "kept"
NAMES = FOLDER / "names.json"


def compute_rows(run: str) -> list[PinnedRow]:
    """The rows of a run as they are now."""
    with tempfile.TemporaryDirectory() as folder:
        return list(rows_of(run, RUNS[run](Path(folder))))


def read_rows(run: str) -> list[PinnedRow]:
    """The rows of a run as they were written, every figure as text."""
    with _file_of(run).open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return [PinnedRow(*row) for row in rows]


def read_names() -> dict[str, Any]:
    """The public names as they were written."""
    return json.loads(NAMES.read_text(encoding="utf-8"))


def write_all() -> None:
    """Write the rows of every run, and the names."""
    FOLDER.mkdir(exist_ok=True)
    for run in RUNS:
        with _file_of(run).open("w", encoding="utf-8", newline="") as file:
            rows = [PinnedRow._fields, *map(as_text, compute_rows(run))]
            csv.writer(file, lineterminator="\n").writerows(rows)
    NAMES.write_text(json.dumps(public_names(), indent=1) + "\n", encoding="utf-8")


def as_text(row: PinnedRow) -> PinnedRow:
    """A row with its figure as text, floats to the last digit."""
    return row._replace(number="" if row.number is None else str(row.number))


def _file_of(run: str) -> Path:
    return FOLDER / f"{run.replace(' ', '-')}.csv"
