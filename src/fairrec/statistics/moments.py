"""Count, sum and sum of squares of each metric over each group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray
from fairrec.groups.cells import Cells
from fairrec.groups.grouping import Grouping
from fairrec.metrics.measured import Measured


@dataclass(frozen=True, slots=True)
class Sample:
    """What is known where not everyone is scored: a reference sample, and groups fully scored.

    Parameters
    ----------
    is_scored : (n_users,)
    is_reference : (n_users,), the sample, drawn at random among all users
    is_fully_scored_cell : (n_cells,), cells of which every user is scored
    is_fully_scored_group : (n_groups,), groups made of such cells
    n, total, squares : (n_metrics, n_groups), of the reference sample alone, centred
    """

    is_scored: BoolArray
    is_reference: BoolArray
    is_fully_scored_cell: BoolArray
    is_fully_scored_group: BoolArray
    n: FloatArray
    total: FloatArray
    squares: FloatArray


@dataclass(frozen=True, slots=True)
class Moments:
    """What every estimate and test is made of.

    Values are centred on their mean over all users first, so that squares lose no digits. Where
    only some users are scored, "all users" is the reference sample among them, a group is known by
    all its users where it is fully scored and else by those in the sample, and it is compared
    with the others in the sample.

    Parameters
    ----------
    mean, sd, n_users : (n_metrics,), over the users with a defined value
    n, total, squares : (n_metrics, n_groups), of centred values
    centred_per_user : (n_metrics, n_users), 0 where undefined
    is_defined : (n_metrics, n_users)
    sample : None where everyone is scored
    """

    mean: FloatArray
    sd: FloatArray
    n_users: FloatArray
    n: FloatArray
    total: FloatArray
    squares: FloatArray
    centred_per_user: FloatArray
    is_defined: BoolArray
    sample: Sample | None = None

    @property
    def n_others(self) -> FloatArray:
        """(n_metrics, n_groups), users a group is compared with."""
        return self.n_users[:, None] - (self.n if self.sample is None else self.sample.n)

    @property
    def deviation(self) -> FloatArray:
        """(n_metrics, n_groups), mean of the group minus mean of all; NaN for an empty group."""
        undefined = np.full_like(self.total, np.nan)
        return np.divide(self.total, self.n, out=undefined, where=self.n > 0)

    @property
    def difference(self) -> FloatArray:
        """(n_metrics, n_groups), mean of the group minus mean of all others; NaN without others."""
        others = self.n_others
        shared = self.total if self.sample is None else self.sample.total
        undefined = np.full_like(self.total, np.nan)
        # centred values add up to 0, so that the others have what the group lacks
        return self.deviation + np.divide(shared, others, out=undefined, where=others > 0)

    @property
    def chance_error(self) -> FloatArray:
        """(n_metrics, n_groups), standard error of `difference` if attributes had no effect.

        Drawing a group at random from all users gives exactly this spread.
        """
        others = self.n_others
        defined = (self.n > 0) & (others > 0)
        undefined = np.full_like(self.total, np.nan)
        ratio = np.divide(self.n + others, self.n * others, out=undefined, where=defined)
        return self.sd[:, None] * np.sqrt(ratio)

    def known_cells(self, metric: int, cells: Cells) -> KnownCells:
        """Sums over the cells, from which those of any set of cells follow."""
        is_defined, centred = self.is_defined[metric], self.centred_per_user[metric]
        n, total = cells.sums(is_defined), cells.sums(centred)
        if self.sample is None:
            everywhere = np.ones(len(cells), dtype=bool)
            return KnownCells(n, total, n, total, everywhere, float(self.n_users[metric]))
        is_reference = self.sample.is_reference
        reference_n, reference_total = (
            cells.sums(is_defined & is_reference),
            cells.sums(centred * is_reference),
        )
        whole = self.sample.is_fully_scored_cell
        return KnownCells(
            n, total, reference_n, reference_total, whole, float(self.n_users[metric])
        )


@dataclass(frozen=True, slots=True)
class KnownCells:
    """Numbers and centred sums of the scored users of each cell, all and of the sample alone."""

    n: FloatArray
    total: FloatArray
    reference_n: FloatArray
    reference_total: FloatArray
    is_fully_scored: BoolArray
    n_users: float

    def difference(self, is_member: BoolArray) -> float | None:
        """Mean of the users in some cells minus mean of all others; None where not known."""
        reference_n, reference_total = (
            self.reference_n[is_member].sum(),
            self.reference_total[is_member].sum(),
        )
        n, total = reference_n, reference_total
        if self.is_fully_scored[is_member].all():
            n, total = self.n[is_member].sum(), self.total[is_member].sum()
        others = self.n_users - reference_n
        if n == 0 or others <= 0:
            return None
        return float(total / n + reference_total / others)


def moments_of(measured: Measured, grouping: Grouping, threads: int = 1) -> Moments:
    """Moments of what was measured: of everyone, or of those a search has scored."""
    if measured.is_complete:
        return group_moments(measured.values, grouping, threads)
    return sampled_moments(
        measured.values, measured.is_scored, measured.is_reference, grouping, threads
    )


def group_moments(values_per_user: FloatArray, grouping: Grouping, threads: int = 1) -> Moments:
    """Moments of each metric over each group.

    Parameters
    ----------
    values_per_user : (n_metrics, n_users), NaN where undefined
    """
    is_defined = ~np.isnan(values_per_user)
    mean, sd, n_users = _overall(values_per_user, is_defined)
    centred = np.where(is_defined, values_per_user - mean[:, None], 0.0)
    n, total, squares = _group_sums(centred, is_defined, grouping, threads)
    return Moments(mean, sd, n_users, n, total, squares, centred, is_defined)


def sampled_moments(
    values_per_user: FloatArray,
    is_scored: BoolArray,
    is_reference: BoolArray,
    grouping: Grouping,
    threads: int = 1,
) -> Moments:
    """Moments where only some users are scored.

    Parameters
    ----------
    is_reference : (n_users,), a sample of all users that was drawn before any was scored
    """
    is_defined = ~np.isnan(values_per_user)
    mean, sd, n_users = _overall(values_per_user, is_defined & is_reference)
    centred = np.where(is_defined, values_per_user - mean[:, None], 0.0)
    of_scored = _group_sums(centred, is_defined, grouping, threads)
    of_sample = _group_sums(centred * is_reference, is_defined & is_reference, grouping, threads)
    cells, lattice = grouping.cells, grouping.lattice
    is_fully_scored_cell = cells.sums(is_scored) == cells.n_users
    is_fully_scored = lattice.sums((~is_fully_scored_cell).astype(np.float64)[None])[0] == 0
    n, total, squares = (
        np.where(is_fully_scored, *pair) for pair in zip(of_scored, of_sample, strict=True)
    )
    sample = Sample(is_scored, is_reference, is_fully_scored_cell, is_fully_scored, *of_sample)
    return Moments(mean, sd, n_users, n, total, squares, centred, is_defined, sample)


def _overall(
    values: FloatArray, is_counted: BoolArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean, standard deviation and number of the values that count, for each metric."""
    n_users = is_counted.sum(axis=1).astype(np.float64)
    mean = np.where(is_counted, values, 0).sum(axis=1) / np.maximum(n_users, 1)
    centred = np.where(is_counted, values - mean[:, None], 0.0)
    sd = np.sqrt((centred**2).sum(axis=1) / np.maximum(n_users - 1, 1))
    # rounding leaves a trace of spread in a constant metric, which tests would magnify
    largest = np.abs(np.where(is_counted, values, 0)).max(axis=1, initial=0.0)
    sd[sd < 1e-13 * largest] = 0.0
    return mean, sd, n_users


def _group_sums(
    centred: FloatArray, is_defined: BoolArray, grouping: Grouping, threads: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(n_metrics, n_groups) each: number, sum and sum of squares."""
    masks, mask_of_metric = distinct_masks(is_defined)
    cells = grouping.cells
    columns = [cells.sums(mask) for mask in masks]
    columns += [cells.sums(row) for row in centred]
    columns += [cells.sums(row**2) for row in centred]
    sums = grouping.lattice.sums(np.array(columns).reshape(-1, len(cells)), threads)
    n_masks, n_metrics = len(masks), len(centred)
    n = sums[np.array(mask_of_metric, dtype=np.int64)]
    return n, sums[n_masks : n_masks + n_metrics], sums[n_masks + n_metrics :]


def distinct_masks(
    is_defined: BoolArray,
) -> tuple[list[BoolArray], list[int]]:
    """The different rows, and for each row which of them it is.

    Most metrics are defined for the same users, and what is counted for one serves all.
    """
    seen: dict[bytes, int] = {}
    of_row = [seen.setdefault(row.tobytes(), len(seen)) for row in is_defined]
    return [is_defined[of_row.index(i)] for i in range(len(seen))], of_row
