"""The values of some users, from scores that are paid for when they are first needed."""

from __future__ import annotations

from collections.abc import Sequence

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.side import SideData
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import values_per_list
from fairrec.scoring.ledger.ledger import Ledger


class Measure:
    """Candidate lists -> the values of their users.

    A user's values are the same to the last digit whoever is measured together with them.

    Parameters
    ----------
    metrics : none of them pooled
    candidates : all lists; their scores are not looked at
    side : categories and popularity, one entry a list where it is per user
    ledger : where the scores come from
    threads : worth more than one only for very many lists at once
    """

    def __init__(
        self,
        metrics: Sequence[MetricAtK],
        candidates: CandidateLists,
        side: SideData,
        ledger: Ledger,
        threads: int = 1,
    ) -> None:
        self.metrics = tuple(metrics)
        self.ledger = ledger
        self._candidates = candidates
        self._side = side
        self._threads = threads

    def __call__(self, lists: IntArray) -> FloatArray:
        """(n_metrics, len(lists)), NaN where undefined."""
        candidates = self._candidates.take(lists, self.ledger.pay_for(lists))
        return values_per_list(self.metrics, candidates, self._side.for_lists(lists), self._threads)
