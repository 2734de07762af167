"""Strata: users in the same circumstances, among whom alone groups are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from fairrec.groups.cells import number_combinations


@dataclass(frozen=True, slots=True)
class Strata:
    """Which users are in the same circumstances.

    Parameters
    ----------
    of_user : (n_rows,), the stratum each user is in, or all users of a row
    """

    of_user: CodeArray
    n_strata: int

    @classmethod
    def of(cls, codes: Sequence[CodeArray], n_values: Sequence[int]) -> Strata:
        """Every combination that occurs of some circumstances."""
        first, of_user = number_combinations(codes, n_values)
        return cls(of_user, len(first))

    @property
    def rows(self) -> list[IntArray]:
        """The rows of each stratum."""
        order = np.argsort(self.of_user, kind="stable")
        bounds = np.cumsum(np.bincount(self.of_user, minlength=self.n_strata))
        return np.split(order, bounds[:-1])

    def sums(self, per_row: FloatArray | BoolArray) -> FloatArray:
        """(n_strata,), sums over the rows of each stratum."""
        totals = np.bincount(self.of_user, weights=per_row, minlength=self.n_strata)
        return totals.astype(np.float64, copy=False)

    def means(self, per_row: FloatArray, n: BoolArray | FloatArray) -> FloatArray:
        """(n_strata,), means over the users of rows, `n` each; 0 where there are none."""
        total = self.sums(np.where(n > 0, per_row * n, 0.0))
        return total / np.maximum(self.sums(n), 1)


def one_stratum(n_rows: int) -> Strata:
    """Everyone in one stratum: nothing is given."""
    return Strata(np.zeros(n_rows, dtype=np.int32), 1)
