"""Combinations that searchers look at, empty ones too: what a search pays that knows no sizes."""

from __future__ import annotations

from dataclasses import replace

from fairrec.groups.grouping import EVERYONE
from fairrec.search.evidence import Evidence
from fairrec.search.searcher import NOTHING, Request, Searcher


class Queries:
    """Counts the combinations that searchers look at, and stops them at a limit.

    Parameters
    ----------
    limit : None for none

    Attributes
    ----------
    n : combinations looked at so far, each once for each searcher
    """

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.n = 0

    def watch(self, searcher: Searcher) -> Searcher:
        """The same searcher, counted."""
        return _Counted(searcher, self)

    def within(self, n: int) -> bool:
        """Whether so many more are within the limit; they are counted as far as they are."""
        self.n += n
        is_within = self.limit is None or self.n <= self.limit
        if not is_within:
            self.n = self.limit or 0
        return is_within


class _Counted:
    def __init__(self, searcher: Searcher, queries: Queries) -> None:
        self._searcher, self._queries = searcher, queries
        self._groups: set[int] = {EVERYONE}

    def ask(self) -> Request:
        if self._queries.n == self._queries.limit:
            return NOTHING
        request = self._searcher.ask()
        *until, after = self._new(request)
        for at, n in enumerate(until):
            if not self._queries.within(n):
                return _first(request, at)
        self._queries.within(after)
        return request

    def tell(self, request: Request, evidence: Evidence) -> None:
        self._searcher.tell(request, evidence)

    def _new(self, request: Request) -> list[int]:
        if request.n_queried is not None:
            return [*request.n_queried]
        # a part of a group may be asked for again and again
        found = []
        for group in request.groups.tolist():
            found.append(int(group not in self._groups))
            self._groups.add(group)
        return [*found, 0]


def _first(request: Request, n: int) -> Request:
    n_users = None if request.n_users is None else request.n_users[:n]
    return replace(request, groups=request.groups[:n], n_users=n_users, n_queried=None)
