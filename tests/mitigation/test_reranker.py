"""Which re-ranker is made for which metric."""

from __future__ import annotations

from fairrec.metrics import METRICS
from fairrec.mitigation.reranker import RERANKERS, default_reranker


def test_every_metric_of_the_order_has_a_default_reranker_that_is_no_upper_bound():
    # of what people are shown neither end is better, so that nothing is made for it
    shown = {"coverage", "share", "mean", "novelty", "long_tail"}
    # nor can an order be made for its distance from another list
    of_two_lists = {"affected", "changed", "rbo", "tau"}
    of_order = {name for name in METRICS if not METRICS[name].pooled} - shown - of_two_lists
    for metric in of_order:
        name = default_reranker(metric)
        assert name is not None
        assert not RERANKERS[name].is_upper_bound
    assert default_reranker("nothing") is None
    # how many items a user gets is the same in every order
    assert default_reranker("coverage") is None
