"""Gaps and costs: what is found beside the exact gap, chance and the published figures."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import polars as pl
import pytest

from fairrec_paper.reproduction import layout
from fairrec_paper.reproduction.comparison import compare_gaps, compute_costs
from fairrec_paper.reproduction.data import DataCatalogue
from fairrec_paper.reproduction.gaps import (
    cost_table,
    gap_table,
    plan_attributes,
    plan_effectiveness,
    report_attributes,
    share_of_work,
    within_time,
    within_users,
)
from fairrec_paper.reproduction.methods import DPSO, THEMIS, large_groups
from fairrec_paper.reproduction.options import QUICK
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


def test_an_exact_gap_of_nothing_has_no_accuracy():
    search = pl.DataFrame([found(THEMIS.title, 0.0), found(DPSO.title, 0.0)])
    levels = pl.DataFrame([chance("auc", 0.0, BY_CHANCE), chance("pooled_auc", 0.0, [])])
    rows = compare_gaps(search, levels, [THEMIS, DPSO], "table2")
    assert rows["accuracy"].to_list() == [None] * rows.height


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


SEARCH = pl.DataFrame(
    [found(THEMIS.title, 0.4, users=90), found(DPSO.title, 0.4), found(DPSO.title, 0.2, 1)]
)
SIZES = {"n_users": 100, "n_groups": 12, "min_users": 1, "n_combinations": 1800}
CHANCE = pl.DataFrame(
    [
        {**chance("auc", 0.4, [0.1, 0.2, 0.3, 0.4]), "p_value": 0.4, **SIZES},
        {**chance("pooled_auc", 0.5, []), "p_value": None, **SIZES},
    ]
)
GAPS = compare_gaps(SEARCH, CHANCE, [THEMIS, DPSO], "table2")


def test_a_row_has_the_exact_gap_the_published_one_chance_and_what_methods_found():
    table = gap_table("gaps", "Gaps", GAPS, CHANCE, [THEMIS, DPSO])
    assert table.view.columns[-1] == DPSO.title
    assert THEMIS.title not in table.view.columns
    first, pooled = table.view.rows
    assert first[:3] == ("Wide&Deep", "auc", "0.400")
    assert first[-1] == "0.300 \u00b10.141 (0.244)"
    assert pooled[-1] == "-"
    assert table.view.note.startswith("100 users, 12 groups of at least 1 among 1,800 combinations")
    assert table.data is GAPS


def test_costs_are_shown_for_each_method():
    table = cost_table("costs", "Costs", compute_costs(SEARCH, GAPS, [THEMIS, DPSO]))
    rows = {row[1]: row for row in table.view.rows}
    assert rows[THEMIS.title][2:6] == ("100.0%", "100.0%", "90", "90%")
    assert rows[DPSO.title][2] == "75.0% \u00b135.4"


def test_all_methods_of_the_paper_and_ours_are_run_with_every_seed(setting):
    trials = plan_effectiveness(setting)
    searches = Counter(trial.labels["method"] for trial in trials if trial.kind == "search")
    assert searches == dict.fromkeys(
        [
            *("Themis", "TestSGD 0.01", "TestSGD 0.005", "FairRec (dpso)"),
            "FairAS (fairas)",
            *("ours: exact, one pass", "ours: adaptive", "ours: adaptive, 10% of users"),
        ],
        2,
    )
    levels = [trial.labels["min_support"] for trial in trials if trial.kind == "chance"]
    assert levels == [0.001, 0.005, 0.01]


def test_fairas_has_ten_rounds_too_where_its_own_results_have_them(setting, tmp_path):
    songs = DataCatalogue([], tmp_path, QUICK).get("lfm360k", silent)
    options = replace(setting.options, quick=False)
    trials = plan_effectiveness(replace(setting, sources=(songs,), options=options))
    rounds = [
        (trial.labels["method"], trial.about["hyper"].get("rounds"))
        for trial in trials
        if "FairAS" in trial.labels.get("method", "")
    ]
    assert {*rounds} == {("FairAS (fairas)", None), ("FairAS, 10 rounds", 10)}


def test_attributes_are_added_in_the_order_of_the_paper(setting):
    assert [trial.labels["attributes"] for trial in plan_attributes(setting)] == [
        "gender",
        "gender, age",
        "gender, age, occupation",
    ]


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


def test_the_share_of_work_is_the_fixed_time_over_the_time_of_the_papers_themis():
    seconds = 0.005 * (6040 + 294)
    by_hand = sum(seconds / themis for themis in (140.53, 117.41, 112.28, 181.09)) / 4
    assert share_of_work("movielens-1m") == pytest.approx(by_hand)
    assert {method.users for method in within_users("movielens-1m")} == {
        share_of_work("movielens-1m")
    }
    assert all(method.fixed_time and method.users is None for method in within_time("lfm360k"))


ROWS = pl.DataFrame({"model": ["dcn", "fgcnn"], "share": [0.25, None], "n": [1200, None]})


def test_a_spread_is_shown_where_there_is_one():
    shown = layout.percent_spread("mean")
    assert shown({"mean": 0.5, "mean_sd": 0.021}) == "50.0% \u00b12.1"
    assert (
        shown({"mean": 0.5, "mean_sd": 1e-17}) == shown({"mean": 0.5, "mean_sd": None}) == "50.0%"
    )
    assert shown({"mean": None, "mean_sd": None}) == "-"
