"""Ratios and inequality in words."""

from __future__ import annotations

import numpy as np
import polars as pl

import fairrec
from fairrec.report.ratios import LEAST_ROWS, ratios_view
from fairrec.report.words import number
from tests.builders import audit, make_tables
from tests.report.planted import planted


def of_rates(n_users: int = 1000, **rates: float) -> fairrec.AuditResult:
    """Groups of the same size with exactly these shares of hits."""
    group = np.repeat([*rates], n_users)
    values = np.concatenate([np.arange(n_users) < round(rate * n_users) for rate in rates.values()])
    ids = np.arange(len(group))
    return fairrec.audit(
        values=pl.DataFrame({"user_id": ids, "bought": values.astype(float)}),
        users=pl.DataFrame({"user_id": ids, "group": group}),
        by="group",
        tables=fairrec.Tables(better={"bought": "higher"}),
        statistics=fairrec.Statistics(permutations=0),
    )


def test_a_group_that_is_surely_below_is_said_with_the_best_and_the_interval():
    view = ratios_view(of_rates(a=0.3, b=0.1, c=0.23).summary)
    assert "bought of group=b is 0.333 of that of group=a (0." in view.below
    # 0.77 of the best, but its interval holds 0.8
    assert "group=c" not in view.below
    assert "rule of thumb" in view.below and "not a verdict" in view.below
    assert [row[8] for row in view.table.rows] == ["below", "below, uncertain", "not below"]
    assert ratios_view(of_rates(a=0.3, b=0.29).summary).below == ""


def test_of_a_large_table_the_lowest_ratios_are_shown_and_the_rest_is_counted():
    summary = planted().summary
    everything, few = ratios_view(summary, 10_000), ratios_view(summary, 1)
    assert everything.table.note == ""
    assert len(few.table.rows) == 2 * LEAST_ROWS
    assert few.table.note.startswith(f"10 of {len(everything.table.rows)} rows are shown")
    of_auc = [row for row in everything.table.rows if row[0] == "auc" and row[4] != "-"]
    lowest = sorted(of_auc, key=lambda row: float(row[4]))[:LEAST_ROWS]
    assert {row[1] for row in few.table.rows if row[0] == "auc"} == {row[1] for row in lowest}


def test_who_is_left_out_is_counted_and_what_all_metrics_share_is_said_once():
    tables = make_tables(200)
    result = audit(
        tables.predictions,
        tables.users,
        "gender,age:20",
        metrics="hit@3,recall@3,pooled_auc,urp@3",
        history=tables.history,
        min_support=10,
    )
    view = ratios_view(result.summary)
    (unknown,) = (note for note in view.notes if note.startswith("Unknown"))
    by = result.summary.ratios.metrics["hit@3"].by
    assert f"{by[0].n_unknown} users by gender" in unknown
    assert f"{by[2].n_unknown} users by gender x age" in unknown
    assert any(note.startswith("Not listed, too small or unknown: ") for note in view.notes)
    assert "hit@3: The rate is the share of users with 1." in view.notes
    assert "No ratios of pooled_auc: it is no mean." in view.notes
    assert "No ratios of urp@3: neither end is better." in view.notes
    assert {row[8] for row in view.table.rows if "(missing)" in row[1]} == {"unknown"}


def test_the_gini_index_is_named_for_every_metric():
    metrics = planted().summary.ratios.metrics
    assert ratios_view(planted().summary).gini == (
        "Gini index, 0 where all users have the same value: "
        f"{', '.join(f'{name} {number(one.gini)}' for name, one in metrics.items())}."
    )
