from __future__ import annotations

import altair as alt
import polars as pl
import pytest

from fairrec.report.figures.still import still, svg_of

ROWS = pl.DataFrame({"a": [1, 2], "b": [3, 4]})


def test_title_and_notes_are_drawn():
    chart = alt.Chart(ROWS).mark_point().encode(x="a:Q", y="b:Q")
    drawn = svg_of(still(chart, "A title", ["first note", "second note"]))
    assert all(text in drawn for text in ("A title", "first note", "second note"))


def test_a_specification_that_is_not_valid_is_an_error():
    chart = alt.Chart(ROWS).mark_point().encode(x="a:Q")
    chart.mark = "no such mark"
    with pytest.raises(alt.utils.schemapi.SchemaValidationError):
        svg_of(still(chart, "A title"))
