from __future__ import annotations

import subprocess
import sys

import pytest

from fairrec.report.figures.figure import STILL_INK, STILL_STYLES
from fairrec.report.figures.groups import group_chart
from tests.report.figures.drawing import page_view


def test_the_specification_is_the_chart_without_its_data():
    figure = group_chart(page_view().charts[0])
    whole = figure.chart().to_dict()
    assert whole.pop("datasets") == {name: list(rows) for name, rows in figure.data.items()}
    # by itself a chart has the colours that the page sets by its theme
    config = whole.pop("config")
    assert config.pop("style") == STILL_STYLES
    assert config.pop("legend") == {"symbolFillColor": STILL_INK}
    # the size of a chart that says none, which Altair writes into each
    assert [*config] == ["view"]
    assert figure.spec == whole


@pytest.mark.slow
def test_the_page_draws_without_the_extra_for_pictures():
    code = (
        "import sys\n"
        "from fairrec.report.page.html import lay_out\n"
        "from tests.report.figures.drawing import page_view\n"
        "assert 'vegaEmbed' in lay_out(page_view())\n"
        "assert not {'altair', 'vl_convert'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
