"""Every chart of the page is a valid specification that Vega can draw."""

from __future__ import annotations

import pytest

import fairrec
from fairrec.report.figures.group_chart import group_chart
from fairrec.report.figures.metric_correlation import correlation_map
from fairrec.report.figures.pair_heat_map import pair_heat_map
from fairrec.report.figures.search_history import search_history
from fairrec.report.page.build import build_page_view
from tests.report.figures.drawn import svg
from tests.worlds import ATTRIBUTES, random_world


@pytest.fixture(scope="module")
def view():
    users, predictions = random_world(2000, {"gender": "F"}, effect=1.0, seed=1)
    result = fairrec.audit(
        predictions,
        users=users,
        by=list(ATTRIBUTES),
        metrics=["auc", "mrr@5"],
        permutations=49,
        min_support=10,
        search=fairrec.SearchOptions("adaptive", budget_users="50%"),
    )
    return build_page_view(result.summary, result.group_table)


def test_the_charts_of_the_page_are_valid_and_drawn(view):
    for figure in (
        group_chart(view.charts[0]),
        pair_heat_map(view.pairs[0]),
        correlation_map(view.correlation),
        search_history(view.histories[0]),
    ):
        assert "<path" in svg(figure.chart())


def test_the_specification_is_the_chart_without_its_data(view):
    figure = group_chart(view.charts[0])
    whole = figure.chart().to_dict()
    assert whole.pop("datasets") == {name: list(rows) for name, rows in figure.data.items()}
    assert figure.spec() == whole
