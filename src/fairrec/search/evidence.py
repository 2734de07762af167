"""What scoring has shown so far: the store of values that all searchers share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
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
        self.n_reference = 0
        self._proxy = np.zeros((n_metrics, space.n_users)) if proxy is None else _centred(proxy)
        self.proxy_variance = (self._proxy**2).mean(axis=1)
        self.all_proxies = np.array([cells.sums(row) for row in self._proxy])
        self.proxies, self.proxy_squares, self.products = np.zeros((3, n_metrics, len(cells)))
        self._measure = measure
        self._place = np.random.default_rng([seed, 1]).permutation(space.n_users)
        self._order = np.lexsort((self._place, cells.of_user))
        self._start = np.concatenate([[0], np.cumsum(cells.n_users)])

    @property
    def users_scored(self) -> int:
        """The number of users scored so far."""
        return int(self.n_scored.sum())

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

    def next_users(self, group: int, n: int) -> IntArray:
        """The next users of a group to score, at most `n`."""
        cells = self.space.cells_in(group)
        if len(cells) == 1:
            start = self._start[cells[0]] + self.n_scored[cells[0]]
            return self._order[start : min(start + n, self._start[cells[0] + 1])]
        open_users = np.concatenate(
            [
                self._order[self._start[cell] + self.n_scored[cell] : self._start[cell + 1]]
                for cell in cells
            ]
        )
        if n < len(open_users):
            first = np.argpartition(self._place[open_users], n)[:n]
            open_users = open_users[first]
        return open_users[np.argsort(self._place[open_users])]

    def score(self, users: IntArray) -> None:
        """Score users that `next_users` named."""
        values = self._measure(users)
        self.values_per_user[:, users] = values
        self.is_scored[users] = True
        cell = self.space.cells.of_user[users]
        is_defined = ~np.isnan(values)
        known = np.where(is_defined, values, 0.0)
        proxy = np.where(is_defined, self._proxy[:, users], 0.0)
        np.add.at(self.n_scored, cell, 1)
        for metric in range(len(values)):
            for sums, addends in (
                (self.n_defined, is_defined[metric]),
                (self.totals, known[metric]),
                (self.squares, known[metric] ** 2),
                (self.proxies, proxy[metric]),
                (self.proxy_squares, proxy[metric] ** 2),
                (self.products, proxy[metric] * known[metric]),
            ):
                np.add.at(sums[metric], cell, addends)
            undefined = np.where(is_defined[metric], 0.0, self._proxy[metric, users])
            np.subtract.at(self.all_proxies[metric], cell, undefined)

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
        is_known = self.is_complete[cells] & (n >= self.space.min_users)
        values: FloatArray = np.full(n.shape, np.nan)
        np.divide(self.totals[:, cells], n, out=values, where=is_known)
        return values


def _centred(proxy: FloatArray) -> FloatArray:
    """Each row around its mean; an undefined value says nothing, which is the mean."""
    is_defined = ~np.isnan(proxy)
    known = np.where(is_defined, proxy, 0.0)
    mean = known.sum(axis=1, keepdims=True) / np.maximum(is_defined.sum(axis=1, keepdims=True), 1)
    return np.where(is_defined, known - mean, 0.0)
