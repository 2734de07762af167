"""Grouping: how users are divided into groups, and partitions of all users."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from fairrec.core.audit_options import (
    AuditOptions,
    most_memory,
    refuse_larger,
    smallest_group,
    take_smaller_groups,
)
from fairrec.core.audited_entity import USERS, Unit
from fairrec.core.errors import InputError, plain
from fairrec.core.options import spell
from fairrec.groups.cells import Cells, build_cells, number_combinations
from fairrec.groups.group import Group, GroupValue
from fairrec.groups.lattice import ANY, Lattice, build_lattice, members, shortest_depth
from fairrec.inputs.partition import ALWAYS
from fairrec.inputs.users import HAS, LACKS, MISSING, Attribute, multivalued_column

# bytes at the highest point of an audit, as `python -m benchmarks memory` measures them
PER_SET = 1_500
PER_GROUP, PER_ATTRIBUTE, PER_METRIC = 150, 35, 1_200
SAMPLED = 4_000_000
"""Cells that are sampled to estimate how many groups sets of one size have."""


def refuse_too_many(
    cells: Cells, depth: int | None, min_users: int, n_metrics: int, asked: int | None
) -> None:
    """Refuse attributes whose combinations cannot fit into memory.

    Parameters
    ----------
    depth : the most attributes combined; None for the full intersections only
    asked : the memory that may be used; None for half of it
    """
    n_attributes = len(cells.n_values)
    depth = min(depth or 0, n_attributes)
    n_sets = sum(comb(n_attributes, size) for size in range(1, depth + 1))
    per_group = PER_GROUP + PER_ATTRIBUTE * n_attributes + PER_METRIC * n_metrics
    needed, counted = float(n_sets * PER_SET), f"{n_sets:,} sets"
    if needed <= most_memory(asked):
        n_groups = groups_by_sampling(cells, depth, min_users)
        needed, counted = needed + n_groups * per_group, f"About {n_groups:,.0f} groups"
    refuse_larger(
        needed + ALWAYS,
        asked,
        f"{counted} of up to {depth} of {n_attributes} attributes",
        f"Name fewer attributes in {spell('by')}, combine fewer of them ({spell('depth', 2)}), "
        f"take larger groups ({spell('min_support')})",
    )


def groups_by_sampling(cells: Cells, depth: int, min_users: int) -> float:
    """The approximate number of groups, from a sample of the sets of each size."""
    n_attributes = len(cells.n_values)
    rng = np.random.default_rng(0)
    n_looked_at = int(np.clip(SAMPLED // max(1, len(cells)), 4, 32))
    total = float(cells.n_users.sum() // min_users)
    for size in range(1, depth + 1):
        found = []
        for _ in range(min(n_looked_at, comb(n_attributes, size))):
            chosen = rng.choice(n_attributes, size, replace=False)
            _, group = number_combinations(
                [cells.codes[one] for one in chosen], [cells.n_values[one] for one in chosen]
            )
            found.append((np.bincount(group, weights=cells.n_users) >= min_users).sum())
        total += float(np.mean(found)) * comb(n_attributes, size)
    return total


EVERYONE = -1
"""Stands for all users where a group is named by its position."""


@dataclass(frozen=True)
class Grouping:
    """The attributes of users, the cells they fall into, and the groups with enough users.

    A group is named by its position in the lattice.

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
        """The groups of users with these attributes; `n_users` of each row, or one."""
        codes, n_values = [a.codes for a in attributes], [len(a.values) for a in attributes]
        cells = build_cells(codes, n_values, n_users)
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
        # cells and full intersections of the lattice are in the same order
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
        """(n_groups,), users without one of several values, where fewer have it and are a group."""
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

    def describe(self, position: int, value: float, support: float) -> GroupValue:
        """A group by the names of its attributes and values, and its value for a metric."""
        named = self.group(int(position)).as_dict()
        return GroupValue(group=named, value=float(value), support=int(support))

    @cached_property
    def _at(self) -> dict[tuple[int, ...], int]:
        return dict(zip(map(tuple, self.codes.tolist()), self.full.tolist(), strict=True))


def _of_one_column(attributes: Sequence[Attribute], cells: Cells) -> list[dict[int, int]]:
    """Attributes that are values of one column, and the code of having the value.

    Groups that lack two of them are too many and mean little: all but the films of war and of
    science fiction. If users lack all of them, they are attributes of their own.
    """
    found: dict[str, dict[int, int]] = {}
    for at, one in enumerate(attributes):
        column = multivalued_column(one.name, one.values)
        if column is not None and HAS in one.values:
            found.setdefault(column, {})[at] = one.values.index(HAS)

    def is_split(having: dict[int, int]) -> bool:
        lacks_all = np.ones(len(cells), dtype=bool)
        for at in having:
            values = attributes[at].values
            lacks_all &= cells.codes[at] == (values.index(LACKS) if LACKS in values else -1)
        return not lacks_all.any()

    return [having for having in found.values() if is_split(having)]


def build_grouping(
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
        remedy = f"{take_smaller_groups()}, or name fewer attributes in {spell('by')}."
        raise InputError(
            f"No group has {grouping.min_users:,} {unit.many} (smallest group: "
            f"{smallest_group(options.min_support, unit)}; {grouping.n_users:,} {unit.many} in "
            "all). " + (f"The {'. The '.join(advice)}." if advice else remedy)
        )
    return grouping


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
