"""Gaps and costs: what is found beside the exact gap, chance and the published figures."""

from __future__ import annotations

import polars as pl
import pytest

from fairrec_paper.reproduction.gaps import (
    compare_gaps,
    compute_costs,
    plan_attributes,
    report_attributes,
)
from fairrec_paper.reproduction.methods import DPSO, THEMIS, large_groups
from tests.fairrec_paper.reproduction.trial_rows import chance, found, silent

BY_CHANCE = [0.1, 0.2, 0.3, 0.4]
SMALL = large_groups(0.01)


@pytest.fixture
def gaps() -> pl.DataFrame:
    search = pl.DataFrame(
        [
            found(THEMIS.title, 0.4, users=90),
            found(DPSO.title, 0.4, 0),
            found(DPSO.title, 0.2, 1, users=40),
            found(SMALL.title, 0.1, users=20),
        ]
    )
    levels = pl.DataFrame(
        [
            chance("auc", 0.4, BY_CHANCE),
            chance("pooled_auc", 0.5, []),
            chance("auc", 0.1, [0.05, 0.15, 0.2, 0.25], 0.01),
            chance("pooled_auc", 0.2, [], 0.01),
        ]
    )
    return compare_gaps(search, levels, [THEMIS, DPSO, SMALL], "table2")


def test_accuracy_is_the_share_of_the_exact_gap_and_its_spread_is_over_seeds(gaps):
    (row,) = gaps.filter(method=DPSO.title).to_dicts()
    assert row["gap"] == pytest.approx((0.4 + 0.2) / 2)
    assert row["accuracy"] == pytest.approx((1.0 + 0.5) / 2)
    assert row["accuracy_sd"] == pytest.approx(0.5 / 2**0.5)
    assert row["users"] == (50 + 40) / 2
    assert row["share"] == pytest.approx(0.45)


def test_the_p_value_is_of_the_gap_found_among_the_groups_looked_at(gaps):
    p_values = {(row["method"], row["metric"]): row["p_value"] for row in gaps.to_dicts()}
    # one of four gaps by chance is as large as 0.4, two are as large as 0.3
    assert p_values[THEMIS.title, "auc"] == (1 + 1) / 5
    assert p_values[DPSO.title, "auc"] == (1 + 2) / 5
    # TestSGD's 0.1 is compared with gaps between large groups
    assert p_values[SMALL.title, "auc"] == (1 + 3) / 5
    assert p_values[THEMIS.title, "pooled_auc"] is None


def test_published_gaps_stand_beside_and_pooled_auc_has_the_papers_auc(gaps):
    printed = {
        (row["method"], row["metric"]): (row["published"], row["published_accuracy"])
        for row in gaps.to_dicts()
    }
    assert printed[DPSO.title, "auc"] == pytest.approx((0.2436, 0.2436 / 0.2537))
    assert printed[THEMIS.title, "pooled_auc"] == pytest.approx((0.2537, 1.0))
    assert printed[SMALL.title, "pooled_auc"] == pytest.approx((0.0683, 0.0683 / 0.2537))
    # a search cannot look for what is no mean over users
    assert (DPSO.title, "pooled_auc") not in printed
    pooled = gaps.filter(method=SMALL.title, metric="pooled_auc").to_dicts()[0]
    assert (pooled["gap"], pooled["accuracy"]) == (0.2, pytest.approx(0.4))


def test_costs_are_means_over_metrics_and_then_seeds(gaps):
    search = pl.DataFrame(
        [
            found(DPSO.title, 0.4, 0, users=30, users_together=60, seconds=1.0),
            found(DPSO.title, 0.1, 0, "urd@5", users=50, users_together=60, seconds=1.0),
            found(DPSO.title, 0.2, 1, users=30, users_together=70, seconds=2.0),
            found(DPSO.title, 0.1, 1, "urd@5", users=50, users_together=70, seconds=2.0),
        ]
    )
    levels = pl.DataFrame(
        [chance("auc", 0.4, BY_CHANCE), chance("pooled_auc", 0.5, []), chance("urd@5", 0.2, [0.1])]
    )
    compared = compare_gaps(search, levels, [DPSO], "table2")
    (row,) = compute_costs(search, compared, [DPSO]).to_dicts()
    assert row["accuracy"] == pytest.approx(((1.0 + 0.5) / 2 + (0.5 + 0.5) / 2) / 2)
    assert row["accuracy_sd"] == pytest.approx(0.25 / 2**0.5)
    assert (row["users"], row["users_together"], row["seconds"]) == (40, 65, 1.5)
    assert row["published_seconds"] == 86.95
    assert row["published_accuracy"] == pytest.approx((0.2436 / 0.2537 + 0.1605 / 0.1786) / 2)


def test_a_gap_stands_beside_the_published_and_as_a_multiple_of_chance(setting):
    trials = plan_attributes(setting)
    rows = [row for trial in trials for row in trial.as_rows(trial.work(silent))]
    frames = {"chance": pl.DataFrame(rows, infer_schema_length=None)}
    (table,) = report_attributes(setting, frames).tables
    first = table.data.filter(attributes="gender, age", metric="urp@5").row(0, named=True)
    assert first["published"] == 0.0137
    assert first["times_chance"] == pytest.approx(first["gap"] / first["chance_mean"])
    # the paper's auc is the pooled one and stands beside both
    both = table.data.filter(pl.col("metric").str.contains("auc"), attributes="gender")
    assert both["published"].n_unique() == 1
    assert both["published"].null_count() == 0
