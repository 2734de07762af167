"""What chance shows at a size, the same in rows and funnels."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest

import fairrec
from fairrec.report.page.groups import chance_band, others_of_fully_scored
from fairrec.report.page.html import lay_out
from fairrec.result.audit_result import AuditResult
from fairrec.search.options import Search
from tests.report.page.planted_page import planted, planted_result, view_of


@cache
def searched() -> AuditResult:
    return planted_result(search=Search("adaptive", budget_users="30%"))


def test_the_band_is_the_critical_score_times_the_error_of_a_difference():
    result = planted().metrics["auc"]
    n, others = np.array([50.0]), np.array([950.0])
    error = result.sd * np.sqrt(1 / 50 + 1 / 950)
    assert [*result.critical_tails] == [1, 2, 3]
    for depth, (above, below) in result.critical_tails.items():
        low, high = chance_band(result, n, others, depth)
        assert (low[0], high[0]) == pytest.approx((-below * error, above * error))
    widest = np.max([*result.critical_tails.values()], axis=0)
    low, high = chance_band(result, n, others)
    assert (high[0], -low[0]) == pytest.approx(tuple(widest * error))


def test_nobody_to_compare_with_has_no_band():
    low, high = chance_band(planted().metrics["auc"], np.array([0.0, 9.0]), np.array([9.0, 0.0]))
    assert not low.any() and not high.any()


def test_where_all_are_scored_the_others_are_all_the_others():
    summary = planted().summary
    result = summary.metrics["auc"]
    assert others_of_fully_scored(result, summary, np.array(150.0)) == result.n_compared - 150


def test_a_fully_scored_group_is_beside_the_sample_without_its_share_of_it():
    summary = searched().summary
    found = summary.metrics["auc"].findings[0]
    assert found.is_fully_scored
    result, plot = summary.metrics["auc"], view_of(searched()).dots[0]
    row = next(row for row in plot.rows if row.served == "worse")
    in_sample = found.support * result.n_compared / summary.n_users
    error = result.sd * np.sqrt(1 / found.support + 1 / (result.n_compared - in_sample))
    unit = (row.at - plot.zero) / found.shrunken_difference
    assert row.chance[0] - plot.zero == pytest.approx(
        -result.critical_tails[len(found.group)][1] * error * unit, rel=0.01
    )


def test_rows_and_funnel_show_the_same_chance():
    view = view_of(searched())
    plot, chart = view.dots[0], next(c for c in view.charts if c.metric == view.dots[0].metric)
    summary = searched().summary
    result = summary.metrics[plot.metric]
    sizes = np.array([step.size for step in chart.funnel_fully_scored])
    others = others_of_fully_scored(result, summary, sizes)
    low, _ = chance_band(result, sizes, others)
    drawn = np.array([step.low for step in chart.funnel_fully_scored])
    # the mean of all is nearer than that of the others
    assert result.mean - drawn == pytest.approx(-low * others / result.n_compared, rel=1e-3)


def test_groups_that_are_tested_by_their_own_errors_have_no_band_by_size():
    """A finding would else lie within what chance is said to show at its size."""
    n_users, n_items = 300, 60
    rng = np.random.default_rng(0)
    lists = [rng.permutation(n_items)[:5].tolist() for _ in range(n_users)]
    recommended = pl.DataFrame({"user_id": range(n_users), "item_id": lists})
    items = pl.DataFrame({"item_id": range(n_items), "kind": ["a", "b", "c"] * 20})
    of_items = fairrec.audit(
        recommended,
        items=items,
        tables=fairrec.Tables(side="items"),
        by="kind",
        statistics=fairrec.Statistics(permutations=99),
    )
    for result, is_drawn in ((planted(), True), (of_items, False)):
        view = view_of(result)
        assert all(metric.is_tested for metric in result.metrics.values())
        assert [bool(chart.funnel) for chart in view.charts] == [is_drawn] * len(view.charts)
        assert all((row.chance is not None) == is_drawn for dots in view.dots for row in dots.rows)
        page = lay_out(view)
        assert ("There is no band of chance" in page) != is_drawn
        assert "Nothing was tested against chance" not in page
