from __future__ import annotations

import polars as pl
import pytest

from fairrec_paper.reproduction.experiment import TrialStore, run_trials
from fairrec_paper.reproduction.figures_2_to_4 import (
    OPPONENTS,
    improvements,
    outcome_of_vanilla,
    plan_vanilla,
)
from fairrec_paper.reproduction.methods import DPSO, NO_DESIGNS, ONE_DESIGN_OFF, PLAIN_PSO, PSO
from tests.fairrec_paper.reproduction.trial_rows import found, silent


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
    made = outcome_of_vanilla(setting, frames)
    assert made.tables[0].data["opponent"].to_list() == [method.title for method in OPPONENTS]
