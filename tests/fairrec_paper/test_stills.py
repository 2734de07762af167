from __future__ import annotations

import altair as alt
import polars as pl

from fairrec_paper.figures import still, to_svg

ROWS = pl.DataFrame({"a": [1, 2], "b": [3, 4]})


def test_title_and_notes_are_drawn():
    chart = alt.Chart(ROWS).mark_point().encode(x="a:Q", y="b:Q")
    drawn = to_svg(still(chart, "A title", ["first note", "second note"]))
    assert all(text in drawn for text in ("A title", "first note", "second note"))
