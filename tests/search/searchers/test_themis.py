from __future__ import annotations

import numpy as np

from fairrec.search.searcher import NoHyperParameters
from fairrec.search.searchers.listed import themis
from tests.search.search_worlds import evidence_of, skewed_space, task_for


def test_eligible_combinations_are_asked_for_in_the_order_of_their_values():
    space = skewed_space(0, (2, 3, 4), 200, 5)
    searcher = themis(task_for(evidence_of(space, np.zeros(200))), NoHyperParameters())
    asked = []
    while len(groups := searcher.ask().groups):
        asked += groups.tolist()
    codes = space.lattice.codes[asked].tolist()
    assert codes == sorted(codes)
    assert sorted(asked) == space.full.tolist()
