"""Which measure of which library is which of ours, and what turns it into ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.metrics.oracles.definitions import DEFINITIONS
from tests.metrics.oracles.tables import Tables


@dataclass(frozen=True)
class Peer:
    """A measure of a library; `{k}` in its name stands for the cut-off.

    Parameters
    ----------
    metric : the name of ours
    has_labels : whether it looks at how large labels are; else ours is taken with labels of 1
    divides_by : "least" where average precision is divided by the smaller of k and the number of
        held-out items, as ours; "held out" or "k" where by one of them
    """

    metric: str
    pattern: str
    has_labels: bool = True
    divides_by: str = "least"

    def measure(self, k: int) -> str:
        """The name that the library has for it."""
        return self.pattern.format(k=k)

    def value(self, mine: Mapping[str, float], k: int) -> float:
        """The library's value for a user, from all that it has for this user."""
        return float(mine[self.measure(k)])

    def of_ours(self, value: float, n_held_out: int, k: int) -> float:
        """Our value in the terms of the library."""
        least = min(k, n_held_out)
        return value * least / {"least": least, "held out": n_held_out, "k": k}[self.divides_by]


def expected(peer: Peer, tables: Tables, user: int, k: int) -> float:
    """What our definition gives a user, in the terms of the library."""
    labels = tables.held_out[user]
    if not peer.has_labels:
        labels = dict.fromkeys(labels, 1)
    value = DEFINITIONS[peer.metric](tables.lists.get(user, []), labels, k)
    return peer.of_ours(value, len(labels), k)


PEERS: Mapping[str, tuple[Peer, ...]] = {
    "rectools": (
        Peer("recall", "Recall(k={k})"),
        Peer("precision", "Precision(k={k})"),
        Peer("hit", "HitRate(k={k})"),
        Peer("mrr", "MRR(k={k})"),
        Peer("map", "MAP(k={k})", divides_by="held out"),
        Peer("map", "MAP(k={k}, divide_by_k=True)", divides_by="k"),
        Peer("ndcg", "NDCG(k={k}, divide_by_achievable=True)", has_labels=False),
    ),
    "ranx": (
        Peer("recall", "recall@{k}"),
        Peer("precision", "precision@{k}"),
        Peer("hit", "hit_rate@{k}"),
        Peer("mrr", "mrr@{k}"),
        Peer("map", "map@{k}", divides_by="held out"),
        Peer("ndcg", "ndcg@{k}"),
        Peer("ndcg", "ndcg@{k}, labels 1", has_labels=False),
    ),
    "ir_measures": (
        Peer("recall", "R@{k}"),
        Peer("precision", "P@{k}"),
        Peer("hit", "Success@{k}"),
        Peer("mrr", "RR@{k}"),
        Peer("map", "AP@{k}", divides_by="held out"),
        Peer("ndcg", "nDCG@{k}"),
        Peer("ndcg", "nDCG@{k}, labels 1", has_labels=False),
    ),
}
