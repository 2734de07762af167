from __future__ import annotations

from dataclasses import replace

import polars as pl

from fairrec_paper.reproduction.gaps import outcome_of_sensitivity, plan_sensitivity
from tests.fairrec_paper.reproduction.trial_rows import silent


def test_one_choice_is_changed_at_a_time(setting):
    trials = plan_sensitivity(replace(setting, options=replace(setting.options, quick=False)))
    choices = [trial.labels["choice"] for trial in trials]
    assert choices[1] == "groups of at least 0.10% of users"
    assert choices[-3:] == ["candidates: 50", "candidates: 100", "candidates: all"]
    abouts = [trial.about(silent) for trial in trials]
    assert [one["candidates"] for one in abouts[-3:]] == [50, 100, "all"]
    assert {one["candidates"] for one in abouts[:-3]} == {None}


def test_every_model_has_every_choice(setting):
    both = replace(setting, options=replace(setting.options, models=("taste", "dcn")))
    labels = [trial.labels for trial in plan_sensitivity(both)]
    choices = {
        model: [one["choice"] for one in labels if one["model"] == model]
        for model in ("taste", "dcn")
    }
    assert choices["taste"] == choices["dcn"] and len(labels) == 2 * len(choices["dcn"])


def test_a_target_is_found_less_often_among_more_candidates(setting):
    rows = [
        {**trial.labels, **row}
        for trial in (plan_sensitivity(setting)[-3], plan_sensitivity(setting)[-1])
        for row in trial.work(silent)
        if row["metric"] == "mrr@5"
    ]
    assert rows[0]["mean"] > rows[1]["mean"] > 0


def test_a_row_for_each_choice_and_metric(setting):
    trial = plan_sensitivity(setting)[1]
    rows = [{**trial.labels, **row} for row in trial.work(silent)]
    (table,) = outcome_of_sensitivity(setting, {"chance": pl.DataFrame(rows)}).tables
    assert {row[1] for row in table.view.rows} == {"groups of at least 0.10% of users"}
    assert len(table.view.rows) == len(rows)
