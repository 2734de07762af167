"""The groups a search may look at, and what is known of them before anything is scored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairrec.core.arrays import CodeArray, IntArray
from fairrec.groups.cells import Cells
from fairrec.groups.lattice import Lattice, members

EVERYONE = -1
"""Stands for all users where a group is asked for."""


@dataclass(frozen=True)
class Space:
    """The eligible groups. Their sizes are known and cost nothing; their values do not.

    Parameters
    ----------
    lattice : all eligible groups; a group is named by its position there
    min_users : the smallest number of users of an eligible group
    """

    cells: Cells
    lattice: Lattice
    min_users: int

    @cached_property
    def full(self) -> IntArray:
        """(n_full,), the eligible full combinations, between which the gap is measured."""
        return np.flatnonzero(self.lattice.is_full)

    @cached_property
    def cell_of_full(self) -> IntArray:
        """(n_full,), the cell that each of them is."""
        # cells and full combinations of the lattice are in the same order
        return np.flatnonzero(self.cells.n_users >= self.min_users)

    @cached_property
    def codes(self) -> CodeArray:
        """(n_full, n_attributes), the values of the eligible full combinations."""
        return self.lattice.codes[self.full]

    @cached_property
    def sizes(self) -> IntArray:
        """(n_full,), users of each."""
        return self.lattice.n_users[self.full]

    @property
    def n_users(self) -> int:
        """The number of users, in eligible groups or not."""
        return len(self.cells.of_user)

    @property
    def n_combinations(self) -> int:
        """The size of the Cartesian product of the attributes."""
        return math.prod(self.cells.n_values)

    def groups_at(self, positions: Iterable[Sequence[int]]) -> IntArray:
        """The full combination at each position of the product; -1 where none is eligible."""
        return np.array([self._at.get(tuple(p), -1) for p in positions], dtype=np.int64)

    def cells_in(self, group: int) -> IntArray:
        """The cells of a group."""
        if group == EVERYONE:
            return np.arange(len(self.cells))
        if self.lattice.is_full[group]:
            at = np.searchsorted(self.full, group)
            return self.cell_of_full[at : at + 1]
        return np.flatnonzero(members(self.lattice.codes[group], self.cells))

    @cached_property
    def _at(self) -> dict[tuple[int, ...], int]:
        return dict(zip(map(tuple, self.codes.tolist()), self.full.tolist(), strict=True))
