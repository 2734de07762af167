"""Write small files as publishers do, prepare them, and read what comes out."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec_paper.datasets.bundle import Bundle, prepare, read_bundle
from tests.conftest import SHARED_DATA


def write(folder: Path, name: str, *lines: str, encoding: str = "utf-8") -> Path:
    """Write a file of lines into a folder, which is made where needed."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes("".join(f"{line}\n" for line in lines).encode(encoding))
    return path


def prepared(name: str, raw: Path, out: Path) -> Bundle:
    """The bundle, read back from disk."""
    prepare(name, raw, out)
    return read_bundle(out)


def refusal(name: str, raw: Path) -> str:
    """The message with which the files are refused."""
    out = raw.parent / "refused"
    with pytest.raises(InputError) as caught:
        prepare(name, raw, out)
    assert not out.exists(), "a refused data set leaves nothing behind"
    return str(caught.value)


def real_data(name: str) -> Path:
    """The folder of real tables, or a skipped test."""
    folder = SHARED_DATA / name
    if not folder.is_dir():
        pytest.skip(f"real data is not at {folder}")
    return folder


PARQUET = {
    "interactions": {
        "user_id": [1, 1, 2],
        "item_id": [10, 20, 10],
        "rating": [5, 3, 4],
        "timestamp": [978300760, None, 978300800],
    },
    "users": {
        "user_id": [1, 2],
        "gender": ["F", "M"],
        "age": [1, 56],
        "occupation": [10, 16],
        "zip_code": ["48067", "55117"],
    },
    "items": {"item_id": [10, 20], "title": ["Heat", "Up"], "genres": ["Crime|Drama", ""]},
}


def write_movielens(folder: Path) -> Path:
    """Write the tables into a new folder."""
    folder.mkdir()
    for name, columns in PARQUET.items():
        pl.DataFrame(columns).write_parquet(folder / f"{name}.parquet")
    return folder
