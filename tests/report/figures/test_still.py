from __future__ import annotations

import sys

import altair as alt
import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.report.page.vega import need_figures, still, svg_of

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


@pytest.mark.parametrize("package", ["altair", "vl_convert"])
def test_without_the_extra_it_is_said_what_to_install(package, monkeypatch):
    need_figures()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"needs {package}: pip install 'fairrec\[figures\]'"):
        need_figures()
