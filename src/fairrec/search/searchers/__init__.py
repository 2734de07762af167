"""The searchers, one file each."""

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
    "adaptive",
    "dpso",
    "exact",
    "fairas",
    "pso",
    "random_order",
    "testsgd",
    "themis",
]
