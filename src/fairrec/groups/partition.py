"""A partition of all users by the values of a few attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray
from fairrec.groups.cells import number_combinations
from fairrec.groups.group import Group
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import MISSING, Attribute


@dataclass(frozen=True, slots=True)
class Partition:
    """Groups of which every user is in exactly one, whatever their size.

    Parameters
    ----------
    attributes : those whose values make the groups
    codes : (n_groups, n_attributes), positions in the values of each attribute
    of_cell : (n_cells,), the group each cell is in
    """

    attributes: tuple[Attribute, ...]
    codes: CodeArray
    of_cell: CodeArray

    @classmethod
    def of(cls, grouping: Grouping, positions: Sequence[int]) -> Partition:
        """The partition by the attributes at these positions."""
        cells = grouping.cells
        columns = [cells.codes[at] for at in positions]
        first, of_cell = number_combinations(columns, [cells.n_values[at] for at in positions])
        return cls(
            tuple(grouping.attributes[at] for at in positions),
            np.stack([column[first] for column in columns], axis=1),
            of_cell,
        )

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes by name."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def is_unknown(self) -> BoolArray:
        """(n_groups,), groups of users of whom one of the values is not known."""
        is_unknown = np.zeros(len(self), dtype=bool)
        for attribute, column in zip(self.attributes, self.codes.T, strict=True):
            if MISSING in attribute.values:
                is_unknown |= column == attribute.values.index(MISSING)
        return is_unknown

    def sums(self, per_cell: FloatArray) -> FloatArray:
        """(n_groups,), sums over the cells of each group."""
        totals = np.bincount(self.of_cell, weights=per_cell, minlength=len(self))
        return totals.astype(np.float64, copy=False)

    def group(self, position: int) -> Group:
        """A group by the names of its attributes and values."""
        return Group.of_codes(self.codes[position], self.attributes)
