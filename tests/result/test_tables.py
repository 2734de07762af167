"""The tables of a result."""

from __future__ import annotations

from types import MappingProxyType

import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from pytest import approx

from fairrec.result.tables import (
    ADJUSTED,
    BOUNDED,
    NUMBERS,
    OF_ITEMS,
    RESERVED,
    group_table,
)
from tests.builders import audit, make_tables, one_each
from tests.statistics.small_worlds import described, random_analysis


def table_of(analysis):
    return group_table(analysis, described(analysis))


def test_one_row_for_each_metric_and_group_with_enough_users():
    analysis = random_analysis(effect=0.6)
    table = table_of(analysis)
    assert table.columns == [
        "metric",
        "a",
        "b",
        "depth",
        "support",
        "is_fully_scored",
        "outcome",
        "is_beyond_chance",
        "is_known",
        *NUMBERS,
    ]
    beside = {*ADJUSTED, *OF_ITEMS, *BOUNDED}
    assert {*RESERVED} - beside == {*table.columns} - {"a", "b"}
    for i, name in enumerate(("mrr@5", "urp@5")):
        rows = table.filter(metric=name)
        assert rows.height == analysis.is_tested[i].sum()
        for row in rows.iter_rows(named=True):
            codes = [-1 if row[by] is None else int(row[by]) for by in "ab"]
            at = analysis.grouping.lattice.codes.tolist().index(codes)
            assert row["depth"] == sum(code >= 0 for code in codes)
            assert row["support"] == analysis.moments.n[i, at]
            assert row["value"] == approx(analysis.estimates.value[i, at])
            assert row["difference_low"] == approx(analysis.estimates.difference_low[i, at])
            assert row["detectable"] == approx(analysis.detectable[i, at])
            assert row["p_adjusted"] == analysis.adjusted_p_values[i, at]


OPTIONS = MappingProxyType({"metrics": "mrr,ndcg@2", "permutations": 99, "min_support": 2})
IDS = [f"u{i}" for i in range(60)]
TABLES = (
    one_each({user: (1, 2, 4)[i % 3] for i, user in enumerate(IDS)}),
    pl.DataFrame({"user_id": IDS, "group": ["a", "b", "c"] * 20, "place": ["north", "south"] * 30}),
)
RESULT = audit(*TABLES, by="group,place", **OPTIONS)


def test_findings_are_rows_of_the_table_of_groups_worst_first():
    found, groups = RESULT.findings(), RESULT.groups()
    assert found.columns == groups.columns
    named = [
        (name, {a: str(v) for a, v in finding.group.items()}, finding.p_adjusted, finding.value)
        for name, result in RESULT.metrics.items()
        for finding in result.findings
    ]
    assert len(named) >= 3
    assert named == [
        (row["metric"], {a: row[a] for a in ("group", "place") if row[a]}, row["p_adjusted"],
         row["value"])
        for row in found.iter_rows(named=True)
    ]  # fmt: skip
    assert_frame_equal(groups, RESULT.group_table)


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "pyarrow"])
def test_frames_go_out_as_they_came_in(kind):
    into = {
        "pandas": pl.DataFrame.to_pandas,
        "polars": lambda frame: frame,
        "lazy": pl.DataFrame.lazy,
        "pyarrow": pl.DataFrame.to_arrow,
    }
    result = audit(*map(into[kind], TABLES), by="group,place", **OPTIONS)
    wanted = pd.DataFrame if kind == "pandas" else pl.DataFrame
    for table in (result.findings(), result.groups(), result.findings("mrr"), result.groups("mrr")):
        assert type(table) is wanted
    found = result.findings()
    assert [*found["p_adjusted"]] == RESULT.findings()["p_adjusted"].to_list()


def test_each_metric_and_group_is_a_row_with_its_ratios():
    tables = make_tables(200)
    result = audit(tables.predictions, tables.users, "gender,member", metrics=["mrr@3", "hit@3"])
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


def test_each_user_has_attributes_as_text_and_a_value_where_it_is_defined():
    users = pl.DataFrame(
        {"user_id": [3, 1, 2], "age": [10, 20, None], "member": [True, False, True]}
    )
    predictions = one_each({2: 1, 3: None, 1: 2}, n_candidates=2)
    table = audit(predictions, users, "age,member", metrics="mrr@2,auc").per_user
    assert table.to_dicts() == [
        {"user_id": 1, "age": "20", "member": "False", "mrr@2": 0.5, "auc": 0.0},
        {"user_id": 2, "age": "(missing)", "member": "True", "mrr@2": 1.0, "auc": 1.0},
        {"user_id": 3, "age": "10", "member": "True", "mrr@2": None, "auc": None},
    ]
    assert table.schema["user_id"] == pl.Int64
    assert table.schema["age"] == pl.String
