"""The page of a trend."""

from __future__ import annotations

import html
import re
import sys

import fairrec
from fairrec.trends import page as module
from fairrec.trends.page import trend_page
from tests.trends.trend_builders import release, six_releases


def test_the_page_has_the_answer_a_chart_for_each_line_and_its_numbers():
    summary = fairrec.trend(six_releases()).summary
    page = trend_page(summary)
    assert "<h1><bdi>gender=F, age=old is worse since 1.4 in score" in page
    assert page.count("<img src=") == len(summary.lines) == page.count(": the numbers</summary>")
    assert "default-src 'none'; script-src 'none'" in html.unescape(page)
    assert "<script" not in page
    assert not re.search(r'(src|href)="http', page)


def test_more_lines_than_charts_are_said(monkeypatch):
    monkeypatch.setattr(module, "MOST_CHARTS", 2)
    summary = fairrec.trend(six_releases()).summary
    page = trend_page(summary)
    assert page.count("<img src=") == 2
    assert f"{len(summary.lines) - 2} more have no chart" in page


def test_of_many_groups_that_are_worse_the_first_are_seen_and_the_others_unfold():
    summary = fairrec.trend(six_releases()).summary
    (line, *_) = [one for one in summary.lines if one.worse_since is not None]
    many = summary.model_copy(update={"lines": (line,) * 12})
    page = trend_page(many)
    assert "<summary>2 more</summary>" in page and 'href="#worse"' in page
    assert "more</summary>" not in trend_page(summary)


def test_hostile_text_is_escaped():
    name = '"><script>alert(1)</script>'
    audits = [release(seed, 1.0 * (seed > 3), model_version=name, title="t") for seed in range(7)]
    page = trend_page(fairrec.trend(audits, command=f"x {name}").summary)
    assert "<script" not in page and "&lt;script&gt;" in page


def test_the_page_needs_no_extra(tmp_path, monkeypatch):
    result = fairrec.trend(six_releases())
    for extra in ("altair", "vl_convert"):
        monkeypatch.setitem(sys.modules, extra, None)
    result.save(tmp_path / "trend")
    assert "<img src=" in (tmp_path / "trend" / "report.html").read_text()
