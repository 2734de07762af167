from __future__ import annotations

import numpy as np

from fairrec.search.searcher import NoHyperParameters
from fairrec.search.searchers.listed import random_order
from tests.search.search_worlds import evidence_of, product_space, task_for


def test_every_combination_is_asked_for_once_and_each_is_first_equally_often():
    space = product_space((2, 2))
    evidence = evidence_of(space, np.zeros(4))
    firsts = []
    for seed in range(800):
        searcher = random_order(task_for(evidence, seed), NoHyperParameters())
        order = [int(searcher.ask().groups[0]) for _ in range(4)]
        assert sorted(order) == space.full.tolist()
        firsts.append(order[0])
    counts = np.bincount(firsts)
    # chi squared with 3 degrees of freedom is above 21 once in 10,000
    assert ((counts - 200) ** 2 / 200).sum() < 21
