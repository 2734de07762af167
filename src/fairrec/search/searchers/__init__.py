"""The searchers."""

from fairrec.search.searchers import fairas, listed, swarms
from fairrec.search.searchers.adaptive import adaptive

__all__ = ["adaptive", "fairas", "listed", "swarms"]
