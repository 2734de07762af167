"""What scoring has shown so far: values that all searchers share, and the history of the gap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.groups.grouping import Grouping

MeasureUsers = Callable[[IntArray], FloatArray]
"""Users -> (n_metrics, n_users) values, NaN where undefined; this is what costs."""


class Evidence:
    """Which users were scored, and what their values add up to in each cell.

    The users of a cell are scored in one random order, fixed by the seed, so that those scored
    are at any moment a random sample of the cell, and how many there are says which they are.

    Parameters
    ----------
    n_scored : (n_cells,)
    n_defined, totals, squares : (n_metrics, n_cells), over the scored users
    values_per_user : (n_metrics, n_users), NaN where undefined or not scored
    proxies, proxy_squares, products : (n_metrics, n_cells), sums over the scored users of the
        popularity proxy, its square, and its product with the value
    all_proxies : (n_metrics, n_cells), sums of the popularity proxy over all users but those
        whose value turned out to be undefined
    users_scored : the number of users scored so far
    n_reference : users scored first, at random among all; whatever is asked for later, they
        stay a random sample of everyone
    """

    def __init__(
        self,
        space: Grouping,
        measure: MeasureUsers,
        n_metrics: int,
        seed: int,
        proxy: FloatArray | None = None,
    ) -> None:
        """Nothing is scored yet.

        Parameters
        ----------
        proxy : (n_metrics, n_users), the popularity proxy: values of a ranking by popularity, a
            control variate that costs nothing; NaN where undefined. The closer its correlation
            with the values, the fewer users need scoring; it never enters a group's value.
        """
        cells = space.cells
        self.space = space
        self.n_scored = np.zeros(len(cells), dtype=np.int64)
        self.n_defined = np.zeros((n_metrics, len(cells)))
        self.totals = np.zeros((n_metrics, len(cells)))
        self.squares = np.zeros((n_metrics, len(cells)))
        self.values_per_user = np.full((n_metrics, space.n_users), np.nan)
        self.is_scored = np.zeros(space.n_users, dtype=bool)
        self.users_scored = self.n_reference = 0
        self._proxy = np.zeros((n_metrics, space.n_users)) if proxy is None else _centred(proxy)
        self.proxy_variance = (self._proxy**2).mean(axis=1)
        self.all_proxies = np.array([cells.sums(row) for row in self._proxy])
        self.proxies, self.proxy_squares, self.products = np.zeros((3, n_metrics, len(cells)))
        self._measure = measure
        self._place = np.random.default_rng([seed, 1]).permutation(space.n_users)
        self._order = np.lexsort((self._place, cells.of_user))
        self._start = np.concatenate([[0], np.cumsum(cells.n_users)])

    @property
    def is_reference(self) -> BoolArray:
        """(n_users,), the reference sample, drawn at random among all users."""
        return np.asarray(self._place < self.n_reference)

    @property
    def is_complete(self) -> BoolArray:
        """(n_cells,), cells of which every user is scored."""
        return np.asarray(self.n_scored == self.space.cells.n_users)

    def n_left(self, group: int) -> int:
        """Users of a group that are not scored."""
        cells = self.space.cells_in(group)
        return int((self.space.cells.n_users[cells] - self.n_scored[cells]).sum())

    def next_users(self, group: int, n: int, waiting: IntArray | None = None) -> IntArray:
        """The next users of a group to score, at most `n`.

        Parameters
        ----------
        waiting : (n_cells,), how many users of each cell are about to be scored anyway
        """
        cells = self.space.cells_in(group)
        start = self._start[cells] + self.n_scored[cells]
        if waiting is not None:
            start += waiting[cells]
        stop = self._start[cells + 1]
        if len(cells) == 1:
            return self._order[start[0] : min(start[0] + n, stop[0])]
        # no cell can have more of the next users than are asked for
        open_users = _in_ranges(self._order, start, np.minimum(start + n, stop))
        if n < len(open_users):
            first = np.argpartition(self._place[open_users], n)[:n]
            open_users = open_users[first]
        return open_users[np.argsort(self._place[open_users])]

    def score(self, users: IntArray) -> None:
        """Score users that `next_users` named."""
        values = self._measure(users)
        self.values_per_user[:, users] = values
        self.is_scored[users] = True
        self.users_scored += len(users)
        _add_up(
            self.space.cells.of_user[users],
            np.ascontiguousarray(values),
            self._proxy[:, users],
            self.n_scored,
            self.n_defined,
            self.totals,
            self.squares,
            self.proxies,
            self.proxy_squares,
            self.products,
            self.all_proxies,
        )

    def values(self, groups: IntArray) -> FloatArray:
        """(n_metrics, n_groups), values of full combinations; NaN where one is not fully scored.

        A group is fully scored when all its users are; its value is undefined where fewer users
        than a group needs have one.
        """
        at = np.searchsorted(self.space.full, groups)
        return self.values_of_cells(self.space.cell_of_full[at])

    def values_of_cells(self, cells: IntArray | CodeArray) -> FloatArray:
        """The same for full combinations named by their cells."""
        n = self.n_defined[:, cells]
        is_complete = self.n_scored[cells] == self.space.cells.n_users[cells]
        is_known = is_complete & (n >= self.space.min_users)
        values: FloatArray = np.full(n.shape, np.nan)
        np.divide(self.totals[:, cells], n, out=values, where=is_known)
        return values


@kernel
def _in_ranges(values: IntArray, start: IntArray, stop: IntArray) -> IntArray:
    """values[start:stop] of each range, one after the other."""
    found = np.empty(np.maximum(stop - start, 0).sum(), dtype=values.dtype)
    at = 0
    for i in range(len(start)):
        for j in range(start[i], stop[i]):
            found[at] = values[j]
            at += 1
    return found


@kernel
def _add_up(
    cell_of: CodeArray,
    values: FloatArray,
    proxy: FloatArray,
    n_scored: IntArray,
    n_defined: FloatArray,
    totals: FloatArray,
    squares: FloatArray,
    proxies: FloatArray,
    proxy_squares: FloatArray,
    products: FloatArray,
    all_proxies: FloatArray,
) -> None:
    """Add users just scored to the sums of their cells."""
    for user in range(len(cell_of)):
        cell = cell_of[user]
        n_scored[cell] += 1
        for metric in range(len(values)):
            value, expected = values[metric, user], proxy[metric, user]
            if np.isnan(value):
                all_proxies[metric, cell] -= expected
                continue
            n_defined[metric, cell] += 1
            totals[metric, cell] += value
            squares[metric, cell] += value * value
            proxies[metric, cell] += expected
            proxy_squares[metric, cell] += expected * expected
            products[metric, cell] += expected * value


def _centred(proxy: FloatArray) -> FloatArray:
    """Each row around its mean; an undefined value says nothing, which is the mean."""
    is_defined = ~np.isnan(proxy)
    known = np.where(is_defined, proxy, 0.0)
    mean = known.sum(axis=1, keepdims=True) / np.maximum(is_defined.sum(axis=1, keepdims=True), 1)
    return np.where(is_defined, known - mean, 0.0)


def gaps_between(highest: FloatArray, lowest: FloatArray) -> FloatArray:
    """(n_metrics,), largest minus smallest value; 0 where there is none yet."""
    is_known = highest >= lowest
    gaps: FloatArray = np.zeros(len(is_known))
    np.subtract(highest, lowest, out=gaps, where=is_known)
    return gaps


@dataclass(slots=True)
class GapHistory:
    """One entry each time another full combination is fully scored.

    Parameters
    ----------
    users, seconds : scored and passed by then
    gaps : for each metric the largest minus the smallest value of fully scored ones, 0 below two
    cells : the combination itself
    """

    n_metrics: int
    users: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    gaps: list[tuple[float, ...]] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)

    def add(self, users: int, seconds: float, gaps: FloatArray, cell: int) -> None:
        """Note the state of the search."""
        self.users.append(users)
        self.seconds.append(seconds)
        self.gaps.append(tuple(gaps.tolist()))
        self.cells.append(cell)

    def gaps_after(self, users: IntArray) -> FloatArray:
        """(n_metrics, len(users)), the gap found by the time so many users were scored."""
        # nothing is found before the first entry
        found = np.array([(0.0,) * self.n_metrics, *self.gaps])
        return np.asarray(found[np.searchsorted(self.users, users, side="right")].T)
