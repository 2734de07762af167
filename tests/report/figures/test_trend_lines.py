"""The chart of one line."""

from __future__ import annotations

import re

import pytest

import fairrec
from fairrec.report.figures.palette import GROUP, WORSE
from fairrec.report.figures.still import svg_of
from fairrec.report.figures.trend_lines import reach_of, trend_lines
from tests.workflows.trend_builders import release, six_releases, users_of


def drawn(audits, **options):
    summary = fairrec.trend(audits, group="gender=F,age=old", **options).summary
    (line,) = summary.lines
    return line, trend_lines(line, summary.releases, reach_of([line]))


def rows_of(spec, layer):
    """The data of a layer; altair keeps all data sets together."""
    return spec["datasets"][spec["layer"][layer]["data"]["name"]]


def test_harms_intervals_and_the_release_since_which_it_is_worse_are_drawn():
    line, chart = drawn(six_releases())
    spec = chart.to_dict()
    rows = rows_of(spec, 2)
    assert [row["harm"] for row in rows] == [point.harm for point in line.points]
    assert [(row["low"], row["high"]) for row in rows] == [
        pytest.approx(point.interval) for point in line.points
    ]
    assert rows_of(spec, -1) == [{"at": 2.5}]
    assert spec["layer"][2]["mark"]["color"] == WORSE
    svg = svg_of(chart)
    assert "1.1" in svg and "1.6" in svg and "worse since 1.4" in svg


def test_a_line_that_did_not_grow_has_no_mark_and_one_with_a_gap_is_broken():
    few = users_of().filter((users_of()["gender"] != "F") | (users_of()["age"] != "old"))
    line, chart = drawn([release(1), release(2), release(3, users=few), release(4), release(5)])
    spec = chart.to_dict()
    assert len(spec["layer"]) == 4
    assert rows_of(spec, 2)[2]["harm"] is None
    assert spec["layer"][2]["mark"]["color"] == GROUP
    assert line.points[2] is None
    drawn_line = re.search(r'class="mark-line.*?d="(.*?)"', svg_of(chart), re.S)
    # the pen is lifted once
    assert drawn_line[1].count("M") == 2


def test_an_interval_without_a_limit_ends_with_the_axis():
    line, _ = drawn(six_releases()[:2])
    point = line.points[0].model_copy(update={"interval": (None, 50.0)})
    wide = line.model_copy(update={"points": (point, line.points[1])})
    low, high = reach_of([wide])
    assert high < 5
    summary = fairrec.trend(six_releases()[:2]).summary
    rows = rows_of(trend_lines(wide, summary.releases, (low, high)).to_dict(), 2)
    assert (rows[0]["low"], rows[0]["high"]) == (low, high)


def test_a_hostile_name_cannot_leave_its_label():
    _, chart = drawn([release(1, model_version="'];alert(1)//\\</svg>"), *six_releases()[1:]])
    labels = chart.to_dict()["layer"][2]["encoding"]["x"]["axis"]["labelExpr"]
    assert labels.startswith(r"['\u0027\u005d\u003balert\u00281\u0029\u002f")
    assert "alert(1)" in svg_of(chart) and "</svg>//" not in svg_of(chart)
