from __future__ import annotations

import time

import numpy as np

from fairrec.search.searcher import Request
from fairrec_paper.bench import OwnWork
from tests.search.search_worlds import evidence_of, product_space


class Slow:
    """Takes its time, and asks for the same two groups each time."""

    def ask(self) -> Request:
        time.sleep(0.01)
        return Request(np.array([3, 1]))

    def tell(self, request: Request, evidence) -> None:
        time.sleep(0.01)
        self.told = request


def test_time_and_proposals_are_counted_and_passed_on():
    own, searcher = OwnWork(), Slow()
    watched = own.watch(searcher)
    request = watched.ask()
    assert request.groups.tolist() == [3, 1]
    asked = own.seconds
    assert asked >= 0.01
    watched.tell(request, evidence_of(product_space((2, 2)), np.zeros(4)))
    assert searcher.told is request
    assert own.seconds >= asked + 0.01
    watched.ask()
    assert (own.n_asked, own.groups) == (4, {1, 3})
