"""Scores and the p-values of their columns, group by group and draw by draw."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from fairrec.statistics.scores import normal_scale
from fairrec.statistics.strata import PRIOR_USERS


def score_by_own(difference: float, sides, variance: float) -> float:
    """Welch's statistic on the scale of a normal variable, of a metric without upper bound.

    Parameters
    ----------
    sides : users of a group and of all others, and the sum of squares around the mean of each
    variance : of all users, to which those of both are drawn
    """
    freedoms = [n - 1 + PRIOR_USERS for n, _ in sides]
    errors = [
        (around + PRIOR_USERS * variance) / freedom / n
        for (n, around), freedom in zip(sides, freedoms, strict=True)
    ]
    # Welch and Satterthwaite
    freedom = sum(errors) ** 2 / sum(e**2 / f for e, f in zip(errors, freedoms, strict=True))
    return float(normal_scale(difference / math.sqrt(sum(errors)), freedom))


def p_slowly(values: Sequence[float], score: float) -> float:
    """By the rank, beyond the largest tenth, or ten, by an exponential fit to the squares."""
    n = len(values)
    places = max(-(-n // 10), min(10, n // 2), 1)
    start = sorted(values)[-places]
    beyond = [one**2 - start**2 for one in values if one > start]
    if score > start and beyond:
        scale = sum(beyond) / len(beyond)
        return len(beyond) / n * math.exp(-(score**2 - start**2) / scale)
    return sum(one >= score for one in values) / n


def least_slowly(rows, shares) -> list[float]:
    """The smallest p-value of each draw over the share of its column, (2, n_columns) each."""
    return [
        min(
            p_slowly([one[tail, at] for one in rows], row[tail, at]) / shares[tail, at]
            for tail in (0, 1)
            for at in range(shares.shape[1])
        )
        for row in rows
    ]


def adjusted_slowly(rows, shares, least: Iterable[float], tail: int, at: int, score: float) -> int:
    """How many draws have as small a p-value in any column as a score in its own."""
    p = p_slowly([one[tail, at] for one in rows], score) / shares[tail, at]
    return sum(one <= p * (1 + 1e-9) for one in least)
