from __future__ import annotations

from fairrec.report.figures.group_chart import group_chart
from tests.report.figures.drawing import page_view


def test_the_specification_is_the_chart_without_its_data():
    figure = group_chart(page_view().charts[0])
    whole = figure.chart().to_dict()
    assert whole.pop("datasets") == {name: list(rows) for name, rows in figure.data.items()}
    assert figure.spec() == whole
