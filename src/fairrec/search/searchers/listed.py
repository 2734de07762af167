"""A searcher that knows beforehand which groups it will look at."""

from __future__ import annotations

from fairrec.core.arrays import IntArray
from fairrec.search.evidence import Evidence
from fairrec.search.searcher import NOTHING, Request


class ListedGroups:
    """Asks for one group after the other, whatever it is told."""

    def __init__(self, groups: IntArray) -> None:
        self._groups = groups
        self._n_asked = 0

    def ask(self) -> Request:
        """The next group."""
        if self._n_asked == len(self._groups):
            return NOTHING
        self._n_asked += 1
        return Request(self._groups[self._n_asked - 1 : self._n_asked])

    def tell(self, request: Request, evidence: Evidence) -> None:
        """Nothing to learn."""
