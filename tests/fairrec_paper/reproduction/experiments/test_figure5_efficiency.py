from __future__ import annotations

import math
from dataclasses import replace

import polars as pl

from fairrec_paper.reproduction.figures_5_and_6 import (
    METHODS,
    models,
    outcome_of_efficiency,
    plan_efficiency,
    world,
)
from fairrec_paper.reproduction.methods import THEMIS
from tests.fairrec_paper.reproduction.trial_rows import chance, found


def test_a_world_has_the_users_and_values_asked_for():
    options = world(20_000, 50, 100)
    assert options.n_users == 20_000
    assert {name: len(values) for name, values in options.attributes.items()} == {
        "gender": 2,
        "age": 50,
        "country": 100,
    }
    assert math.prod(map(len, options.attributes.values())) == 10_000


def test_every_method_is_repeated_in_every_world(setting):
    trials = plan_efficiency(setting)
    sizes = {(trial.labels["n_world"], trial.labels["groups"]) for trial in trials}
    assert sizes == {(users, groups) for users in (150, 300) for groups in (40, 96)}
    assert {trial.labels["model"] for trial in trials} == {"taste"}
    assert len(trials) == 4 * (1 + 2 * len(METHODS))


def test_the_papers_model_is_trained_where_it_is_among_the_models(setting):
    chosen = replace(setting, options=replace(setting.options, models=("deepfm", "dcn")))
    assert models(chosen) == ["taste", "dcn"]
    assert models(setting) == ["taste"]


def test_seconds_are_the_median_of_repetitions_with_their_range(setting):
    worlds = [(users, groups) for users in (100, 200) for groups in (40, 96)]
    search, exact = [], []
    for users, groups in worlds:
        where = {"dataset": f"{users} {groups}", "n_world": users, "groups": groups}
        exact.append({**chance("auc", 0.4, []), **where, "p_value": 0.5, "n_groups": 9})
        for seed, seconds in enumerate((5.0, 1.0, 2.0)):
            row = found(THEMIS.title, 0.2, seed, users=users)
            search.append({**row, **where, "seconds": seconds * users})
    frames = {name: pl.DataFrame(rows) for name, rows in (("search", search), ("chance", exact))}
    taste = {name: rows.with_columns(model=pl.lit("taste")) for name, rows in frames.items()}
    result = outcome_of_efficiency(setting, taste)
    rows, ends = result.tables
    assert rows.data["seconds"].to_list() == [200.0, 200.0, 400.0, 400.0]
    assert rows.data["accuracy"].to_list() == [0.5] * 4
    assert [row[5] for row in rows.view.rows[:1]] == ["200 (100 to 500)"]
    assert [row[2] for row in ends.view.rows] == ["100", "200"]
    assert [drawing.name for drawing in result.drawings] == ["seconds-taste", "users-taste"]
