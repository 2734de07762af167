"""The best any order could do: relevant items first. It sees the labels, so it is no remedy."""

from __future__ import annotations

from fairrec.mitigation.lists import RerankLists
from fairrec.mitigation.reranker import Orders, TrainingSet, reranker
from fairrec.mitigation.rerankers.blend import blended_orders


@reranker(
    "oracle",
    "upper bound that sees the labels: shows how much there is to gain, cannot be used",
    needs=("labels",),
)
class Oracle:
    """Blends the model's scores with the labels."""

    def __init__(self, _training: TrainingSet) -> None:
        pass

    def orders(self, lists: RerankLists) -> Orders:
        """The order at each strength; at 1 the relevant items come first."""
        assert lists.labels is not None
        return blended_orders(lists, lists.labels)
