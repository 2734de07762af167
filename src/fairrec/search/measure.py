"""What scoring users costs and shows, and the popularity proxy, which costs nothing."""

from __future__ import annotations

from collections.abc import Sequence

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.side_data import SideData
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import measure_everyone, values_per_list
from fairrec.scoring.ledger import Ledger


class Measure:
    """Users -> their values.

    A user's values are the same to the last digit whoever is measured together with them.

    Parameters
    ----------
    metrics : none of them pooled
    candidates : all lists; their scores are not looked at
    side : categories and popularity, one entry a list where it is per user
    ledger : where the scores come from
    threads : worth more than one only for very many lists at once
    list_of_user : (n_users,), the list of each user; None where both have the same order
    """

    def __init__(
        self,
        metrics: Sequence[MetricAtK],
        candidates: CandidateLists,
        side: SideData,
        ledger: Ledger,
        threads: int = 1,
        list_of_user: IntArray | None = None,
    ) -> None:
        self.metrics = tuple(metrics)
        self.ledger = ledger
        self._candidates = candidates
        self._side = side
        self._threads = threads
        self._list_of_user = list_of_user

    def __call__(self, users: IntArray) -> FloatArray:
        """(n_metrics, len(users)), NaN where undefined."""
        lists = users if self._list_of_user is None else self._list_of_user[users]
        candidates = self._candidates.take(lists, self.ledger.pay_for(lists))
        return values_per_list(self.metrics, candidates, self._side.for_lists(lists), self._threads)


def popularity_proxy(
    inputs: AuditInputs, metrics: Sequence[MetricAtK], threads: int = 1
) -> FloatArray | None:
    """(n_metrics, n_users), what the metrics would be if items were ranked by popularity.

    That costs nothing, and is correlated with what the recommender will do: who likes what is
    popular is easily served by both. None where there is no history to count in.
    """
    popularity = inputs.side.popularity
    if popularity is None:
        return None
    by_popularity = inputs.with_scores(popularity.per_item[inputs.candidates.items])
    return measure_everyone(by_popularity, metrics, threads).values
