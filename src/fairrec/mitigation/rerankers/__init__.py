"""The re-rankers."""

from fairrec.mitigation.rerankers import blends, greedy, swap

__all__ = ["blends", "greedy", "swap"]
