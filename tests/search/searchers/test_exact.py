from __future__ import annotations

import numpy as np

from fairrec.groups.grouping import EVERYONE
from fairrec.search.searcher import NoHyperParameters
from fairrec.search.searchers.listed import exact
from tests.search.search_worlds import evidence_of, product_space, task_for


def test_everyone_is_asked_for_once():
    evidence = evidence_of(product_space((2, 2)), np.zeros(4))
    searcher = exact(task_for(evidence), NoHyperParameters())
    first = searcher.ask()
    assert first.groups.tolist() == [EVERYONE]
    assert first.n_users is None
    assert len(searcher.ask().groups) == 0
