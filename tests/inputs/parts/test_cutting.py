"""Cuts are where a user ends, and tables in which a user comes back have none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from fairrec.inputs.parts import cutting
from fairrec.inputs.parts.cutting import find_cuts, user_runs
from fairrec.inputs.parts.stored import Stored
from fairrec.inputs.tables import Table


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches that borders of users and of parts do not agree with."""
    monkeypatch.setattr(cutting, "BATCH", 4)
    monkeypatch.setattr(cutting, "_FIRST_LOOK", 2)


def table_of(path: Path, ids: list[object]) -> Stored:
    pl.DataFrame({"user_id": ids}).write_parquet(path)
    return Stored.of(Table(path, "predictions"))


def test_parts_are_as_small_as_they_can_be_and_end_where_a_user_does(tmp_path: Path):
    rng = np.random.default_rng(0)
    for _ in range(20):
        lengths = rng.integers(1, 9, 7)
        ids = np.repeat(rng.permutation(50)[:7], lengths)
        ends = np.cumsum(lengths).tolist()
        for n_rows in (1, 3, 10, 100):
            cuts = find_cuts(table_of(tmp_path / "a.parquet", ids.tolist()), "user_id", n_rows)
            assert cuts is not None
            expected = [0]
            for end in ends:
                if end - expected[-1] >= n_rows or end == ends[-1]:
                    expected.append(end)
            assert cuts.rows.tolist() == expected
            assert cuts.codes.tolist() == list(dict.fromkeys(ids.tolist()))
            assert [0, *ends][cuts.users[1]] == cuts.rows[1]


@pytest.mark.parametrize(
    "ids",
    [
        [1, 2, 1],
        [5, 5, 5, 5, 4, 4, 4, 4, 3, 3, 3, 3, 5],
        [1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 1],
        ["b", "a", "b"],
        # the same id where all are numbers
        ["1", "2", "1.0"],
    ],
)
def test_a_user_who_comes_back_is_found(tmp_path: Path, ids: list[object]):
    assert find_cuts(table_of(tmp_path / "a.parquet", ids), "user_id", 2) is None
    assert find_cuts(table_of(tmp_path / "a.parquet", ids[:-1]), "user_id", 2) is not None


def test_ids_are_text_where_one_of_them_is(tmp_path: Path):
    for ids, is_text in ((["1", "2", "3", "4", "5", "x"], True), (["1", "2", "3.0"], False)):
        cuts = find_cuts(table_of(tmp_path / "a.parquet", ids), "user_id", 1)
        assert cuts is not None
        assert cuts.is_text is is_text


def test_runs_are_told_from_each_other():
    for ids in ([3, 3, 1, 3], ["c", "c", "a", "c"], [3, 3, None, 3], [None, None, 3, None]):
        for kind in (None, pl.Int32) if isinstance(ids[-2], int) else (None,):
            heads, starts = user_runs(pl.Series(ids, dtype=kind))
            assert heads.to_list() == [ids[0], ids[2], ids[3]]
            assert starts.tolist() == [0, 2, 3]
    assert user_runs(pl.Series([], dtype=pl.Int64))[1].tolist() == []
