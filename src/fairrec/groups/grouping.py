"""Grouping: how users are divided, as one value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairrec.core.arrays import BoolArray, CodeArray, IntArray
from fairrec.core.audit_options import AuditOptions, smallest_group, take_smaller_groups
from fairrec.core.errors import InputError, plain
from fairrec.core.options import spelled
from fairrec.core.units import USERS, Unit
from fairrec.groups.cells import Cells, cells_of
from fairrec.groups.group import Group
from fairrec.groups.lattice import ANY, Lattice, build_lattice, members, shortest_depth
from fairrec.groups.room import refuse_too_many
from fairrec.inputs.several import HAS, LACKS
from fairrec.inputs.users import Attribute, column_of

EVERYONE = -1
"""Stands for all users where a group is named by its position."""


@dataclass(frozen=True)
class Grouping:
    """The attributes of users, the cells they fall into, and the groups with enough users.

    A group is named by its position in the lattice. Sizes are known whatever was measured.

    Parameters
    ----------
    lattice : all groups with at least `min_users` users
    """

    attributes: tuple[Attribute, ...]
    cells: Cells
    lattice: Lattice
    min_users: int

    @classmethod
    def of(
        cls,
        attributes: Sequence[Attribute],
        options: AuditOptions,
        n_users: IntArray | None = None,
        n_metrics: int = 1,
    ) -> Grouping:
        """The groups of users with these attributes, as deep and as large as the options say.

        Parameters
        ----------
        n_users : (n_rows,), users of each row; None where a row is a user
        n_metrics : for which groups will be described, which takes memory
        """
        codes, n_values = [a.codes for a in attributes], [len(a.values) for a in attributes]
        cells = cells_of(codes, n_values, n_users)
        min_users = options.min_users(int(cells.n_users.sum()))
        depth = options.lattice_depth
        refuse_too_many(cells, depth, min_users, n_metrics, options.max_memory)
        together = _of_one_column(attributes, cells)
        lattice = build_lattice(cells, depth, min_users, options.n_threads, together=together)
        return cls(tuple(attributes), cells, lattice, min_users)

    @property
    def n_users(self) -> int:
        """The number of users, in groups of the lattice or not."""
        return int(self.cells.n_users.sum())

    @property
    def n_combinations(self) -> int:
        """The size of the Cartesian product of the attributes."""
        return math.prod(self.cells.n_values)

    @cached_property
    def shortest_depth(self) -> IntArray:
        """(n_groups,), the fewest attributes that name exactly the users of each group."""
        return shortest_depth(self.lattice)

    @cached_property
    def full(self) -> IntArray:
        """(n_full,), the intersections of all attributes, between which the gap is measured."""
        return np.flatnonzero(self.lattice.is_full)

    @cached_property
    def cell_of_full(self) -> IntArray:
        """(n_full,), the cell that each of them is."""
        # cells and full combinations of the lattice are in the same order
        return np.flatnonzero(self.cells.n_users >= self.min_users)

    @cached_property
    def codes(self) -> CodeArray:
        """(n_full, n_attributes), the values of the intersections of all attributes."""
        return self.lattice.codes[self.full]

    @cached_property
    def sizes(self) -> IntArray:
        """(n_full,), users of each."""
        return self.lattice.n_users[self.full]

    @cached_property
    def complement(self) -> IntArray:
        """(n_groups,), the group that is all others; itself where that is none of the lattice."""
        found = np.arange(len(self.lattice))
        alone = np.flatnonzero(self.lattice.depth == 1)
        of_alone = (self.lattice.codes[alone] != ANY).argmax(axis=1)
        for attribute, codes in enumerate(self.cells.codes):
            mine = alone[of_alone == attribute]
            if len(mine) == 2 and len(np.unique(codes)) == 2:
                found[mine] = mine[::-1]
        return found

    @cached_property
    def is_rest(self) -> BoolArray:
        """(n_groups,), all who lack one of several values, where fewer have it and are a group.

        Nobody looks for the films that are not science fiction, but for those that are.
        """
        lattice, others = self.lattice, self.complement
        is_rest = (others != np.arange(len(others))) & (lattice.n_users >= lattice.n_users[others])
        having = [codes.items() for codes in _of_one_column(self.attributes, self.cells)]
        lacks = np.zeros(len(others), dtype=bool)
        for attribute, code in (one for each in having for one in each):
            lacks |= ~np.isin(lattice.codes[:, attribute], (ANY, code))
        return np.asarray(is_rest & lacks)

    def group(self, position: int) -> Group:
        """The group at a position of the lattice, by the names of its attributes and values."""
        return Group.of_codes(self.lattice.codes[position], self.attributes)

    def groups_at(self, combinations: Iterable[Sequence[int]]) -> IntArray:
        """The group of each combination of codes; -1 where it has too few users."""
        return np.array([self._at.get(tuple(codes), -1) for codes in combinations], dtype=np.int64)

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


def _of_one_column(attributes: Sequence[Attribute], cells: Cells) -> list[dict[int, int]]:
    """Attributes that are values of one column, and the code of having the value.

    Who lacks two of them is no group that anybody thinks of, and there are thousands of these: all
    but the films of war and of science fiction. Other attributes may have such names and values;
    there somebody lacks all of them, who would have no value of the column.
    """
    found: dict[str, dict[int, int]] = {}
    for at, one in enumerate(attributes):
        column = column_of(one.name, one.values)
        if column is not None and HAS in one.values:
            found.setdefault(column, {})[at] = one.values.index(HAS)

    def is_split(having: dict[int, int]) -> bool:
        lacks_all = np.ones(len(cells), dtype=bool)
        for at in having:
            values = attributes[at].values
            lacks_all &= cells.codes[at] == (values.index(LACKS) if LACKS in values else -1)
        return not lacks_all.any()

    return [having for having in found.values() if is_split(having)]


def grouping_of(
    attributes: Sequence[Attribute],
    options: AuditOptions,
    n_users: IntArray | None = None,
    n_metrics: int = 1,
    unit: Unit = USERS,
) -> Grouping:
    """The groups of users with these attributes; an error where none has enough users."""
    grouping = Grouping.of(attributes, options, n_users, n_metrics)
    if not len(grouping.lattice):
        advice = [plain(one.advice, 300) for one in attributes if one.advice]
        remedy = f"{take_smaller_groups()}, or name fewer attributes in {spelled('by')}."
        raise InputError(
            f"No group has {grouping.min_users:,} {unit.many} (smallest group: "
            f"{smallest_group(options.min_support, unit)}; {grouping.n_users:,} {unit.many} in "
            "all). " + (f"The {'. The '.join(advice)}." if advice else remedy)
        )
    return grouping
