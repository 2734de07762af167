"""How far from all others chance alone keeps a group of some size, adjusted for all groups."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary


def chance_band(
    result: MetricResult, n: FloatArray, n_others: FloatArray, depth: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """The lowest and the highest difference; 0 where nothing was tested or nobody is left.

    Parameters
    ----------
    n, n_others : users of the groups, and of all others they are compared with
    depth : their number of attributes; None for the widest band of any
    """
    tails = result.critical_tails or {}
    ends = [*tails.values()] if depth is None else [tails[depth]] if depth in tails else []
    above, below = np.max(ends, axis=0, initial=0.0) if ends else (0.0, 0.0)
    with np.errstate(divide="ignore"):
        error = (result.sd or 0.0) * np.sqrt(1 / n + 1 / n_others)
    error = np.where((n > 0) & (n_others > 0), error, 0.0)
    return -below * error, above * error


def others_of_fully_scored(
    result: MetricResult, summary: AuditSummary, n: FloatArray
) -> FloatArray:
    """Whom fully scored groups are compared with: after a search, the random sample without them.

    It holds their share of it, not all of their users.
    """
    search = summary.search
    share = 1.0
    if search.users_scored < search.users_total:
        share = result.n_compared / summary.n_users
    return np.asarray(result.n_compared - share * n)
