"""Rows that are dealt out are all there, in the order they had."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from fairrec.inputs.parts import dealing
from fairrec.inputs.parts.dealing import deal
from fairrec.inputs.parts.piece import scan_rows
from fairrec.inputs.parts.placing import Everyone, KnownCodes
from fairrec.inputs.parts.stored import Stored
from fairrec.inputs.tables import Table


def test_each_part_has_the_rows_of_its_users_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(dealing, "BATCH", 70)
    rng = np.random.default_rng(0)
    # users from 40 on have no attributes
    rows = pl.DataFrame({"user_id": rng.integers(0, 50, 500), "row": np.arange(500)})
    rows.write_parquet(tmp_path / "rows.parquet")
    everyone = Everyone(KnownCodes(np.arange(40)), None, n_main=500, n_rows=60)
    stored = Stored.of(Table(tmp_path / "rows.parquet", "history"))
    for are_all_kept in (True, False):
        home = tmp_path / str(are_all_kept)
        home.mkdir()
        dealt = deal(stored, "user_id", everyone, home, True, are_all_kept)
        found = [scan_rows(some).collect() for some in dealt.rows]
        kept = rows if are_all_kept else rows.filter(pl.col("user_id") < 40)
        assert pl.concat(found).sort("row").equals(kept)
        assert all(part["row"].is_sorted() for part in found)
        users = [{*part["user_id"].to_list()} for part in found]
        assert sum(map(len, users)) == len(set.union(*users))
        assert dealt.n_rows == len(kept)
        assert dealt.n_bytes == sum(file.stat().st_size for file in home.iterdir())
    assert everyone.is_audited.all()


def test_a_part_without_rows_has_the_columns(tmp_path: Path):
    pl.DataFrame({"user_id": [1], "x": ["a"]}).write_parquet(tmp_path / "rows.parquet")
    stored = Stored.of(Table(tmp_path / "rows.parquet", "test"))
    everyone = Everyone(KnownCodes(np.arange(9)), None, n_main=9, n_rows=3)
    dealt = deal(stored, "user_id", everyone, tmp_path, True, True)
    found = [scan_rows(some).collect() for some in dealt.rows]
    assert sorted(map(len, found)) == [0, 0, 1]
    assert {tuple(part.columns) for part in found} == {("user_id", "x")}
