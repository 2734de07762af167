from __future__ import annotations

import numpy as np

from fairrec.search.searchers.listed import ListedGroups


def test_groups_are_asked_for_one_by_one_in_their_order():
    searcher = ListedGroups(np.array([7, 3, 5]))
    asked = [searcher.ask().groups.tolist() for _ in range(5)]
    assert asked == [[7], [3], [5], [], []]
