"""Count, sum and sum of squares of each metric over each group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairrec.arrays import BoolArray, FloatArray
from fairrec.groups.cells import Cells
from fairrec.groups.lattice import Lattice


@dataclass(frozen=True, slots=True)
class Moments:
    """What every estimate and test is made of.

    Values are centred on their mean over all users first, so that squares lose no digits.

    Parameters
    ----------
    mean, sd, n_users : (n_metrics,), over the users with a defined value
    n, total, squares : (n_metrics, n_groups), of centred values
    centred_per_user : (n_metrics, n_users), 0 where undefined
    is_defined : (n_metrics, n_users)
    """

    mean: FloatArray
    sd: FloatArray
    n_users: FloatArray
    n: FloatArray
    total: FloatArray
    squares: FloatArray
    centred_per_user: FloatArray
    is_defined: BoolArray

    @property
    def deviation(self) -> FloatArray:
        """(n_metrics, n_groups), mean of the group minus mean of all; NaN for an empty group."""
        undefined = np.full_like(self.total, np.nan)
        return np.divide(self.total, self.n, out=undefined, where=self.n > 0)

    @property
    def difference(self) -> FloatArray:
        """(n_metrics, n_groups), mean of the group minus mean of all others; NaN without others."""
        others = self.n_users[:, None] - self.n
        undefined = np.full_like(self.total, np.nan)
        scale = np.divide(self.n_users[:, None], others, out=undefined, where=others > 0)
        return self.deviation * scale

    @property
    def chance_error(self) -> FloatArray:
        """(n_metrics, n_groups), standard error of `difference` if attributes had no effect.

        Drawing a group at random from all users gives exactly this spread.
        """
        others = self.n_users[:, None] - self.n
        defined = (self.n > 0) & (others > 0)
        undefined = np.full_like(self.total, np.nan)
        ratio = np.divide(self.n_users[:, None], self.n * others, out=undefined, where=defined)
        return self.sd[:, None] * np.sqrt(ratio)


def group_moments(
    values_per_user: FloatArray, cells: Cells, lattice: Lattice, threads: int = 1
) -> Moments:
    """Moments of each metric over each group.

    Parameters
    ----------
    values_per_user : (n_metrics, n_users), NaN where undefined
    """
    is_defined = ~np.isnan(values_per_user)
    n_users = is_defined.sum(axis=1).astype(np.float64)
    mean = np.where(is_defined, values_per_user, 0).sum(axis=1) / n_users
    centred = np.where(is_defined, values_per_user - mean[:, None], 0.0)
    sd = np.sqrt((centred**2).sum(axis=1) / np.maximum(n_users - 1, 1))
    # rounding leaves a trace of spread in a constant metric, which tests would magnify
    sd[sd < 1e-12 * np.maximum(np.abs(mean), 1)] = 0.0

    masks, mask_of_metric = distinct_masks(is_defined)
    columns = [cells.sums(mask) for mask in masks]
    columns += [cells.sums(row) for row in centred]
    columns += [cells.sums(row**2) for row in centred]
    sums = lattice.sums(np.array(columns).reshape(-1, len(cells)), threads)
    n_masks, n_metrics = len(masks), len(centred)
    return Moments(
        mean=mean,
        sd=sd,
        n_users=n_users,
        n=sums[np.array(mask_of_metric, dtype=np.int64)],
        total=sums[n_masks : n_masks + n_metrics],
        squares=sums[n_masks + n_metrics :],
        centred_per_user=centred,
        is_defined=is_defined,
    )


def distinct_masks(
    is_defined: BoolArray,
) -> tuple[list[BoolArray], list[int]]:
    """The different rows, and for each row which of them it is.

    Most metrics are defined for the same users, and what is counted for one serves all.
    """
    seen: dict[bytes, int] = {}
    of_row = [seen.setdefault(row.tobytes(), len(seen)) for row in is_defined]
    return [is_defined[of_row.index(i)] for i in range(len(seen))], of_row
