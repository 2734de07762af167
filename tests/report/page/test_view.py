"""How much a page shows."""

from __future__ import annotations

from fairrec.report.page.view import PageLimits


def test_a_smaller_page_has_less_of_everything_but_something_of_each():
    whole = PageLimits(40, 20, 10, findings=4, values=2, ratios=6, metrics=8)
    half = PageLimits(20, 10, 5, findings=2, values=1, ratios=3, metrics=4)
    assert whole.scaled(0.5) == half
    assert half.scaled(0.001) == PageLimits(1, 1, 1, 1, 1, 1, 1)
