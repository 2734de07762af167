"""Counts are the same in parts, the same bits on Ray, and threads change nothing."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from polars.testing import assert_frame_equal

import fairrec
from fairrec.inputs.parts.partition import open_parts
from tests.builders import numbers_of
from tests.counts.small_counts import tables


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Any]:
    given = tables(n_positive=2)
    for table in ("predictions", "users"):
        given[table].write_parquet(tmp_path / f"{table}.parquet")
        given[table] = tmp_path / f"{table}.parquet"
    return given


def count_in_parts(files: dict[str, Any], engine: str) -> fairrec.Counts:
    with (
        patch("fairrec.auditing.count.open_parts", partial(open_parts, n_rows=900)),
        patch("fairrec.auditing.count.is_large", lambda *_: True),
    ):
        return fairrec.count(**files, engine=engine, workers=2)


def test_counts_in_parts_are_those_of_the_whole(files: dict[str, Any]):
    whole, parts = fairrec.count(**files).rows, count_in_parts(files, "local").rows
    assert whole.height > 100
    assert_frame_equal(whole, parts, rel_tol=1e-12)


@pytest.mark.slow
def test_counts_on_ray_are_the_same_bits(files: dict[str, Any]):
    pytest.importorskip("ray", reason="Ray is not installed: it is an extra")
    here, there = (count_in_parts(files, engine).rows for engine in ("local", "ray"))
    assert here.equals(there)


def test_threads_change_nothing(files: dict[str, Any]):
    one, two = (fairrec.audit(**files, threads=n, permutations=199) for n in (1, 2))
    assert numbers_of(one) == numbers_of(two)
    assert one.group_table.equals(two.group_table)
