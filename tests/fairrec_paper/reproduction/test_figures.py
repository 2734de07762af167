"""Figures 2 to 6: what is run for them, and what they show."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from fairrec_paper.figures import to_svg
from fairrec_paper.reproduction.experiment import TrialStore, run_trials
from fairrec_paper.reproduction.figures_2_to_4 import (
    OPPONENTS,
    _counts,
    correlations,
    improvements,
    plan_positions,
    plan_vanilla,
    report_correlation,
    report_positions,
    report_vanilla,
)
from fairrec_paper.reproduction.figures_5_and_6 import (
    ADVICE,
    GRIDS,
    METHODS,
    has_few,
    models,
    plan_efficiency,
    plan_hyper,
    report_efficiency,
    with_published_seconds,
    world,
)
from fairrec_paper.reproduction.methods import (
    DPSO,
    EXACT,
    NO_DESIGNS,
    ONE_DESIGN_OFF,
    PLAIN_PSO,
    PSO,
    THEMIS,
)
from tests.fairrec_paper.reproduction.trial_rows import chance, found, silent


def test_particles_are_counted_for_every_two_values():
    positions = np.array([[0, 0, 1], [0, 1, 1], [0, 2, 1]])
    rows = _counts(positions, (0, 2), [["F", "M"], ["1", "2", "3"], ["a", "b"]])
    assert rows.rows() == [("F", "a", 0), ("F", "b", 3), ("M", "a", 0), ("M", "b", 0)]


def test_shares_are_means_over_seeds(setting):
    trials = plan_positions(setting)
    assert len(trials) == 2 * 2
    rows = [row for trial in trials for row in trial.as_rows(trial.work(silent))]
    done = report_positions(setting, {"particles": pl.DataFrame(rows)})
    (table,) = done.tables
    assert table.data["way"].to_list() == ["uniform", "by distribution"]
    assert table.data["on_groups"][0] == np.mean([row["on_groups"] for row in rows[:2]])
    (drawing,) = done.drawings
    assert drawing.title == f"Where {rows[0]['n_particles']} particles begin: {setting.title}"


def test_correlations_are_over_models():
    gaps = pl.DataFrame(
        {
            "model": ["a", "b", "c"] * 3,
            "metric": ["auc"] * 3 + ["mrr@5"] * 3 + ["urd@5"] * 3,
            "gap": [0.1, 0.2, 0.3, 0.3, 0.2, 0.1, 0.5, 0.5, 0.5],
        }
    )
    values = {(row, column): value for row, column, value in correlations(gaps).iter_rows()}
    assert values["auc", "auc"] == pytest.approx(1)
    assert values["auc", "mrr@5"] == pytest.approx(-1)
    # what does not vary goes with nothing
    assert values["auc", "urd@5"] is None
    two = correlations(gaps.filter(pl.col("model") != "c"))
    assert two["correlation"].to_list() == [None] * 9


def drawn(setting, title: str) -> dict[str, str]:
    rows = [{**chance(metric, 0.4, []), "p_value": 0.5, "n_users": 240} for metric in ("auc",)]
    (source,) = setting.sources
    named = replace(setting, sources=(Named(source.name, title),))
    return {
        one.name: to_svg(one.chart)
        for one in report_correlation(named, {"chance": pl.DataFrame(rows)}).drawings
    }


class Named:
    def __init__(self, name: str, title: str) -> None:
        self.name, self.title = name, title


def test_the_published_map_has_all_metrics_of_the_paper(setting):
    svgs = drawn(setting, "ML")
    assert "urd@5" in svgs["correlation-movielens-1m-published"]
    assert "urd@5" not in svgs["correlation-movielens-1m"]


def test_improvements_are_means_over_cases():
    search = pl.DataFrame(
        [
            found(PSO.title, 0.2, 0, seconds=1.0, users=40),
            found(PSO.title, 0.2, 1, seconds=1.0, users=40),
            found(DPSO.title, 0.3, 0, seconds=1.5, users=50, combinations=40),
            found(DPSO.title, 0.5, 1, seconds=1.5, users=50, combinations=40),
            found(PSO.title, 0.0, 0, "urd@5", seconds=1.0, users=40),
            found(DPSO.title, 0.3, 0, "urd@5", seconds=1.5, users=50, combinations=40),
        ]
    )
    (row,) = improvements(search).to_dicts()
    assert (row["opponent"], row["cases"]) == (PSO.title, 2)
    # the mean gap of auc doubled; without a gap to begin with there is no ratio
    assert row["larger_gap"] == pytest.approx(1.0)
    assert row["longer_time"] == pytest.approx(0.5)
    assert row["more_users"] == pytest.approx(0.25)
    assert row["more_combinations"] == pytest.approx(1.0)


def test_cases_are_tested_one_by_one():
    rows = []
    for seed in range(10):
        for metric, ours, theirs in (("auc", 2.0, 1.0), ("urd@5", 1.0, 2.0), ("urp@5", 1.0, 1.0)):
            rows.append(found(DPSO.title, ours + 0.01 * seed, seed, metric))
            rows.append(found(NO_DESIGNS.title, theirs + 0.01 * seed, seed, metric))
    (row,) = improvements(pl.DataFrame(rows)).to_dicts()
    assert (row["larger"], row["smaller"], row["cases"]) == (1, 1, 3)
    assert row["a12"] == pytest.approx((1 + 0 + 0.5) / 3)


def test_opponents_are_what_they_are_called():
    assert PLAIN_PSO.hyper == {"inertia": 1.0}
    assert [*map(dict, (method.hyper for method in ONE_DESIGN_OFF))] == [
        {"from_users": 0},
        {"alpha": 0},
        {"shared": 0},
    ]
    together = {name: value for method in ONE_DESIGN_OFF for name, value in method.hyper.items()}
    assert together == NO_DESIGNS.hyper


def test_every_opponent_has_a_row(setting, tmp_path):
    frames = run_trials(plan_vanilla(setting), TrialStore(tmp_path), silent)
    made = report_vanilla(setting, frames)
    assert made.tables[0].data["opponent"].to_list() == [method.title for method in OPPONENTS]


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
    assert {trial.subject.model for trial in trials} == {"taste"}
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
    result = report_efficiency(setting, taste)
    (rows,) = result.tables
    assert rows.data["seconds"].to_list() == [200.0, 200.0, 400.0, 400.0]
    assert rows.data["accuracy"].to_list() == [0.5] * 4
    assert [row[5] for row in rows.view.rows[:1]] == ["200 (100 to 500)"]
    assert [drawing.name for drawing in result.drawings] == ["seconds-taste", "users-taste"]


def test_the_papers_seconds_stand_beside_its_two_worlds(setting):
    sizes = [(20_000, 10_000), (100_000, 40_000), (40_000, 40_000)]
    rows = pl.DataFrame(
        [
            {"method": method.title, "users": users, "groups": groups}
            for method in (THEMIS, DPSO, EXACT)
            for users, groups in sizes
        ]
    )
    seconds = with_published_seconds(rows)["published"].to_list()
    assert seconds == [756.0, 9768.0, None, 114.0, 1242.0, None, None, None, None]


def test_grids_hold_what_the_paper_suggests():
    for few, advice in ADVICE.items():
        for name, values in advice.items():
            assert set(values) <= set(GRIDS[few][name])


def test_each_value_of_the_grid_is_searched_with_every_seed(setting, source):
    assert has_few(source)
    trials = plan_hyper(setting)
    searched = Counter(
        (trial.labels["parameter"], trial.labels["value"])
        for trial in trials
        if trial.kind == "search"
    )
    assert searched == {
        ("epsilon", 0.01): 2,
        ("epsilon", 0.1): 2,
        ("iterations", 1.0): 2,
        ("iterations", 10.0): 2,
    }
    assert [trial.kind for trial in trials].count("chance") == 1
