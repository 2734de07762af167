from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from fairrec_paper.reproduction.mitigations import (
    BUDGET,
    METHODS,
    outcome_of_next_worst,
    over_models,
    plan_next_worst,
)


def row(model: str, seed: int, better_by: float, p_change: float) -> dict[str, object]:
    same = dict.fromkeys(
        [
            *("users", "n_groups", "n_chosen", "among_worst", "chosen_by", "before", "after"),
            *("gap_before", "gap_after", "ndcg_before", "ndcg_after"),
        ],
        0.5,
    )
    who = {"dataset": "movielens-1m", "metric": "mrr@5", "worst": 5, "method": "a", "model": model}
    return {**who, "seed": seed, **same, "better_by": better_by, "p_change": p_change}


def test_all_methods_have_the_same_budget_and_the_exact_answer_one_seed(setting):
    full = replace(setting, options=replace(setting.options, quick=False))
    trials = [trial.labels for trial in plan_next_worst(full) if trial.labels["metric"] == "mrr@5"]
    exact, *others = METHODS
    assert exact.users is None and {method.users for method in others} == {BUDGET}
    seeds = [one["seed"] for one in trials]
    assert seeds == [0, *[*full.options.seeds] * len(others)]


def test_the_spread_is_over_seeds_of_means_over_models():
    rows = pl.DataFrame(
        [
            *(row("dcn", 0, 0.1, 0.01), row("deepfm", 0, 0.3, 0.5)),
            *(row("dcn", 1, 0.4, 0.05), row("deepfm", 1, 0.4, 0.9)),
        ]
    )
    (only,) = over_models(rows).to_dicts()
    assert (only["searches"], only["shown"]) == (4, 2)
    assert only["better_by"] == pytest.approx(0.3)
    # 0.2 and 0.4 in the mean over models
    assert only["better_by_sd"] == pytest.approx(0.02**0.5)


def test_a_table_for_each_data_set(setting):
    frames = {"next-worst": pl.DataFrame([row("dcn", seed, 0.25, 0.01) for seed in (0, 1)])}
    (table,) = outcome_of_next_worst(setting, frames).tables
    shown = dict(zip(table.view.columns, table.view.rows[0], strict=True))
    assert (shown["worst"], shown["better by"], shown["p <= 0.05"]) == ("5", "0.250", "2 of 2")
