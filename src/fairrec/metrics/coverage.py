"""Coverage: whether users get a full list at all."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.metrics.ranked import RankedLists
from fairrec.metrics.registry import metric


@metric("coverage", needs=(), bounds=(0, 1), called="places filled")
def coverage_per_user(lists: RankedLists, k: int) -> FloatArray:
    """Share of the first k places that are filled, 0 for a user without a list."""
    return np.minimum(lists.lengths, k) / k
