"""Which metrics have charts."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest

from fairrec import Statistics, audit
from fairrec.report.page.build import build_page_view
from fairrec.report.page.groups import about_drawn, drawn_metrics
from fairrec.report.page.html import MOST_BYTES, page_html
from fairrec.report.page.view import PageLimits
from fairrec.result.audit_result import AuditResult

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
    return audit(
        values=values,
        users=users,
        by="who,where",
        metrics=names,
        statistics=Statistics(permutations=99),
    )


def test_all_are_drawn_where_there_is_room(many):
    limits = PageLimits(metrics=N_METRICS)
    assert drawn_metrics(many.summary, limits) == tuple(many.summary.metrics)
    assert about_drawn(many.summary, limits) == ""


def test_those_with_findings_go_first_and_keep_their_order(many):
    limits = PageLimits(metrics=3)
    assert drawn_metrics(many.summary, limits) == ("m0", "m1", f"m{N_METRICS - 2}")
    assert "3 of 60 metrics" in about_drawn(many.summary, limits)


def test_the_others_keep_their_words_and_rows(many):
    view = build_page_view(many.summary, many.group_table, limits=PageLimits(metrics=3))
    drawn = {"m0", "m1", f"m{N_METRICS - 2}"}
    assert {chart.metric for chart in view.charts if chart.points} == drawn
    assert all(chart.alternative for chart in view.charts) and len(view.charts) == N_METRICS
    assert {part.metric for part in view.certificates if part.steps} <= drawn
    assert all(part.alternative for part in view.certificates)
    assert len(view.certificates) == len(view.verdicts) == N_METRICS
    assert {pair.metric for pair in view.pairs} == drawn
    assert {*view.correlation.metrics} == drawn
    assert {row.metric for row in view.table} == {*many.summary.metrics}


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
