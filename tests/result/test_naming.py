from __future__ import annotations

import hashlib
import os
from pathlib import Path

import polars as pl

from fairrec.inputs.tables import Table
from fairrec.result.summary import input_summaries
from tests.builders import audit, make_tables


def test_tables_are_named_with_the_checksum_of_their_file(tmp_path: Path):
    frame = pl.DataFrame({"user_id": [1]})
    path = tmp_path / "users.parquet"
    frame.write_parquet(path)
    found = input_summaries({"users": Table(path, "users"), "items": Table(frame, "items")})
    assert found["users"].name == "users.parquet"
    assert found["users"].sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found["items"].name == "the items table"
    assert found["items"].sha256 is None


def test_a_path_that_is_no_unicode_can_be_written_as_json(tmp_path: Path):
    path = tmp_path / os.fsdecode(b"caf\xe9.csv")
    path.write_text("user_id\n1\n")
    found = input_summaries({"users": Table(path, "users")})["users"]
    assert "caf" in found.model_dump_json()


def test_metrics_stand_in_the_order_they_were_asked_for():
    tables = make_tables()
    names = ["pooled_auc", "mrr@3", "auc"]
    result = audit(tables.predictions, tables.users, "gender,member", metrics=names)
    assert [*result.metrics] == names
    summary = result.summary
    assert (summary.by, [*summary.attributes]) == (("gender", "member"), ["gender", "member"])
    assert summary.n_users == tables.users.height
    assert summary.n_candidates == tables.predictions.height
    assert (summary.permutations, summary.seed) == (39, 0)
    assert set(summary.versions) == {"python", "numpy", "polars", "scipy", "numba"}
