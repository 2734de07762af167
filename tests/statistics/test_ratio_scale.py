"""Whether values can be compared by ratios."""

from __future__ import annotations

import numpy as np
import pytest

from fairrec.metrics.measured import Column
from fairrec.statistics.ratios import count_and_sum, why_no_ratio
from tests.groups.small_grouping import grouping_of


@pytest.mark.parametrize(
    ("values", "is_complete", "reason"),
    [
        ([0.0, 1.0], True, None),
        ([0.0, 1.0], False, "not everyone is scored"),
        ([], True, "nobody has a value"),
        ([-0.1, 1.0], True, "some values are negative"),
        ([0.0, 0.0], True, "everyone has 0"),
    ],
)
def test_the_reason_is_told(values, is_complete, reason):
    assert why_no_ratio(np.array(values), is_complete) == reason


def test_users_without_a_value_count_neither_as_users_nor_as_0():
    cells = grouping_of([[0, 0, 1, 1]]).cells
    for values, n, total in (
        ([1.0, 2.0, 4.0, 8.0], [2, 2], [3, 12]),
        ([1.0, np.nan, 4.0, 8.0], [1, 2], [1, 12]),
    ):
        n_known = ~np.isnan(values)
        found = count_and_sum(Column(np.array(values), n_known, np.zeros(1), n_known), cells)
        assert [column.tolist() for column in found] == [n, total]
