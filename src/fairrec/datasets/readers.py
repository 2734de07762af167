"""The readers of publishers' data sets, one file each; each adds itself to the registry."""

from fairrec.datasets import amazon, blackfriday, lfm360k, movielens, online_retail
from fairrec.datasets.registry import DATASETS

__all__ = ["DATASETS", "amazon", "blackfriday", "lfm360k", "movielens", "online_retail"]
