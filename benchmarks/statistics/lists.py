"""Ranked lists of random scores, and the metrics of the product on them."""

from __future__ import annotations

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray, FloatArray
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.ids import list_bounds
from fairrec.inputs.side_data import SideData
from fairrec.metrics import MetricAtK, parse_metric
from fairrec.metrics.measured import values_per_list


def random_lists(
    rng: np.random.Generator, n_candidates: AnyArray, n_positives: AnyArray, lift: AnyArray
) -> CandidateLists:
    """Candidates with normal scores, those of positives higher by the lift.

    Parameters
    ----------
    n_candidates, n_positives, lift : (n_users,)
    """
    most = int(n_candidates.max())
    place = np.arange(most)
    is_positive = place < n_positives[:, None]
    scores = rng.normal(size=is_positive.shape) + is_positive * lift[:, None]
    is_candidate = place < n_candidates[:, None]
    return CandidateLists(
        list_bounds(n_candidates),
        np.nonzero(is_candidate)[1].astype(np.int32),
        scores[is_candidate],
        is_positive[is_candidate].astype(np.float64),
        pl.Series(place),
    )


def measured_lists(lists: CandidateLists, *names: str) -> tuple[FloatArray, tuple[MetricAtK, ...]]:
    """(n_metrics, n_users) values, and the metrics they are of."""
    metrics = tuple(map(parse_metric, names))
    return values_per_list(metrics, lists, SideData()), metrics
