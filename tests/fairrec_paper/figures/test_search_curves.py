from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from fairrec_paper.figures import search_curves, write_search_curves

CURVE = pl.DataFrame(
    {
        "searcher": ["random", "random", "adaptive", "adaptive"],
        "budget": [0.1, 0.5, 0.1, 0.5],
        "mean": [0.2, 0.6, 0.9, 1.0],
        "sd": [0.1, 0.1, None, 0.05],
    }
)


def test_searchers_stand_in_the_order_of_their_lines():
    chart = search_curves(CURVE, "Accuracy", ["five seeds"])
    (rows,) = chart.to_dict()["datasets"].values()
    # a band ends at 1
    assert max(row["high"] for row in rows) == 1.0
    assert '"domain": ["adaptive", "random"]' in json.dumps(chart.to_dict())


def test_the_ending_of_the_file_says_its_kind(tmp_path: Path):
    chart = search_curves(CURVE, "Accuracy")
    starts = {"svg": b"<svg", "png": b"\x89PNG", "html": b"<!DOCTYPE html>"}
    for ending, start in starts.items():
        file = tmp_path / f"search.{ending}"
        write_search_curves(chart, file)
        assert file.read_bytes().lstrip().startswith(start)
    page = (tmp_path / "search.html").read_text()
    assert 'src="http' not in page
