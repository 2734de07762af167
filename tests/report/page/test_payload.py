"""The charts of the page as one JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from fairrec.mitigation.view import TradeOff, TradeOffLine
from fairrec.report.figures.curves import certificate_curve
from fairrec.report.figures.figure import Rows
from fairrec.report.figures.groups import group_chart, pair_heat_map
from fairrec.report.page.payload import chart_payload, pair_names
from fairrec.report.page.view import PageView
from tests.report.figures.drawing import page_view
from tests.report.text.small_view import mitigation_view


def unpacked(columns: dict[str, Any], texts: list[str]) -> Rows:
    """Columns -> rows, as the page's script does it."""
    values = [
        [texts[at] for at in column] if is_text else column
        for column, is_text in zip(columns["columns"], columns["texts"], strict=True)
    ]
    return [dict(zip(columns["names"], row, strict=True)) for row in zip(*values, strict=True)]


def pairs_alone(n: int) -> PageView:
    """A page with nothing but the first pairs."""
    view = page_view()
    return replace(
        view, charts=(), certificates=(), histories=(), correlation=None, pairs=view.pairs[:n]
    )


def test_every_chart_has_its_specification_and_its_data():
    view = page_view()
    payload = json.loads(chart_payload(view))
    assert payload["metrics"] == [["auc", "chart-0"], ["mrr@5", "chart-1"]]
    assert {*payload["charts"]} == {
        *(chart.anchor for chart in view.charts),
        *(f"history-{at}" for at in range(len(view.histories))),
        *(part.anchor for part in view.certificates if part.steps),
        "correlation",
    }
    figures = [
        *((payload["charts"][chart.anchor], group_chart(chart)) for chart in view.charts),
        *((payload["charts"][part.anchor], certificate_curve(part)) for part in view.certificates),
        *zip(payload["pairs"], map(pair_heat_map, view.pairs), strict=True),
    ]
    for packed, figure in figures:
        assert payload["specs"][packed["spec"]] == json.loads(json.dumps(figure.spec))
        data = {
            name: unpacked(columns, payload["texts"]) for name, columns in packed["data"].items()
        }
        assert data == {name: rows for name, rows in figure.data.items() if rows}


def test_what_comes_twice_is_kept_once():
    view = pairs_alone(2)
    once, twice = (json.loads(chart_payload(replace(view, pairs=view.pairs * n))) for n in (1, 2))
    assert len(twice["pairs"]) == 2 * len(once["pairs"])
    assert twice["specs"] == once["specs"]
    assert twice["texts"] == once["texts"]
    assert len({*once["texts"]}) == len(once["texts"])


def test_pairs_are_known_by_the_place_of_their_attributes_and_metric():
    view = pairs_alone(6)
    names = pair_names(view.pairs)
    assert names == ["gender and age", "gender and job", "age and job"]
    packed = json.loads(chart_payload(view))["pairs"]
    for part, pair in zip(packed, view.pairs, strict=True):
        assert names[part["pair"]] == f"{pair.row_name} and {pair.column_name}"
        assert view.metrics[part["metric"]] == pair.metric
        assert f"{len(pair.cells)} combination" in part["words"]


def test_nothing_in_it_ends_the_script_it_stands_in():
    view = pairs_alone(1)
    pair = replace(view.pairs[0], row_name="</script><b>")
    text = chart_payload(replace(view, pairs=(pair,)))
    assert "<" not in text
    assert "</script><b> and" in json.loads(text)["pairs"][0]["words"]


def test_curves_of_a_mitigation_are_among_the_charts():
    lines = (TradeOffLine(0.0, 0.2, "some"), TradeOffLine(1.0, 0.3, "some"))
    curve = TradeOff("urd@5", True, 0.5, lines, "in words")
    with_curves = replace(pairs_alone(0), mitigation=mitigation_view(trade_offs=(curve, curve)))
    charts = json.loads(chart_payload(with_curves))["charts"]
    assert {name for name in charts if name.startswith("trade")} == {"trade-off-0", "trade-off-1"}
