from __future__ import annotations

import polars as pl
import pytest

from fairrec.reproduction.experiments.figure3_correlation import correlations


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
