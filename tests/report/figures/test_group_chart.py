from __future__ import annotations

from fairrec.report.figures.group_chart import group_chart
from tests.report.figures.drawing import page_view, svg


def test_the_chart_of_the_page_is_valid_and_drawn():
    assert "<path" in svg(group_chart(page_view().charts[0]).chart())
