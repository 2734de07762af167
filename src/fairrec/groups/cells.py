"""Cells: the full intersections of attribute values that occur, and their users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import AnyArray, CodeArray, FloatArray, IntArray

_KEY_LIMIT = 1 << 62
_SMALL_SPACE = 1 << 17


@dataclass(frozen=True, slots=True)
class Cells:
    """The observed full intersections, in the order of their codes.

    Cell statistics are all that groups and tests need: every group is a union of cells.

    Parameters
    ----------
    codes : (n_attributes, n_cells)
    of_user : (n_rows,), the cell each user is in, or all users of a row
    n_users : (n_cells,)
    n_values : number of values of each attribute
    """

    codes: CodeArray
    of_user: CodeArray
    n_users: IntArray
    n_values: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.n_users)

    def sums(self, per_row: AnyArray) -> FloatArray:
        """(n_cells,), sums over the rows of each cell."""
        totals = np.bincount(self.of_user, weights=per_row, minlength=len(self))
        return totals.astype(np.float64, copy=False)


def build_cells(
    codes: Sequence[CodeArray], n_values: Sequence[int], n_users: IntArray | None = None
) -> Cells:
    """The cells of users with these attribute codes.

    Parameters
    ----------
    codes : one array (n_rows,) an attribute
    n_users : (n_rows,), users of each row; None where a row is a user
    """
    first, of_user = number_combinations(codes, n_values)
    return Cells(
        codes=np.stack([column[first] for column in codes]),
        of_user=of_user,
        # whole numbers below 2^53 are exact as floats
        n_users=np.bincount(of_user, weights=n_users, minlength=len(first)).astype(np.int64),
        n_values=tuple(n_values),
    )


def number_combinations(
    codes: Sequence[CodeArray], n_values: Sequence[int]
) -> tuple[IntArray, CodeArray]:
    """A row of each combination that occurs, in their order, and the combination of each row."""
    key, n_keys = combination_keys(codes, n_values)
    if n_keys > 4 * len(key) + _SMALL_SPACE:
        _, first, of_row = np.unique(key, return_index=True, return_inverse=True)
        return first, of_row.astype(np.int32)
    # a small space needs no sorting
    row_of_key = np.full(n_keys, -1, dtype=np.int64)
    row_of_key[key] = np.arange(len(key))
    occurs = row_of_key >= 0
    number_of_key = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    return row_of_key[occurs], number_of_key[key]


def combination_keys(codes: Sequence[CodeArray], n_values: Sequence[int]) -> tuple[IntArray, int]:
    """Equal keys for equal combinations and only for them, in their order, and their range.

    The product of the value counts may exceed 64 bits; before it would, the keys so far are
    replaced by their ranks, of which there are at most as many as rows.
    """
    key = codes[0].astype(np.int64)
    n_keys = int(n_values[0])
    for column, n in zip(codes[1:], n_values[1:], strict=True):
        if n_keys * int(n) >= _KEY_LIMIT:
            distinct, key = np.unique(key, return_inverse=True)
            n_keys = len(distinct)
        key = key * n + column
        n_keys *= int(n)
    return key, n_keys
