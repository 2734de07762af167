"""MovieLens as three small Parquet tables."""

from __future__ import annotations

from pathlib import Path

import polars as pl

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
