"""The popularity proxy: a control variate that costs nothing and guides a search."""

from __future__ import annotations

from collections.abc import Sequence

from fairrec.core.arrays import FloatArray
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import measure_everyone


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
