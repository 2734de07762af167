"""The re-rankers, one file each."""

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
    "calibrated",
    "group_prior",
    "mmr",
    "oracle",
    "popularity_calibrated",
    "second_opinion",
    "swap",
]
