from __future__ import annotations

import polars as pl
import pytest

from fairrec.reproduction.experiments.figure4_vanilla_swarms import improvements
from fairrec.reproduction.methods import DPSO, PSO
from tests.reproduction.trial_rows import found


def test_improvements_are_means_over_cases():
    search = pl.DataFrame(
        [
            found(PSO.title, 0.2, 0, seconds=1.0, users=40),
            found(PSO.title, 0.2, 1, seconds=1.0, users=40),
            found(DPSO.title, 0.3, 0, seconds=1.5, users=50),
            found(DPSO.title, 0.5, 1, seconds=1.5, users=50),
            found(PSO.title, 0.0, 0, "urd@5", seconds=1.0, users=40),
            found(DPSO.title, 0.3, 0, "urd@5", seconds=1.5, users=50),
        ]
    )
    (row,) = improvements(search).to_dicts()
    # the mean gap of auc doubled; without a gap to begin with there is no ratio
    assert (row["larger_gap"], row["cases"]) == (pytest.approx(1.0), 1)
    assert row["longer_time"] == pytest.approx(0.5)
    assert row["more_users"] == pytest.approx(0.25)
