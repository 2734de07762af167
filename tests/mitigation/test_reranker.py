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


def test_beside_what_the_metric_needs_a_default_reranker_needs_a_history_for_accuracy_alone():
    lacking = {}
    for metric in METRICS:
        if (name := default_reranker(metric)) is not None:
            lacking[metric] = RERANKERS[name].needs - METRICS[metric].needs - {"labels"}
    assert lacking
    for metric, needs in lacking.items():
        tables = {"items", "history"} if "tastes" in METRICS[metric].needs else set()
        is_accuracy = "labels" in METRICS[metric].needs
        assert needs - tables == ({"history"} if is_accuracy else set()), metric
