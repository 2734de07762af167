from __future__ import annotations

import polars as pl
import pytest

from tests.fairrec_paper.datasets.movielens_tables import write_movielens
from tests.fairrec_paper.datasets.raw_files import prepared, refusal


@pytest.fixture
def raw(tmp_path):
    return write_movielens(tmp_path / "raw")


def test_parquet_tables_become_a_bundle(raw, tmp_path):
    bundle = prepared("movielens-1m", raw, tmp_path / "bundle")
    assert bundle.interactions.rows() == [
        (1, 10, True, 978300760, 5),
        (1, 20, False, None, 3),
        (2, 10, True, 978300800, 4),
    ]
    assert bundle.users.rows() == [(1, "F", 1, 10), (2, "M", 56, 16)]
    assert bundle.items.rows() == [(10, "Heat", ["Crime", "Drama"]), (20, "Up", [])]
    assert bundle.manifest.notes == ("ratings without a time: 1",)


@pytest.mark.parametrize(
    ("table", "change", "message"),
    [
        (
            "interactions",
            pl.col("rating").alias("stars"),
            "interactions.parquet: no column 'rating'. Columns here: user_id, item_id, timestamp, ",
        ),
        (
            "interactions",
            pl.lit("good").alias("rating"),
            "interactions.parquet: cannot be read as user_id, item_id, rating, timestamp (",
        ),
        (
            "interactions",
            pl.Series("rating", [5, None, None]),
            "interactions.parquet, row 2: rating None is missing (2 such rows).",
        ),
        (
            "interactions",
            pl.Series("user_id", [1, 1, 9]),
            "interactions.parquet, row 3: user_id 9 is not in users.parquet.",
        ),
        (
            "users",
            pl.lit(1).alias("user_id"),
            "users.parquet, row 2: user_id 1 appears more than once.",
        ),
    ],
)
def test_broken_parquet_tables_are_refused_by_row(raw, table, change, message):
    file = raw / f"{table}.parquet"
    changed = pl.read_parquet(file).with_columns(change)
    kept = changed.drop("rating") if "stars" in changed.columns else changed
    kept.write_parquet(file)
    assert refusal("movielens-1m", raw).startswith(message)


def test_a_file_that_is_not_parquet_is_refused(raw):
    (raw / "users.parquet").write_text("no table")
    assert refusal("movielens-1m", raw).startswith("users.parquet: cannot be read as ")
