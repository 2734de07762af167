from __future__ import annotations

import numpy as np
from pytest import approx

from fairrec.result.tables import (
    ADJUSTED,
    BOUNDED,
    NUMBERS,
    OF_ITEMS,
    RESERVED,
    group_table,
)
from fairrec.statistics.verdict import decide_verdicts
from tests.builders import audit, two_groups
from tests.statistics.small_worlds import analysis_of, random_analysis


def table_of(analysis):
    verdicts = decide_verdicts(analysis, [True] * len(analysis.moments.mean))
    return group_table(analysis, verdicts, ())


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
    beside = {*ADJUSTED, *BOUNDED, *OF_ITEMS}
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


def test_the_least_likely_come_first_and_of_equal_p_values_the_strongest():
    analysis = random_analysis(effect=0.6)
    rows = group_table(
        analysis, decide_verdicts(analysis, [True] * len(analysis.moments.mean)), ()
    ).filter(metric="mrr@5")
    at = [
        analysis.grouping.lattice.codes.tolist().index(
            [-1 if row[by] is None else int(row[by]) for by in "ab"]
        )
        for row in rows.iter_rows(named=True)
    ]
    order = [(analysis.adjusted_p_values[0, i], -analysis.standard_errors[0, i]) for i in at]
    assert order == sorted(order)
    assert rows["p_adjusted"].n_unique() > 2


def test_what_is_not_known_is_null_and_never_nan_or_infinite():
    # untested, and the second group has nobody to be compared with
    analysis = analysis_of([[0, 0, 1]], "mrr", [0.5, 1.0, np.nan], permutations=0, min_users=1)
    table = table_of(analysis)
    (row,) = table.iter_rows(named=True)
    for name in ("detectable", "p_value", "p_adjusted", "difference"):
        assert row[name] is None
    assert row["value"] == 0.75
    for name in NUMBERS:
        assert table[name].is_finite().drop_nulls().all()


def test_a_pooled_metric_has_a_value_and_nothing_else():
    predictions, users = two_groups()
    table = audit(predictions, users, "group", metrics="auc,pooled_auc").group_table
    pooled = table.filter(metric="pooled_auc")
    assert pooled["support"].to_list() == [4, 4]
    assert pooled["value"].null_count() == 0
    for name in set(NUMBERS) - {"value"}:
        assert pooled[name].null_count() == 2, name
