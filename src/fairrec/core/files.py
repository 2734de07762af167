"""Files written whole or not at all, and their checksums."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from fairrec.core.errors import OutputError

if TYPE_CHECKING:
    import polars as pl


def file_sum(file: Path) -> str:
    """The SHA-256 checksum of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def put_in_place(part: Path, folder: Path) -> None:
    """Move all files of a folder to another: all of them, or none where a name is taken."""
    files = sorted(part.iterdir())
    for file in files:
        if (folder / file.name).is_dir():
            raise IsADirectoryError(f"{file.name} is a folder there")
    for file in files:
        file.replace(folder / file.name)


def check_writable(folder: Path) -> None:
    """Refuse an output folder that cannot be made or written, before any work is done."""
    nearest = folder
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    if not nearest.is_dir():
        raise OutputError(f"{folder}: {nearest} is a file, not a folder. Choose another --out.")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise OutputError(f"{folder}: no permission to write in {nearest}. Choose another --out.")


def write_table(table: pl.DataFrame, file: Path) -> None:
    """Write a table whole or not at all, as Parquet or, by its ending, CSV."""
    suffix = file.suffix.lower()
    if suffix not in (".parquet", ".pq", ".csv"):
        raise OutputError(f"{file}: is no Parquet or CSV file. Name it NAME.parquet or NAME.csv.")
    scratch = file.with_name(f".{file.name}.writing")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # opened here, because Polars takes no path that is not Unicode
        with scratch.open("wb") as stream:
            if suffix == ".csv":
                table.write_csv(stream)
            else:
                table.write_parquet(stream)
        scratch.replace(file)
    except OSError as error:
        scratch.unlink(missing_ok=True)
        raise OutputError(f"{file}: cannot be written ({error}). Choose another --out.") from error
