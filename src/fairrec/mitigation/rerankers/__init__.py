"""The re-rankers, one file each."""

from fairrec.mitigation.reranker import RERANKERS
from fairrec.mitigation.rerankers import (
    calibrated,
    group_prior,
    mmr,
    oracle,
    popularity_calibrated,
    second_opinion,
    swap,
)

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
