"""Re-rankers: candidate lists -> the same candidates in another order."""

from fairrec.mitigation import (
    calibrated,
    group_prior,
    mmr,
    oracle,
    popularity_calibrated,
    second_opinion,
    swap,
)
from fairrec.mitigation.reranker import RERANKERS

__all__ = [
    "RERANKERS",
    "calibrated",
    "group_prior",
    "mmr",
    "oracle",
    "popularity_calibrated",
    "second_opinion",
    "swap",
]
