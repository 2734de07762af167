"""The chart of one line."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

import fairrec
from fairrec.report.figures.figure import GROUP, WORSE
from fairrec.trends.page import HEIGHT, reach_of, trend_lines
from tests.trends.trend_builders import release, six_releases, users_of

SVG = "{http://www.w3.org/2000/svg}"


def drawn(audits):
    summary = fairrec.trend(audits, group="gender=F,age=old").summary
    (line,) = summary.lines
    chart = trend_lines(line, summary.releases, reach_of([line]))
    return line, ElementTree.fromstring(chart)


def harms(chart, line, name="circle", at="cy"):
    """The harms at which marks are drawn."""
    low, high = reach_of([line])
    marks = [mark for mark in chart.iter(SVG + name) if mark.get("stroke", WORSE) in (WORSE, GROUP)]
    return [high - (float(mark.get(at)) - 40) * (high - low) / HEIGHT for mark in marks]


def texts(chart):
    return " ".join(text.text for text in chart.iter(SVG + "text"))


def test_harms_intervals_and_the_release_since_which_it_is_worse_are_drawn():
    line, chart = drawn(six_releases())
    low, high = reach_of([line])
    close = pytest.approx
    by_pixel = (high - low) / HEIGHT
    assert harms(chart, line) == close([point.harm for point in line.points], abs=by_pixel)
    for at, end in (("y1", 0), ("y2", 1)):
        ends = [point.interval[end] for point in line.points]
        assert harms(chart, line, "line", at) == close(ends, abs=by_pixel)
    (since,) = [one for one in chart.iter(SVG + "line") if one.get("stroke-dasharray")]
    places = [float(one.get("cx")) for one in chart.iter(SVG + "circle")]
    assert places[2] < float(since.get("x1")) < places[3]
    assert {one.get("fill") for one in chart.iter(SVG + "circle")} == {WORSE}
    said = texts(chart)
    assert "1.1" in said and "1.6" in said and "worse since 1.4" in said


def test_a_line_that_did_not_grow_has_no_mark_and_one_with_a_gap_is_broken():
    few = users_of().filter((users_of()["gender"] != "F") | (users_of()["age"] != "old"))
    line, chart = drawn([release(1), release(2), release(3, users=few), release(4), release(5)])
    assert line.points[2] is None
    assert not [one for one in chart.iter(SVG + "line") if one.get("stroke-dasharray")]
    assert [len(one.get("points").split()) for one in chart.iter(SVG + "polyline")] == [2, 2]
    assert {one.get("fill") for one in chart.iter(SVG + "circle")} == {GROUP}


def test_an_interval_without_a_limit_ends_with_the_axis():
    line, _ = drawn(six_releases()[:2])
    point = line.points[0].model_copy(update={"interval": (None, 50.0)})
    wide = line.model_copy(update={"points": (point, line.points[1])})
    low, high = reach_of([wide])
    assert high < 5
    summary = fairrec.trend(six_releases()[:2]).summary
    chart = ElementTree.fromstring(trend_lines(wide, summary.releases, (low, high)))
    ends = [harms(chart, wide, "line", at)[0] for at in ("y1", "y2")]
    assert ends == pytest.approx([low, high], abs=1e-9)


def test_a_hostile_name_stays_text():
    _, chart = drawn([release(1, model_version="</svg><script>"), *six_releases()[1:]])
    assert "</svg><script>" in texts(chart) and not [*chart.iter(SVG + "script")]
