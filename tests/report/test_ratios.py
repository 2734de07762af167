"""Ratios between groups as a table."""

from __future__ import annotations

import numpy as np
import polars as pl

import fairrec
from fairrec.report.ratios import LEAST_ROWS, ratio_table
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


def test_four_fifths_is_uncertain_where_the_interval_holds_it():
    table = ratio_table(of_rates(a=0.3, b=0.1, c=0.23).summary)
    assert [row[8] for row in table.rows] == ["below", "below, uncertain", "not below"]
    assert table.rows[0][1] == "group=b" and table.rows[0][4] == "0.333"
    assert "rule of thumb" in table.note and "not a verdict" in table.note


def test_of_a_large_table_the_lowest_ratios_are_shown_and_the_rest_is_counted():
    summary = planted().summary
    everything, few = ratio_table(summary, 10_000), ratio_table(summary, 1)
    assert "rows;" not in everything.note
    assert len(few.rows) == 2 * LEAST_ROWS
    assert f"10 of {len(everything.rows)} rows; all are in result.json." in few.note
    of_auc = [row for row in everything.rows if row[0] == "auc" and row[4] != "-"]
    lowest = sorted(of_auc, key=lambda row: float(row[4]))[:LEAST_ROWS]
    assert {row[1] for row in few.rows if row[0] == "auc"} == {row[1] for row in lowest}


def test_users_of_unknown_attributes_are_not_compared_with_the_best():
    tables = make_tables(200)
    result = audit(
        tables.predictions, tables.users, "gender,age:20", metrics="hit@3", min_support=10
    )
    table = ratio_table(result.summary)
    assert {row[8] for row in table.rows if "(missing)" in row[1]} == {"unknown"}
