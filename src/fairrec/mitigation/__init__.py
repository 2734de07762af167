"""Re-rankers: candidate lists -> the same candidates in another order."""

from fairrec.mitigation.rerankers import RERANKERS

__all__ = ["RERANKERS"]
