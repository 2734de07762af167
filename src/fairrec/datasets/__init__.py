"""Data to audit: publishers' data sets in one form, and worlds made here."""

from fairrec.datasets import amazon, blackfriday, lfm360k, movielens, online_retail
from fairrec.datasets.registry import DATASETS, Dataset

__all__ = [
    "DATASETS",
    "Dataset",
    "amazon",
    "blackfriday",
    "lfm360k",
    "movielens",
    "online_retail",
]
