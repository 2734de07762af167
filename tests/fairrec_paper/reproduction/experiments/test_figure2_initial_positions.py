from __future__ import annotations

import numpy as np
import polars as pl

from fairrec_paper.reproduction.figures_2_to_4 import _counts, outcome_of_positions, plan_positions
from tests.fairrec_paper.reproduction.trial_rows import silent


def test_particles_are_counted_for_every_two_values():
    positions = np.array([[0, 0, 1], [0, 1, 1], [0, 2, 1]])
    rows = _counts(positions, (0, 2), [["F", "M"], ["1", "2", "3"], ["a", "b"]])
    assert rows.rows() == [("F", "a", 0), ("F", "b", 3), ("M", "a", 0), ("M", "b", 0)]


def test_shares_are_means_over_seeds(setting):
    trials = plan_positions(setting)
    assert len(trials) == 2 * 2
    rows = [{**trial.labels, **row} for trial in trials for row in trial.work(silent)]
    done = outcome_of_positions(setting, {"particles": pl.DataFrame(rows)})
    (table,) = done.tables
    assert table.data["way"].to_list() == ["uniform", "by distribution"]
    assert table.data["on_groups"][0] == np.mean([row["on_groups"] for row in rows[:2]])
    (drawing,) = done.drawings
    assert drawing.title == f"Where {rows[0]['n_particles']} particles begin: {setting.title}"
