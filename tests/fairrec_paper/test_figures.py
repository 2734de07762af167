"""Figures of the paper are drawn with what they are about."""

from __future__ import annotations

import polars as pl

from fairrec_paper.figures import (
    grouped_bars,
)
from tests.report.drawing import svg


def test_a_bar_is_drawn_where_there_is_a_value():
    rows = pl.DataFrame(
        {
            "data": ["MovieLens", "MovieLens", "Amazon", "Amazon"],
            "series": ["here", "published"] * 2,
            "value": [-0.028, 0.049, 0.005, None],
        }
    )
    drawn = svg(grouped_bars(rows, "Larger gap", "larger by"))
    for word in ("Larger gap", "larger by", "MovieLens", "Amazon", "+4.9%", "+0.5%"):
        assert word in drawn
    assert "\u22122.8%" in drawn
    assert drawn.count('aria-roledescription="bar"') == 3
