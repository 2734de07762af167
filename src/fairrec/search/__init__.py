"""Which groups to look at next, when scoring users is dear."""

from fairrec.search import adaptive, dpso, exact, fairas, pso, random_order, testsgd, themis
from fairrec.search.searcher import SEARCHERS

__all__ = [
    "SEARCHERS",
    "adaptive",
    "dpso",
    "exact",
    "fairas",
    "pso",
    "random_order",
    "testsgd",
    "themis",
]
