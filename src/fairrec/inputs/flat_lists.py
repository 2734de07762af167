"""Lists of different lengths in one flat array, with the bounds of each."""

from __future__ import annotations

import numpy as np
import polars as pl

from fairrec.core.arrays import AnyArray, IntArray
from fairrec.core.kernels import kernel


def bounds_of(lengths: IntArray) -> IntArray:
    """Where each list begins and ends: list `i` is `bounds[i]:bounds[i + 1]`.

    >>> bounds_of(np.array([2, 0, 1])).tolist()
    [0, 2, 2, 3]
    """
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def runs_of(values: pl.Series) -> tuple[pl.Series, IntArray]:
    """The value of each run of equal rows, and the bounds of the runs.

    Most tables are written user by user, so there are far fewer runs of users than rows to look up.

    >>> values, bounds = runs_of(pl.Series(["a", "a", "b", "a"]))
    >>> values.to_list(), bounds.tolist()
    (['a', 'b', 'a'], [0, 2, 3, 4])
    """
    runs = values.rle().struct
    return runs.field("value"), bounds_of(runs.field("len").to_numpy())


def gather_lists(flat: AnyArray, offsets: IntArray, lists: IntArray) -> AnyArray:
    """The parts of a flat array that belong to some lists, one after the other.

    For all lists in their order that is the array itself, not to be written to.

    >>> gather_lists(np.array([5, 6, 7, 8]), np.array([0, 1, 3, 4]), np.array([2, 1])).tolist()
    [8, 6, 7]
    """
    if len(lists) == len(offsets) - 1 and np.array_equal(lists, np.arange(len(lists))):
        whole = flat[:]
        whole.flags.writeable = False
        return whole
    part = np.empty(int((offsets[lists + 1] - offsets[lists]).sum()), dtype=flat.dtype)
    _copy_lists(flat, offsets, lists, part)
    return part


@kernel
def _copy_lists(flat: AnyArray, offsets: IntArray, lists: IntArray, part: AnyArray) -> None:
    at = 0
    for one in lists:
        for row in range(offsets[one], offsets[one + 1]):
            part[at] = flat[row]
            at += 1
