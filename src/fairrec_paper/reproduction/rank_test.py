"""Two samples of searches: which finds more, and whether that is more than chance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import mannwhitneyu

from fairrec.core.arrays import FloatArray


class RankTest(NamedTuple):
    """A12 of Vargha and Delaney (2000), and the two-sided p-value of Mann and Whitney."""

    a12: float
    p_value: float


def rank_test(ours: FloatArray, others: FloatArray) -> RankTest:
    """How often one of ours is larger than one of the others, ties counted half.

    >>> rank_test(np.array([2.0, 3.0]), np.array([1.0, 2.0])).a12
    0.875
    """
    # sums in another order are apart in the last digits, which must stay ties
    ours, others = np.round(ours, 12), np.round(others, 12)
    if np.ptp(np.concatenate([ours, others])) == 0:
        return RankTest(0.5, 1.0)
    found = mannwhitneyu(ours, others)
    return RankTest(float(found.statistic) / (len(ours) * len(others)), float(found.pvalue))
