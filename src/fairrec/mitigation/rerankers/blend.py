"""Two opinions of the same candidates, weighed against each other."""

from __future__ import annotations

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.mitigation.lists import RerankLists
from fairrec.mitigation.reranker import Orders


def blended_orders(lists: RerankLists, opinion: FloatArray) -> Orders:
    """Orders by (1 - strength) * model + strength * opinion, each scaled within the list.

    Parameters
    ----------
    opinion : (n_rows,), higher is better
    """
    model, other = lists.standardised(lists.scores), lists.standardised(opinion)

    def order(strength: float) -> IntArray:
        return lists.sorted_by((1 - strength) * model + strength * other)

    return order
