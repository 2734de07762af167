"""The readers of publishers' data sets, one file each; each adds itself to the registry."""

from fairrec_paper.datasets.readers import amazon, blackfriday, lfm360k, movielens

__all__ = ["amazon", "blackfriday", "lfm360k", "movielens"]
