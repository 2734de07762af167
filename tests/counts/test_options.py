from __future__ import annotations

from pathlib import Path

from fairrec.counts.options import CountsOptions


def test_one_file_or_several_or_counts_themselves():
    assert CountsOptions.of(counts="a.parquet").counts == (Path("a.parquet"),)
    several = CountsOptions.of(counts=["a.parquet", Path("b.parquet")]).counts
    assert several == (Path("a.parquet"), Path("b.parquet"))
    counts = object()
    assert CountsOptions.of(counts=counts).counts == (counts,)
    assert CountsOptions.of().counts == ()
