"""How much a page shows."""

from __future__ import annotations

from fairrec.report.page.view import PageLimits


def test_a_smaller_page_has_less_of_everything_but_something_of_each():
    half = PageLimits(points=40, rows=20, cells=10, findings=4, values=2, ratios=6).scaled(0.5)
    assert half == PageLimits(points=20, rows=10, cells=5, findings=2, values=1, ratios=3)
    assert half.scaled(0.001) == PageLimits(1, 1, 1, 1, 1, 1)
