"""Figures 2 to 6: what is run for them, and what they show."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from fairrec_paper.reproduction.figures import (
    improvements,
    plan_positions,
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
from tests.fairrec_paper.reproduction.trial_rows import found, silent


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
