"""The ratios of a result as one table."""

from __future__ import annotations

import polars as pl

from tests.builders import audit, make_tables


def test_each_metric_and_group_is_a_row_with_its_ratios():
    tables = make_tables(200)
    result = audit(
        tables.predictions, tables.users, "gender,member", metrics=["mrr@3", "pooled_auc", "hit@3"]
    )
    parts = [
        (name, group)
        for name, metric in result.summary.ratios.metrics.items()
        for one in metric.by
        for group in one.groups
    ]
    table = result.ratios
    assert table["metric"].to_list() == [name for name, _ in parts]
    assert {*table["metric"]} == {"mrr@3", "hit@3"}
    for row, (_, group) in zip(table.iter_rows(named=True), parts, strict=True):
        named = {name: value for name, value in row["group"].items() if value is not None}
        assert named == {name: str(value) for name, value in group.group.items()}
        assert (row["support"], row["value"], row["rate"]) == (
            group.support,
            group.value,
            group.rate,
        )
        assert (row["to_best"], row["impact_ratio"]) == (group.to_best, group.impact_ratio)
        assert (row["four_fifths"], row["left_out"]) == (group.four_fifths, group.left_out)
        assert (row["to_rest"], (row["to_rest_low"], row["to_rest_high"])) == (
            group.to_rest,
            group.to_rest_interval,
        )
        best = (row["to_best_low"], row["to_best_high"])
        assert best == (group.to_best_interval or (None, None))
    single = table.unnest("group").filter(pl.col("gender") == "F", pl.col("member").is_null())
    assert single.height == 2


def test_a_result_without_ratios_has_an_empty_table_of_the_same_columns():
    tables = make_tables()
    result = audit(tables.predictions, tables.users, "gender", metrics="pooled_auc,mrr")
    none = audit(tables.predictions, tables.users, "gender", metrics="pooled_auc")
    assert none.ratios.height == 0
    assert none.ratios.schema == result.ratios.schema
