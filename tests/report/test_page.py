"""The page as a whole, its card for notebooks, and the charts packed into it."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta, timezone
from html import escape
from typing import Any

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.metrics import METRICS
from fairrec.report.answer import Answer
from fairrec.report.page.audit import page_html
from fairrec.report.page.groups import MOST_METRICS
from fairrec.report.page.html import Chart, Section, card_html, script_data, write_page
from fairrec.report.page.vega import Figure, Rows
from fairrec.report.view import build_view
from fairrec.report.words import TableView
from fairrec.result.schema import AuditedModel
from tests.builders import audit, two_groups
from tests.grouped_options import group_options
from tests.report.planted import given_result, groups_of, page_of, planted
from tests.report.tags import BAD, Tags
from tests.worlds import random_world


@pytest.mark.parametrize(
    ("model", "label"),
    [
        (None, ""),
        (AuditedModel(name="ranker", version=""), "ranker"),
        (AuditedModel(name="", version="2"), "2"),
        (AuditedModel(name="<i>\n", version="2.1"), r"<i>\n@2.1"),
    ],
)
def test_the_head_names_audit_model_author_and_date(model, label):
    summary = planted().summary.model_copy(
        update={"title": "Spring\n", "model": model, "author": "A<b>nn"}
    )
    made = datetime(2026, 11, 15, 23, 2, tzinfo=timezone(timedelta(hours=9)))
    run = planted().run.model_copy(update={"made_at": made})
    page = page_html(summary, planted().group_table, run=run)
    assert "<title>FairRec audit: Spring\\n</title>" in page
    brand = page.partition('class="brand"')[2].partition("</p>")[0]
    called = [r"Spring\n", escape(label)] if label else [r"Spring\n"]
    expected = [*called, escape("A<b>nn"), "2026-11-15 14:02 UTC"]
    assert re.findall("<bdi>(.*?)</bdi>", brand) == expected


def test_with_covariates_differences_are_called_adjusted_and_values_unadjusted():
    page = page_of(given_result())
    heads = re.findall(r"<th scope=\"col\"[^>]*>([^<]+)", page)
    assert ">Groups beside other users with the same tenure</h2>" in page
    assert {"value, unadjusted", "all others, unadjusted", "adjusted difference"} <= {*heads}
    assert ">adjusted difference</button>" in page
    usual = page_of(planted())
    assert ">Groups beside all other users</h2>" in usual
    assert "adjusted difference" not in usual.lower() and ", unadjusted<" not in usual


def test_a_card_has_the_answer_and_its_numbers_by_group():
    answer = build_view(planted().summary, planted().group_table).answer
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


def test_a_metric_without_a_group_has_a_verdict_without_a_chart(rare_metric):
    result = random_audit(metrics=["auc", rare_metric], min_support=5, permutations=99)
    page = page_of(result)
    assert page.count('data-chart="groups-') == 1
    assert 'href="#groups-0"' in page and 'href="#groups-1"' not in page
    verdicts = page[page.index('id="verdicts"') : page.index('id="groups"')]
    assert "<bdi>rare</bdi></h3>" in verdicts


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
    summary = result.summary.model_copy(update={"command": "fairrec audit \u062d\u0644\u0628"})
    page = page_html(summary, result.group_table)
    assert "town=\u2068\u062d\u0644\u0628\u2069 (\u2212" in page
    assert "fairrec audit \u062d\u0644\u0628</code>" in page


def test_a_page_without_tests_speaks_of_none():
    page = page_of(random_audit(metrics=["auc"], permutations=0))
    assert "Nothing was tested for significance" in page
    assert 'id="dots"' not in page and 'id="ruled-out"' not in page


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
        page_html(planted().summary, other.group_table)


def test_a_page_shows_every_part_of_a_section_and_escapes_it():
    table = TableView(BAD, (BAD, "n"), (False, True), ((BAD, "1"),), BAD)
    section = Section(
        "one", BAD, sentences=(BAD,), warnings=(BAD,), tables=(table,), notes=(BAD,), command=BAD
    )
    page = write_page("trend", Answer("open", BAD, about=(BAD,)), [section], title=BAD)
    assert Tags(page).text.count(BAD) == 13
    assert "img" not in Tags(page).tags
    # nothing to draw needs no library
    assert "vegaEmbed=" not in page and 'data-do="print"' in page


def test_guides_are_links_to_the_site():
    steps = (f"{BAD} (docs/how-to/inconclusive.md)", "see docs/metrics.md")
    page = write_page("audit", Answer("open", "", next_steps=steps), [charts()], title="")
    assert 'inconclusive.html">inconclusive</a>)' in page
    assert 'href="https://fairrec.github.io/fairrec/metrics.html">metrics</a>' in page
    assert "img" not in Tags(page).tags


def unpacked(columns: dict[str, Any], texts: list[str]) -> Rows:
    """Columns -> rows, as the page's script does it."""
    values = [
        [texts[at] for at in column] if is_text else column
        for column, is_text in zip(columns["columns"], columns["texts"], strict=True)
    ]
    return [dict(zip(columns["names"], row, strict=True)) for row in zip(*values, strict=True)]


def charts(*figures: Figure) -> Section:
    return Section("a", "title", charts=[Chart("one", figure, "words") for figure in figures])


def test_charts_are_packed_with_specifications_and_texts_once():
    rows = [{"label": "x", "value": 1.5}, {"label": "y", "value": None}]
    figure = Figure({"mark": "point"}, {"points": rows, "none": []})
    once, twice = (json.loads(script_data([charts(*[figure] * n)])) for n in (1, 2))
    assert {*twice["charts"]} == {"a-0", "a-1"}
    assert once["specs"] == twice["specs"] == [{"mark": "point"}]
    assert once["texts"] == twice["texts"] == ["x", "y"]
    for packed in twice["charts"].values():
        assert {*packed["data"]} == {"points"}
        assert unpacked(packed["data"]["points"], twice["texts"]) == rows


def test_nothing_in_the_data_ends_the_script_it_stands_in():
    figure = Figure({"title": "</script><b>"}, {"points": [{"label": "</script>"}]})
    text = script_data([charts(figure)])
    assert "<" not in text
    assert json.loads(text)["texts"] == ["</script>"]


N_METRICS = 60


def test_of_many_metrics_those_with_findings_are_drawn():
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
    many = fairrec.audit(
        values=values,
        users=users,
        by="who,where",
        metrics=names,
        statistics=fairrec.Statistics(permutations=99),
    )
    drawn = groups_of(many).drawn
    assert drawn == [*names[: MOST_METRICS - 1], names[-2]]
    page = page_of(many)
    assert len(page.encode()) < 2_000_000
    assert f"Charts are drawn for {MOST_METRICS} of {N_METRICS} metrics" in page
    payload = json.loads(re.search(r'id="payload">(.*?)</script>', page, re.DOTALL)[1])
    assert [name for name, _ in payload["metrics"]] == drawn
    assert sum(name.startswith("groups-") for name in payload["charts"]) == MOST_METRICS
    offered = re.search(r'id="pair-metric">(.*?)</select>', page)[1]
    assert offered.count("<option") == MOST_METRICS
