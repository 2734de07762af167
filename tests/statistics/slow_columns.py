"""P-values of the columns of scores, draw by draw."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


def p_slowly(values: Sequence[float], score: float) -> float:
    """By the rank, beyond the largest tenth by an exponential fit to the squares."""
    n, places = len(values), -(-len(values) // 10)
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
