from __future__ import annotations

from pathlib import Path

from fairrec.counts.options import CountsOptions


def test_one_file_or_several_or_counts_themselves():
    assert CountsOptions(counts="a.parquet").counts == (Path("a.parquet"),)
    several = CountsOptions(counts=["a.parquet", Path("b.parquet")]).counts
    assert several == (Path("a.parquet"), Path("b.parquet"))
    counts = object()
    assert CountsOptions(counts=counts).counts == (counts,)
    assert CountsOptions().counts == ()
