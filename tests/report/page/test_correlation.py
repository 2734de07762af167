"""Metrics against each other."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tests.report.page.planted_page import planted, view_of
from tests.worlds import ATTRIBUTES


def test_correlation_is_that_of_the_group_values():
    table = planted().group_table.filter(pl.col("depth") == 3)
    wide = table.pivot(on="metric", index=list(ATTRIBUTES), values="value")
    expected = np.corrcoef(wide["auc"], wide["mrr@5"])[0, 1]
    cells = {(cell.row, cell.column): cell for cell in view_of(planted()).correlation.cells}
    assert cells["auc", "mrr@5"].correlation == pytest.approx(expected, abs=1e-4)
    assert cells["auc", "auc"].text == "+1.00"
