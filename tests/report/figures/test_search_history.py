from __future__ import annotations

from fairrec.report.page.figures import search_history
from tests.report.figures.drawing import page_view, svg


def test_the_chart_of_the_page_is_valid_and_drawn():
    assert "<path" in svg(search_history(page_view().histories[0]).chart())
