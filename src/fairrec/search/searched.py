"""A finished search: what it found, what it may have missed, and what its scores cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from fairrec.metrics import MetricAtK
from fairrec.scoring.ledger import Ledger
from fairrec.search.loop import SearchOutcome
from fairrec.search.options import Search
from fairrec.search.searcher import Bounded


@dataclass(frozen=True, slots=True)
class Searched:
    """How users came to be scored.

    Parameters
    ----------
    ledger : closed, with what was paid for
    model_identity : the model as its ledger names it; empty where the scores are in the table
    faults : what went wrong and was tried again: kind -> number
    has_table : whether every score was in a table, so that no search was needed
    """

    metrics: tuple[MetricAtK, ...]
    options: Search
    outcome: SearchOutcome
    ledger: Ledger
    model_identity: str = ""
    faults: dict[str, int] = field(default_factory=dict)
    has_table: bool = False

    @property
    def n_full(self) -> int:
        """Intersections of all attributes with enough users."""
        return len(self.outcome.evidence.space.full)

    @property
    def n_fully_scored(self) -> int:
        """Those of them of which every user is scored."""
        evidence = self.outcome.evidence
        return int(evidence.is_complete[evidence.space.cell_of_full].sum())

    def may_be_larger_by(self) -> tuple[list[float | None], float | None]:
        """How much larger the exact gap of each metric may be, and with which confidence.

        None where nothing bounds it.
        """
        n_metrics = len(self.metrics)
        if not self.n_full:
            return [None] * n_metrics, None
        if self.n_fully_scored == self.n_full:
            return [0.0] * n_metrics, None
        gaps = self.outcome.history.gaps[-1] if self.outcome.history.gaps else (0.0,) * n_metrics
        for searcher in self.outcome.searchers:
            if isinstance(searcher, Bounded):
                bounds = searcher.may_be_larger_by().tolist()
                within = map(_within, self.metrics, gaps, bounds)
                return [*within], searcher.confidence
        return [None] * n_metrics, None


def _within(metric: MetricAtK, gap: float, bound: float) -> float | None:
    """No gap is larger than the range of the metric; None where there is no bound."""
    if math.isnan(bound):
        return None
    low, high = metric.metric.bounds or (-math.inf, math.inf)
    return max(min(bound, high - low - gap), 0.0)
