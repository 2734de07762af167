"""The page as a whole, its card for notebooks, and the charts packed into it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from datetime import datetime, timedelta, timezone
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from pydantic import BaseModel

import fairrec
from fairrec.core.audited_entity import USERS
from fairrec.core.errors import InputError
from fairrec.metrics import METRICS
from fairrec.report.audit_result import AuditResult
from fairrec.report.page import html
from fairrec.report.page.build import build_page_view
from fairrec.report.page.figures import certificate_curve, group_chart, pair_heat_map
from fairrec.report.page.groups import about_drawn, drawn_metrics
from fairrec.report.page.html import (
    MOST_BYTES,
    card_html,
    chart_payload,
    lay_out,
    make_ready,
    page_html,
)
from fairrec.report.page.vega import Rows
from fairrec.report.page.view import PageLimits, PageView
from fairrec.report.view import build_view
from fairrec.result.schema import AuditedModel
from tests.builders import audit, two_groups
from tests.grouped_options import group_options
from tests.report.drawing import page_view
from tests.report.planted import given_result, planted, planted_result, view_of
from tests.report.tags import BAD, Tags
from tests.worlds import random_world

GOLDEN = Path(__file__).parent / "golden_page.txt"
FIRST = 6


def as_text(name: str, part: Any, indent: str = "") -> Iterator[str]:
    """A view as lines; of long sequences the first parts and the number of all."""
    if part == USERS:
        # it is in the words
        return
    if name == "words":
        # the rest of them is compared as Markdown
        yield from as_text("answer", part.answer, indent)
        return
    if is_dataclass(part):
        yield f"{indent}{name}:"
        for one in fields(part):
            yield from as_text(one.name, getattr(part, one.name), indent + "  ")
    elif isinstance(part, BaseModel):
        yield f"{indent}{name}:"
        for field, value in part:
            yield from as_text(field, value, indent + "  ")
    elif isinstance(part, tuple) and any(
        is_dataclass(one) or isinstance(one, BaseModel) for one in part
    ):
        yield f"{indent}{name}: {len(part)}"
        for one in part[:FIRST]:
            yield from as_text("-", one, indent + "  ")
    elif name == "rows" and len(part) > 2 * FIRST:
        yield f"{indent}{name}: {len(part)}, first {part[:FIRST]}"
    elif isinstance(part, float):
        yield f"{indent}{name}: {part:.4g}"
    elif name == "numbers":
        yield f"{indent}{name}: {', '.join('-' if one is None else f'{one:.4g}' for one in part)}"
    else:
        yield f"{indent}{name}: {part}"


def test_the_view_of_a_fixed_world_reads_as_agreed():
    # after a change, read the new text and put it into golden_page.txt
    fixed = planted().summary.model_copy(update={"versions": {"python": "3"}})
    view = build_page_view(fixed, planted().group_table)
    assert "\n".join(as_text("page", view)) + "\n" == GOLDEN.read_text("utf-8")


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (None, ""),
        (AuditedModel(name="ranker", version=""), "ranker"),
        (AuditedModel(name="", version="2"), "2"),
        (AuditedModel(name="<i>\n", version="2.1"), r"<i>\n@2.1"),
    ],
)
def test_the_head_names_audit_model_and_date(model, says):
    summary = planted().summary.model_copy(
        update={"title": "Spring\n", "model": model, "author": "A<b>nn"}
    )
    made = datetime(2026, 11, 15, 23, 2, tzinfo=timezone(timedelta(hours=9)))
    run = planted().run.model_copy(update={"made_at": made})
    view = build_page_view(summary, planted().group_table, run=run)
    assert (view.heading, view.about_model) == (r"Spring\n", says)
    assert view.made_at == "2026-11-15 14:02 UTC"
    assert "<title>FairRec audit: Spring\\n</title>" in lay_out(view)
    brand = lay_out(view).partition('class="brand"')[2].partition("</p>")[0]
    called = [r"Spring\n", escape(says)] if says else [r"Spring\n"]
    shown = [*called, escape("A<b>nn"), view.made_at]
    assert re.findall("<bdi>(.*?)</bdi>", brand) == shown


def test_a_search_shows_how_the_gap_grew():
    result = planted_result(search=fairrec.Search("adaptive", budget_users="30%"))
    view = view_of(result)
    history = view.histories[0]
    assert [step.users for step in history.steps] == sorted(step.users for step in history.steps)
    assert history.steps[-1].gap == pytest.approx(result.metrics["auc"].gap)
    chart = view.charts[0]
    assert chart.funnel_fully_scored
    assert {point.is_fully_scored for point in chart.points} == {True, False}
    # alone against a sample, a fully scored group needs a wider band than one inside it
    inside = np.interp(60, *zip(*((s.size, s.high) for s in chart.funnel), strict=True))
    whole = np.interp(60, *zip(*((s.size, s.high) for s in chart.funnel_fully_scored), strict=True))
    assert whole > inside


def test_in_read_covariates_differences_are_called_adjusted_and_values_as_they_are():
    page = lay_out(view_of(given_result()))
    heads = re.findall(r"<th scope=\"col\"[^>]*>([^<]+)", page)
    assert "Groups beside <bdi>other users with the same tenure</bdi></h2>" in page
    assert {"them, unadjusted", "all others, unadjusted", "adjusted difference"} <= {*heads}
    assert ">adjusted difference</button>" in page and '"shrunken adjusted difference"' in page
    usual = lay_out(view_of(planted()))
    assert "Groups beside <bdi>all other users</bdi></h2>" in usual
    assert "adjusted difference" not in usual.lower() and ", unadjusted<" not in usual


def test_a_card_has_the_answer_and_its_numbers_by_group():
    summary = planted().summary
    answer = build_view(summary, planted().group_table).answer
    card = Tags(card_html(answer))
    assert answer.headline in card.text
    assert answer.about[0] in card.text
    rows = [row for block in answer.table.blocks for row in block.rows]
    assert all(text in card.text for row in rows for text in (row.label, *row.cells))
    n_short = sum(block.is_short for block in answer.table.blocks)
    assert card.tags.count("tr") == 1 + len(rows) + n_short


def test_a_card_runs_and_asks_for_nothing_and_shows_outside_text_as_text():
    tables = two_groups(40, **{BAD: [BAD, "fine"] * 20})
    result = audit(*tables, by=BAD, permutations=99, title=BAD, model_name=BAD)
    card = Tags(result._repr_html_())
    assert {*card.tags} <= {
        *("div", "p", "bdi", "table", "caption", "thead", "tbody", "tr", "th", "td")
    }
    assert card.attributes <= {"style", "scope", "colspan"}
    assert card.text.count(BAD) >= 4


@pytest.fixture
def rare_metric():
    @fairrec.metric("rare", bounds=(0, 1))
    def rare(lists):
        """Defined for two users."""
        return np.where(np.arange(lists.n_users) < 2, 0.5, np.nan)

    yield "rare"
    METRICS.remove("rare")


def random_audit(**options):
    users, predictions = random_world(300)
    return fairrec.audit(predictions, **group_options(users=users, by=["gender", "age"], **options))


def test_metric_without_a_group_has_a_place_without_a_chart(rare_metric):
    result = random_audit(metrics=["auc", rare_metric], min_support=5, permutations=99)
    view = build_page_view(result.summary, result.group_table)
    # 298 of 300 users have no value
    assert view.summary == "Inconclusive in auc and rare."
    page = page_html(result.summary, result.group_table)
    assert page.count('data-chart="chart-') == 1
    let_pass = random_audit(
        metrics=["auc", rare_metric], min_support=5, permutations=99, max_undefined=1
    )
    assert "not tested: rare" in build_page_view(let_pass.summary, let_pass.group_table).summary


def test_names_from_right_to_left_do_not_move_numbers_and_a_command_stays_as_it_is():
    n = 400
    town = np.where(np.arange(n) % 4 == 0, "\u062d\u0644\u0628", "x")
    values = pl.DataFrame({"user_id": np.arange(n), "town": town, "m": 1.0 * (town == "x")})
    result = fairrec.audit(
        values=values,
        by="town",
        tables=fairrec.Tables(better="m=higher"),
        statistics=fairrec.Statistics(permutations=99),
    )
    told = result.summary.model_copy(update={"command": "fairrec audit \u062d\u0644\u0628"})
    page = page_html(told, result.group_table)
    assert "town=\u2068\u062d\u0644\u0628\u2069 (\u2212" in page
    assert "fairrec audit \u062d\u0644\u0628</code>" in page


def test_page_without_tests_speaks_of_none():
    result = random_audit(metrics=["auc"], permutations=0)
    view = build_page_view(result.summary, result.group_table)
    assert view.summary == "Nothing was tested against chance."
    page = page_html(result.summary, result.group_table)
    assert "Nothing was tested for significance" in page
    assert "what chance alone shows" not in page


def test_what_is_made_ready_is_all_that_a_page_loads(monkeypatch: pytest.MonkeyPatch):
    result = random_audit(metrics=["auc"], permutations=0)
    html._environment.cache_clear()
    make_ready()
    loader, loaded = html._environment().loader, []

    def refuse(environment, name, *args):
        loaded.append(name)
        raise AssertionError(name)

    monkeypatch.setattr(loader, "load", refuse)
    assert "</html>" in page_html(result.summary, result.group_table)
    assert loaded == []
    with pytest.raises(AssertionError, match=r"trend\.html\.j2"):
        html.page_template("trend.html.j2")


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


def test_nothing_in_it_ends_the_script_it_stands_in():
    view = pairs_alone(1)
    pair = replace(view.pairs[0], row_name="</script><b>")
    text = chart_payload(replace(view, pairs=(pair,)))
    assert "<" not in text
    assert "</script><b> and" in json.loads(text)["pairs"][0]["words"]


N_METRICS = 60


@pytest.fixture(scope="module")
def many() -> AuditResult:
    """Many metrics; in the last but one, a group is worse."""
    rng = np.random.default_rng(1)
    n = 400
    users = pl.DataFrame(
        {
            "user_id": np.arange(n),
            "who": [f"w{i}" for i in rng.integers(0, 3, n)],
            "where": [f"p{i}" for i in rng.integers(0, 3, n)],
        }
    )
    names = [f"m{i}" for i in range(N_METRICS)]
    values = users.select(
        "user_id",
        *(pl.Series(name, rng.normal(size=n)) for name in names),
    ).with_columns(pl.col(names[-2]) - 3 * (users["who"] == "w0").cast(pl.Float64))
    return fairrec.audit(
        values=values,
        users=users,
        by="who,where",
        metrics=names,
        statistics=fairrec.Statistics(permutations=99),
    )


def test_those_with_findings_go_first_and_keep_their_order(many):
    limits = PageLimits(metrics=3)
    assert drawn_metrics(many.summary, limits) == ("m0", "m1", f"m{N_METRICS - 2}")
    assert "3 of 60 metrics" in about_drawn(many.summary, limits)


def test_the_page_of_many_metrics_is_small_and_says_what_is_drawn(many):
    page = page_html(many.summary, many.group_table)
    assert len(page.encode()) <= MOST_BYTES
    assert "Charts are drawn for 30 of 60 metrics" in page
    payload = json.loads(re.search(r'id="payload">(.*?)</script>', page, re.DOTALL)[1])
    # the filter of the table goes by their places
    assert [name for name, _ in payload["metrics"]] == [*many.summary.metrics]
    assert sum(name.startswith("chart-") for name in payload["charts"]) == 30
    offered = re.search(r'id="pair-metric">(.*?)</select>', page)[1]
    assert offered.count("<option") == 30


def test_a_large_result_keeps_findings_and_ends_and_says_what_is_left_out():
    view = view_of(planted(), limits=PageLimits(points=40, rows=20))
    for chart in view.charts:
        assert len(chart.points) <= 10
        assert {"finding", "best end", "worst end"} <= {point.role for point in chart.points}
    assert len(view.table) <= 20
    assert "of 342 rows are shown" in view.table_note


def test_a_table_of_another_audit_is_refused():
    predictions, users = two_groups(40)
    other = fairrec.audit(
        predictions,
        users=users,
        by="group",
        metrics="mrr",
        statistics=fairrec.Statistics(permutations=9),
    )
    with pytest.raises(InputError, match="does not belong to this result"):
        build_page_view(planted().summary, other.group_table)


def test_a_smaller_page_has_less_of_everything_but_something_of_each():
    whole = PageLimits(40, 20, 10, findings=4, values=2, ratios=6, metrics=8)
    half = PageLimits(20, 10, 5, findings=2, values=1, ratios=3, metrics=4)
    assert whole.scaled(0.5) == half
    assert half.scaled(0.001) == PageLimits(1, 1, 1, 1, 1, 1, 1)
