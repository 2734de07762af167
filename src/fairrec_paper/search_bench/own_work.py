"""How long searchers take themselves."""

from __future__ import annotations

import time

from fairrec.search.evidence import Evidence
from fairrec.search.searcher import Request, Searcher


class OwnWork:
    """A stop-watch on searchers: the time they take themselves, and what they propose."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.n_asked = 0
        self.groups: set[int] = set()

    def watch(self, searcher: Searcher) -> Searcher:
        """The same searcher, watched."""
        return _Watched(searcher, self)


class _Watched:
    def __init__(self, searcher: Searcher, work: OwnWork) -> None:
        self._searcher, self._work = searcher, work

    def ask(self) -> Request:
        started = time.perf_counter()
        request = self._searcher.ask()
        self._work.seconds += time.perf_counter() - started
        self._work.n_asked += len(request.groups)
        self._work.groups.update(request.groups.tolist())
        return request

    def tell(self, request: Request, evidence: Evidence) -> None:
        started = time.perf_counter()
        self._searcher.tell(request, evidence)
        self._work.seconds += time.perf_counter() - started
