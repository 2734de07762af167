"""What scoring has shown so far: values that all searchers share, and how they are measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.side_data import SideData
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import measure_everyone, values_per_list
from fairrec.scoring.ledger import Ledger

MeasureUsers = Callable[[IntArray], FloatArray]
"""Users -> (n_metrics, n_users) values, NaN where undefined; this is what costs."""


class Evidence:
    """Which users were scored, and what their values add up to in each cell.

    The users of a cell are scored in one random order, fixed by the seed, so that those scored
    are at any moment a random sample of the cell, and their number determines which they are.

    Parameters
    ----------
    proxy : (n_metrics, n_users), the popularity proxy: values of a ranking by popularity, a control
        variate that costs nothing; NaN where undefined. The closer its correlation with the values,
        the fewer users need scoring; it never enters a group's value.

    Attributes
    ----------
    n_scored : (n_cells,)
    sums : the six below
    n_defined, totals, squares : (n_metrics, n_cells), over the scored users
    values_per_user : (n_metrics, n_users), NaN where undefined or not scored
    proxies, proxy_squares, products : (n_metrics, n_cells), sums over the scored users of the
        proxy, its square, and its product with the value
    all_proxies : (n_metrics, n_cells), sums of the proxy over all users but those whose value
        turned out to be undefined
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
        cells = space.cells
        self.space = space
        self.n_scored = np.zeros(len(cells), dtype=np.int64)
        self.sums = np.zeros((6, n_metrics, len(cells)))
        self.n_defined, self.totals, self.squares = self.sums[:3]
        self.proxies, self.proxy_squares, self.products = self.sums[3:]
        self.values_per_user = np.full((n_metrics, space.n_users), np.nan)
        self.is_scored = np.zeros(space.n_users, dtype=bool)
        self.users_scored = self.n_reference = 0
        self._proxy = np.zeros((n_metrics, space.n_users)) if proxy is None else _centred(proxy)
        self.proxy_variance = (self._proxy**2).mean(axis=1)
        self.all_proxies = np.array([cells.sums(row) for row in self._proxy])
        self.measure = measure
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
        lengths = np.clip(stop - start, 0, n)
        first = np.repeat(start - (np.cumsum(lengths) - lengths), lengths)
        open_users = self._order[first + np.arange(len(first))]
        if n < len(open_users):
            first = np.argpartition(self._place[open_users], n)[:n]
            open_users = open_users[first]
        return open_users[np.argsort(self._place[open_users])]

    def score(self, users: IntArray) -> None:
        """Score users that `next_users` named, and take in their values."""
        values = self.measure(users)
        self.values_per_user[:, users] = values
        self.is_scored[users] = True
        self.users_scored += len(users)
        cells = self.space.cells.of_user[users]
        np.add.at(self.n_scored, cells, 1)
        is_defined = ~np.isnan(values)
        value = np.where(is_defined, values, 0.0)
        proxy = np.where(is_defined, self._proxy[:, users], 0.0)
        terms = [is_defined, value, value * value, proxy, proxy * proxy, proxy * value]
        at: Any = (slice(None), cells)
        np.subtract.at(self.all_proxies, at, self._proxy[:, users] - proxy)
        at = (slice(None), *at)
        np.add.at(self.sums, at, np.array(terms))

    def values(self, groups: IntArray) -> FloatArray:
        """(n_metrics, n_groups), values of full intersections; NaN where not fully scored."""
        at = np.searchsorted(self.space.full, groups)
        return self.values_of_cells(self.space.cell_of_full[at])

    def values_of_cells(self, cells: IntArray | CodeArray) -> FloatArray:
        """The same by cells; NaN too where fewer users have a value than a group needs."""
        n = self.n_defined[:, cells]
        is_known = self.is_complete[cells] & (n >= self.space.min_users)
        values: FloatArray = np.full(n.shape, np.nan)
        np.divide(self.totals[:, cells], n, out=values, where=is_known)
        return values


def _centred(proxy: FloatArray) -> FloatArray:
    """Each row around its mean; an undefined value counts as the mean."""
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


@dataclass(frozen=True, slots=True)
class FoundGap:
    """What was found once another full intersection was fully scored.

    Parameters
    ----------
    users : scored by then
    gaps : for each metric the largest minus the smallest value of fully scored ones, 0 below two
    cell : the combination itself
    """

    users: int
    gaps: tuple[float, ...]
    cell: int


@dataclass(frozen=True, slots=True)
class Measure:
    """Users -> their values, the same to the last digit in any batch.

    Parameters
    ----------
    candidates : all lists; their scores are not looked at
    ledger : where the scores come from
    threads : worth more than one only for very many lists at once
    list_of_user : (n_users,), the list of each user; None where both have the same order
    """

    metrics: Sequence[MetricAtK]
    candidates: CandidateLists
    side: SideData
    ledger: Ledger
    threads: int = 1
    list_of_user: IntArray | None = None

    def __call__(self, users: IntArray) -> FloatArray:
        """(n_metrics, len(users)), NaN where undefined."""
        lists = users if self.list_of_user is None else self.list_of_user[users]
        candidates = self.candidates.take(lists, self.ledger.pay_for(lists))
        return values_per_list(self.metrics, candidates, self.side.for_lists(lists), self.threads)


def popularity_proxy(
    inputs: AuditInputs, metrics: Sequence[MetricAtK], threads: int = 1
) -> FloatArray | None:
    """(n_metrics, n_users), what the metrics would be if items were ranked by popularity.

    Who likes what is popular is easily served by both. None where there is no history to count in.
    """
    popularity = inputs.side.popularity
    if popularity is None:
        return None
    by_popularity = inputs.with_scores(popularity.per_item[inputs.candidates.items])
    return measure_everyone(by_popularity, metrics, threads).values
