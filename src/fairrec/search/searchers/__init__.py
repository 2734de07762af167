"""The searchers, one file each."""

from fairrec.search.searcher import SEARCHERS
from fairrec.search.searchers import (
    dpso,
    exact,
    fairas,
    pso,
    random_order,
    testsgd,
    themis,
)
from fairrec.search.searchers.adaptive import adaptive

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
