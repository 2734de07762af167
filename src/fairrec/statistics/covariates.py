"""Covariates: circumstances that make a part of a difference, and findings that they take away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from fairrec.core.arrays import AnyArray, BoolArray, CodeArray, FloatArray, IntArray
from fairrec.groups.lattice import members
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.metric_analysis import MetricAnalysis

LOOKED_AT = 10
"""Findings of a metric, worst first."""
LEAST_SHARE = 0.2
"""Of a difference; what makes less of it is not told."""
LEVEL = 0.02
"""Probability that anything is told where no circumstance makes a difference."""
MOST_DRAWN = 2000
"""Users of a group, and as many others, whose lists are looked at in random order."""

AtRandom = Callable[[IntArray], FloatArray]
"""Users -> (n_metrics, n_users), their values if their lists were in random order."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A circumstance of all users.

    Parameters
    ----------
    numbers, codes : (n_users,), as it is and in bins
    is_of_lists : whether lists in random order would show what it makes
    """

    numbers: AnyArray
    codes: CodeArray
    n_values: int
    is_of_lists: bool


@dataclass(frozen=True, slots=True)
class Differing:
    """A circumstance in which a group differs from all others, and on which a metric depends.

    Parameters
    ----------
    metric, group, circumstance : positions; that of the group in the lattice
    here, elsewhere : mean of the circumstance in the group and among all others
    explains : the difference that it makes, from how the metric depends on it among all others;
        None where less than half of the group has anybody else in the same circumstances
    at_random : means of the metric in the group and among all others, were their lists in random
        order; looked at where `explains` is None
    """

    metric: int
    group: int
    circumstance: int
    here: float
    elsewhere: float
    explains: float | None
    at_random: tuple[float, float] | None = None


def differing_circumstances(
    analysis: Analysis,
    findings: Sequence[Sequence[int]],
    circumstances: Sequence[Counted],
    at_random: AtRandom | None = None,
) -> tuple[Differing, ...]:
    """The circumstances that make a part of the differences found.

    What a circumstance makes of a difference is the mean of the others' values in the group's
    circumstances minus that in their own (Kitagawa's decomposition). It is told where it is beyond
    chance both in the values and in who is in which circumstances, and not negligible.

    Parameters
    ----------
    findings : for each metric, positions of groups in the lattice
    at_random : None where lists in random order show nothing
    """
    looked_at = [(i, g) for i, groups in enumerate(findings) for g in groups[:LOOKED_AT]]
    n_tests = max(1, len(looked_at) * len(circumstances))
    critical = float(ndtri(1 - LEVEL / (2 * n_tests)))
    found, cells = [], analysis.grouping.cells
    squares = {
        i: cells.sums(analysis.moments.centred_per_row[i] ** 2)
        for i, groups in enumerate(findings)
        if groups
    }
    for place, circumstance in enumerate(circumstances):
        at = circumstance.codes.astype(np.int64) * len(cells) + cells.of_user
        tables = {i: _table(i, circumstance, at, squares[i], analysis) for i in squares}
        for i, group in looked_at:
            table = tables[i]
            is_member = members(analysis.grouping.lattice.codes[group], cells)
            difference = float(analysis.moments.difference[i, group])
            part = table.made(is_member, critical)
            drawn = None
            if part is None:
                is_in = is_member[cells.of_user]
                drawn = _drawn(i, is_in, circumstance, analysis, at_random)
                if drawn is not None:
                    part = _beyond(drawn, critical)
            told = part is None or (
                part * difference > 0 and abs(part) >= LEAST_SHARE * abs(difference)
            )
            if told and np.isfinite(difference):
                here, elsewhere = table.means(is_member)
                means = None if drawn is None else (drawn[0].mean(), drawn[1].mean())
                found.append(
                    Differing(
                        i, group, place, here, elsewhere, None if drawn is not None else part, means
                    )
                )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Table:
    """Sums over the users with a value, by bin of a circumstance and by cell.

    Parameters
    ----------
    n, total : (n_bins, n_cells)
    squares, of_numbers : (n_cells,), of the values, and sums of the circumstance
    """

    n: FloatArray
    total: FloatArray
    squares: FloatArray
    of_numbers: FloatArray

    def means(self, is_member: BoolArray) -> tuple[float, float]:
        """Of the circumstance, in a group and elsewhere."""
        n = self.n.sum(axis=0)
        here, elsewhere = (
            float(self.of_numbers[cells].sum() / max(1, n[cells].sum()))
            for cells in (is_member, ~is_member)
        )
        return here, elsewhere

    def made(self, is_member: BoolArray, critical: float) -> float | None:
        """The difference that the circumstance makes, 0 where it may be chance.

        None where less than half of the group has others in its circumstances.
        """
        n_here, n_others = self.n[:, is_member].sum(axis=1), self.n[:, ~is_member].sum(axis=1)
        has_others = n_others > 0
        n_kept = n_here[has_others].sum()
        if 2 * n_kept < n_here.sum() or not n_kept:
            return None
        n_here, n_others = n_here[has_others], n_others[has_others]
        mean = self.total[:, ~is_member].sum(axis=1)[has_others] / n_others
        share_here, share_others = n_here / n_kept, n_others / n_others.sum()
        at_here, at_others = share_here @ mean, share_others @ mean
        part = float(at_here - at_others)
        within = self.squares[~is_member].sum() - (n_others * mean**2).sum()
        variance = max(within, 0.0) / max(1.0, n_others.sum() - len(mean))
        by_values = np.sqrt(variance * ((share_here - share_others) ** 2 / n_others).sum())
        by_users = np.sqrt(
            share_here @ (mean - at_here) ** 2 / n_kept
            + share_others @ (mean - at_others) ** 2 / n_others.sum()
        )
        return part if abs(part) > critical * max(by_values, by_users) else 0.0


def _table(
    i: int, circumstance: Counted, at: IntArray, squares: FloatArray, analysis: Analysis
) -> _Table:
    cells, moments = analysis.grouping.cells, analysis.moments
    is_defined, values = moments.n_per_row[i], moments.centred_per_row[i]
    shape = (circumstance.n_values, len(cells))
    n, total = (
        np.bincount(at, weights=weights, minlength=shape[0] * shape[1])
        .reshape(shape)
        .astype(np.float64, copy=False)
        for weights in (is_defined, values)
    )
    return _Table(n, total, squares, cells.sums(circumstance.numbers * is_defined))


def _drawn(
    i: int,
    is_in: BoolArray,
    circumstance: Counted,
    analysis: Analysis,
    at_random: AtRandom | None,
) -> tuple[FloatArray, FloatArray] | None:
    """Values in random order of some users of the group and of some others."""
    if at_random is None or not circumstance.is_of_lists:
        return None
    rng = np.random.default_rng([analysis.options.seed, i])
    is_defined = analysis.moments.n_per_row[i] > 0
    both = []
    for side in (is_in, ~is_in):
        users = np.flatnonzero(side & is_defined)
        if len(users) > MOST_DRAWN:
            users = np.sort(rng.choice(users, MOST_DRAWN, replace=False))
        values = at_random(users)[i]
        both.append(values[~np.isnan(values)])
    return None if min(map(len, both)) < 2 else (both[0], both[1])


def _beyond(drawn: tuple[FloatArray, FloatArray], critical: float) -> float:
    """The difference of the means, 0 where it may be chance."""
    here, elsewhere = drawn
    part = float(here.mean() - elsewhere.mean())
    error = np.sqrt(here.var(ddof=1) / len(here) + elsewhere.var(ddof=1) / len(elsewhere))
    return part if abs(part) > critical * error else 0.0


@dataclass(frozen=True, slots=True)
class Explained:
    """A finding that is none any more.

    Parameters
    ----------
    metric, group : positions; that of the group in the lattice
    """

    metric: int
    group: int


def no_longer_found(raw: Sequence[MetricAnalysis], adjusted: Analysis) -> tuple[Explained, ...]:
    """The findings without circumstances that are not beyond chance with them.

    Parameters
    ----------
    raw : what is found whatever the circumstances
    """
    return tuple(
        Explained(i, finding.position)
        for i, about in enumerate(raw)
        for finding in about.findings
        if not adjusted.is_beyond_chance[i, finding.position]
    )
