"""Figures 2 to 6: what is run for them, and what they show."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec_paper.reproduction.figures import (
    correlations,
    improvements,
    plan_positions,
    report_efficiency,
    report_positions,
    with_published_seconds,
)
from fairrec_paper.reproduction.methods import (
    DPSO,
    EXACT,
    NO_DESIGNS,
    PSO,
    THEMIS,
)
from tests.fairrec_paper.reproduction.trial_rows import chance, found, silent


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
