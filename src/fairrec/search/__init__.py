"""Which groups to look at next, when scoring users is dear."""

from fairrec.search.searchers import SEARCHERS

__all__ = ["SEARCHERS"]
