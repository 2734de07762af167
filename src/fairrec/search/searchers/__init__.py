"""The searchers, in the order in which they are listed."""

from fairrec.search.searchers import fairas, listed, swarms, adaptive  # noqa: I001

__all__ = ["adaptive", "fairas", "listed", "swarms"]
