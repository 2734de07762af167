"""Whether users get a full list."""

from __future__ import annotations

import pytest

from tests.metrics.metric_lists import user, values_of
from tests.recommendations import Served


@pytest.mark.parametrize(("length", "covered"), [(0, 0), (1, 1 / 4), (3, 3 / 4), (4, 1), (9, 1)])
def test_it_is_the_share_of_places_that_are_filled(length, covered):
    assert values_of("coverage@4", [user([0] * length)]) == [covered]


def test_whether_items_are_relevant_changes_nothing():
    assert values_of("coverage@2", [user([0, 0]), user([1, 5])]).tolist() == [1, 1]


def test_without_labels_it_is_measured_all_the_same():
    served = Served({0: [1, 2, 3], 1: [1], 2: [3]}, {0: {1: 1.0}, 3: {3: 1.0}})
    result = served.audit(metrics="coverage@2")
    # user 3 has held-out items and no list; 1 and 2 have nothing held out
    assert result.per_user["coverage@2"].to_list() == [1, 1 / 2, 1 / 2, 0]
