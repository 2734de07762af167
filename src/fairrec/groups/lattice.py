"""The lattice: all combinations of up to `depth` attributes, and sums over their users.

One pass over the cells fills the cube of a block of attributes; axis sums then give every
combination inside the block. Blocks are such that every small set of attributes lies in one: few
large ones replace one pass for each set (a covering design).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.core.threads import map_in_threads
from fairrec.groups.cells import Cells, number_combinations

ANY = -1
"""Stands for "whatever the value" in `Lattice.codes`."""


CUBE_CELLS = 1 << 17
"""Room of a block's cube: beyond the processor's cache a pass costs more than it saves."""
FEWEST_CUBE_CELLS = 1 << 10
"""Room that takes no longer to add up than a block takes in any case."""

Subset = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Attributes that share a cube, and the sets of attributes that are read from it."""

    attributes: Subset
    subsets: tuple[Subset, ...]


def padded_size(attributes: Sequence[int], n_values: Sequence[int]) -> int:
    """Slots of a cube with one more slot, "any", on each axis."""
    return math.prod(n_values[attribute] + 1 for attribute in attributes)


def cover(n_values: Sequence[int], depth: int, room: int = CUBE_CELLS) -> tuple[Block, ...]:
    """Blocks in which every set of 1 to `depth` attributes is read exactly once.

    A set too large for the room gets a block of its own.

    >>> [block.attributes for block in cover([2, 2, 2, 2], depth=3)]
    [(0, 1, 2, 3)]
    """
    attributes = range(len(n_values))
    blocks: list[Subset] = []
    covered: set[Subset] = set()
    for size in range(min(depth, len(n_values)), 0, -1):
        for subset in combinations(attributes, size):
            if subset in covered:
                continue
            block = subset
            if padded_size(subset, n_values) <= room:
                block = _grow(subset, n_values, size, room, covered)
            blocks.append(block)
            if padded_size(block, n_values) <= room:
                for smaller in range(1, size + 1):
                    covered.update(combinations(block, smaller))
            else:
                covered.add(subset)
    return _assign(blocks, n_values, depth, room)


def _grow(
    start: Subset, n_values: Sequence[int], size: int, room: int, covered: set[Subset]
) -> Subset:
    """Add the attribute that covers most new sets for the room it takes, while there is room."""
    block = start
    while True:
        best, best_worth = None, 0.0
        most = room // padded_size(block, n_values)
        for attribute in range(len(n_values)):
            if attribute in block or n_values[attribute] + 1 > most:
                continue
            new = sum(
                tuple(sorted((*rest, attribute))) not in covered
                for rest in combinations(block, size - 1)
            )
            worth = new / math.log(n_values[attribute] + 1)
            if worth > best_worth:
                best, best_worth = attribute, worth
        if best is None:
            return block
        block = tuple(sorted((*block, best)))


def _assign(
    blocks: Sequence[Subset], n_values: Sequence[int], depth: int, room: int
) -> tuple[Block, ...]:
    taken: set[Subset] = set()
    assigned = []
    for block in blocks:
        sizes = range(1, min(depth, len(block)) + 1)
        if padded_size(block, n_values) > room:
            sizes = range(len(block), len(block) + 1)
        mine = [s for size in sizes for s in combinations(block, size) if s not in taken]
        taken.update(mine)
        if mine:
            assigned.append(Block(block, tuple(mine)))
    return tuple(assigned)


@dataclass(frozen=True, slots=True)
class _Cube:
    """A block read through a dense cube with an "any" slot on each axis."""

    attributes: IntArray
    strides: IntArray
    n_values: IntArray
    size: int
    slots: IntArray

    def sums(self, codes: CodeArray, values: FloatArray) -> FloatArray:
        sums = np.empty((len(values), len(self.slots)))
        slot_of_cell = np.zeros(values.shape[1], dtype=np.int32)
        _locate(codes, self.attributes, self.strides, slot_of_cell)
        _sum_cube(slot_of_cell, self.strides, self.n_values, values, self.size, self.slots, sums)
        return sums


@dataclass(frozen=True, slots=True)
class _Scatter:
    """One set of attributes too large for a cube: the group of each cell, -1 for none."""

    group_of_cell: CodeArray
    n_groups: int

    def sums(self, codes: CodeArray, values: FloatArray) -> FloatArray:
        sums = np.zeros((len(values), self.n_groups))
        _scatter(self.group_of_cell, values, sums)
        return sums


@dataclass(frozen=True, slots=True)
class Lattice:
    """The eligible groups: those with at least `min_users` users.

    Parameters
    ----------
    codes : (n_groups, n_attributes), the value of each attribute, ANY where it does not matter
    n_users : (n_groups,)
    is_full : (n_groups,), whether all attributes matter
    is_tested : (n_groups,), groups of up to `depth` attributes
    n_below : by number of attributes, the groups that occur but have too few users
    """

    codes: CodeArray
    n_users: IntArray
    is_full: BoolArray
    is_tested: BoolArray
    n_below: dict[int, int]
    _parts: tuple[_Cube | _Scatter, ...]
    _cell_codes: CodeArray

    def __len__(self) -> int:
        return len(self.n_users)

    @property
    def depth(self) -> IntArray:
        """(n_groups,), how many attributes a group has a condition on."""
        return np.asarray((self.codes != ANY).sum(axis=1))

    def sums(self, values: FloatArray, threads: int = 1) -> FloatArray:
        """(n_columns, n_groups), sums over the cells of each group.

        Parameters
        ----------
        values : (n_columns, n_cells)
        """
        parts = map_in_threads(
            lambda part: part.sums(self._cell_codes, values), self._parts, threads
        )
        return np.concatenate([*parts], axis=1)


def build_lattice(
    cells: Cells,
    depth: int | None,
    min_users: int,
    threads: int = 1,
    room: int = CUBE_CELLS,
    together: Sequence[Mapping[int, int]] = (),
) -> Lattice:
    """All eligible groups of up to `depth` attributes, and the full intersections.

    Parameters
    ----------
    depth : None for the full intersections only
    room : slots that a cube may have
    together : attributes of which a group has at most one, or of each this code; full intersections
        have all of them, whatever the codes
    """
    n_attributes = len(cells.n_values)
    # a cube with more slots than cells takes longer to add up than it saves
    shared = min(room, max(len(cells), FEWEST_CUBE_CELLS))
    blocks = cover(cells.n_values, depth, shared) if depth is not None else ()
    everything = tuple(range(n_attributes))
    if depth is None or depth < n_attributes:
        blocks = (*blocks, Block(everything, (everything,)))
    found = [
        *map_in_threads(
            lambda block: (
                _eligible_in_cube(block, cells, min_users, together)
                if padded_size(block.attributes, cells.n_values) <= room
                else _eligible_by_key(block.attributes, cells, min_users, together)
            ),
            blocks,
            threads,
        )
    ]
    n_below: Counter[int] = Counter()
    for part in found:
        n_below.update(part.n_below)
    codes = np.concatenate([part.codes for part in found])
    n_conditions = (codes != ANY).sum(axis=1)
    return Lattice(
        codes=codes,
        n_users=np.concatenate([part.n_users for part in found]),
        is_full=n_conditions == n_attributes,
        is_tested=n_conditions <= (n_attributes if depth is None else depth),
        n_below=dict(n_below),
        _parts=tuple(part.part for part in found),
        _cell_codes=cells.codes,
    )


class _Found(NamedTuple):
    part: _Cube | _Scatter
    codes: CodeArray
    n_users: IntArray
    n_below: Mapping[int, int]


def _needed(
    subset: Subset, n_attributes: int, together: Sequence[Mapping[int, int]]
) -> dict[int, int]:
    """The codes that groups on these attributes have to have, by attribute; of most none."""
    if len(subset) == n_attributes:
        return {}
    of_both = [[one for one in subset if one in codes] for codes in together]
    return {
        one: codes[one]
        for mine, codes in zip(of_both, together, strict=True)
        if len(mine) > 1
        for one in mine
    }


def _eligible_in_cube(
    block: Block, cells: Cells, min_users: int, together: Sequence[Mapping[int, int]]
) -> _Found:
    n_values = np.array([cells.n_values[attribute] for attribute in block.attributes])
    strides = np.append(np.cumprod((n_values + 1)[::-1])[::-1][1:], 1).astype(np.int64)
    size = padded_size(block.attributes, cells.n_values)
    every = _Cube(np.array(block.attributes), strides, n_values, size, np.arange(size))
    counts = every.sums(cells.codes, cells.n_users[None].astype(np.float64))[0]
    counts = counts.astype(np.int64)

    place = {attribute: axis for axis, attribute in enumerate(block.attributes)}
    slots, codes = [], []
    n_below: Counter[int] = Counter()
    for subset in block.subsets:
        axes = [place[attribute] for attribute in subset]
        grid = np.array(int((n_values * strides).sum()))
        for axis in axes:
            # from the "any" slot of this axis to each of its values
            steps = (np.arange(n_values[axis]) - n_values[axis]) * strides[axis]
            grid = np.add.outer(grid, steps)
        in_group = counts[grid]
        for attribute, code in _needed(subset, len(cells.n_values), together).items():
            others = np.arange(n_values[place[attribute]]) != code
            # as if these groups had no users
            in_group[(slice(None),) * subset.index(attribute) + (others,)] = 0
        is_eligible = in_group >= min_users
        n_below[len(subset)] += int(((in_group > 0) & ~is_eligible).sum())
        mine = np.full((int(is_eligible.sum()), len(cells.n_values)), ANY, dtype=np.int32)
        mine[:, list(subset)] = np.stack(np.nonzero(is_eligible), axis=1)
        slots.append(grid[is_eligible])
        codes.append(mine)
    chosen = np.concatenate(slots)
    cube = _Cube(every.attributes, strides, n_values, size, chosen)
    return _Found(cube, np.concatenate(codes), counts[chosen], n_below)


def _eligible_by_key(
    attributes: Subset, cells: Cells, min_users: int, together: Sequence[Mapping[int, int]]
) -> _Found:
    columns = [cells.codes[attribute] for attribute in attributes]
    if len(attributes) == len(cells.n_values):
        first = np.arange(len(cells))
        group_of_cell = first.astype(np.int32)
    else:
        first, group_of_cell = number_combinations(
            columns, [cells.n_values[attribute] for attribute in attributes]
        )
    counts = np.bincount(group_of_cell, weights=cells.n_users, minlength=len(first))
    is_group = np.ones(len(first), dtype=bool)
    for attribute, code in _needed(attributes, len(cells.n_values), together).items():
        is_group &= cells.codes[attribute][first] == code
    is_eligible = is_group & (counts >= min_users)
    renumbered = np.where(is_eligible, np.cumsum(is_eligible) - 1, -1).astype(np.int32)
    n_groups = int(is_eligible.sum())
    codes = np.full((n_groups, len(cells.n_values)), ANY, dtype=np.int32)
    for attribute, column in zip(attributes, columns, strict=True):
        codes[:, attribute] = column[first[is_eligible]]
    return _Found(
        _Scatter(renumbered[group_of_cell], n_groups),
        codes,
        counts[is_eligible].astype(np.int64),
        {len(attributes): int((is_group & ~is_eligible).sum())},
    )


class Parents:
    """Finds the group that has all conditions of another one but that on an attribute."""

    def __init__(self, lattice: Lattice) -> None:
        # groups are identified by the sum of a random number for each condition
        rng = np.random.default_rng(0)
        self._codes = lattice.codes
        self._numbers = [
            np.append(rng.integers(1 << 62, size=int(column.max(initial=0)) + 1), 0)
            for column in self._codes.T
        ]
        key = np.zeros(len(lattice), dtype=np.int64)
        for numbers, column in zip(self._numbers, self._codes.T, strict=True):
            key += numbers[column]  # ANY, which is -1, has the last one: 0
        self._key, self._order = key, np.argsort(key, kind="stable")
        self._in_order = key[self._order]

    def without(self, attribute: int, groups: IntArray) -> IntArray:
        """(len(groups),), the parent of each group; -1 where the lattice has none."""
        wanted = self._key[groups] - self._numbers[attribute][self._codes[groups, attribute]]
        place = np.minimum(np.searchsorted(self._in_order, wanted), len(self._order) - 1)
        return np.where(self._in_order[place] == wanted, self._order[place], -1)


def parent_links(lattice: Lattice) -> list[tuple[IntArray, IntArray]]:
    """Groups and their parents without one attribute, fewest conditions first."""
    codes, depth, parents = lattice.codes, lattice.depth, Parents(lattice)
    links = []
    for conditions in range(2, int(depth.max(initial=0)) + 1):
        here = np.flatnonzero(depth == conditions)
        for attribute in range(codes.shape[1]):
            group = here[codes[here, attribute] != ANY]
            parent = parents.without(attribute, group)
            links.append((group[parent >= 0], parent[parent >= 0]))
    return links


def shortest_depth(lattice: Lattice) -> IntArray:
    """(n_groups,), the fewest attributes that name exactly the users of each group.

    Where every city is in one country, a city and the city in its country are one group.
    """
    depth = lattice.depth.copy()
    for group, parent in parent_links(lattice):
        is_same = lattice.n_users[parent] == lattice.n_users[group]
        depth[group[is_same]] = np.minimum(depth[group], depth[parent])[is_same]
    return depth


def members(codes: Sequence[int], cells: Cells) -> BoolArray:
    """(n_cells,), which cells lie in the group with these codes."""
    is_member = np.ones(len(cells), dtype=bool)
    for attribute, code in enumerate(codes):
        if code != ANY:
            is_member &= cells.codes[attribute] == code
    return is_member


@kernel
def _locate(
    codes: CodeArray, attributes: IntArray, strides: IntArray, slot_of_cell: CodeArray
) -> None:
    """Write the cube slot of each cell; one attribute at a time, so that it runs vectorised."""
    for axis in range(len(attributes)):
        column = codes[attributes[axis]]
        stride = np.int32(strides[axis])
        for cell in range(len(slot_of_cell)):
            slot_of_cell[cell] += column[cell] * stride


@kernel
def _sum_cube(
    slot_of_cell: CodeArray,
    strides: IntArray,
    n_values: IntArray,
    values: FloatArray,
    size: int,
    slots: IntArray,
    sums: FloatArray,
) -> None:
    """Add each cell to its slot, then every axis up into its "any" slots; read `slots`."""
    cube = np.empty(size)
    for column in range(len(values)):
        cube[:] = 0.0
        for cell in range(len(slot_of_cell)):
            cube[slot_of_cell[cell]] += values[column, cell]
        for axis in range(len(strides)):
            if strides[axis] == 1:
                _sum_innermost(cube, n_values[axis])
            else:
                _sum_axis(cube, strides[axis], n_values[axis])
        for group in range(len(slots)):
            sums[column, group] = cube[slots[group]]


@kernel
def _sum_axis(cube: FloatArray, stride: int, n_values: int) -> None:
    """Sum the values of an axis; through views, which run vectorised."""
    any_slot = n_values * stride
    for start in range(0, len(cube), any_slot + stride):
        total = cube[start + any_slot : start + any_slot + stride]
        for slot in range(start, start + any_slot, stride):
            part = cube[slot : slot + stride]
            for inner in range(stride):
                total[inner] += part[inner]


@kernel
def _sum_innermost(cube: FloatArray, n_values: int) -> None:
    """The same where the values lie side by side: four sums at once, each in its order."""
    rows = cube.reshape(-1, n_values + 1)
    n_by_four = len(rows) - len(rows) % 4
    for row in range(0, n_by_four, 4):
        first, second, third, fourth = rows[row], rows[row + 1], rows[row + 2], rows[row + 3]
        a = b = c = d = 0.0
        for at in range(n_values):
            a += first[at]
            b += second[at]
            c += third[at]
            d += fourth[at]
        first[n_values], second[n_values], third[n_values], fourth[n_values] = a, b, c, d
    for row in range(n_by_four, len(rows)):
        total = 0.0
        for at in range(n_values):
            total += rows[row, at]
        rows[row, n_values] = total


@kernel
def _scatter(group_of_cell: CodeArray, values: FloatArray, sums: FloatArray) -> None:
    for column in range(len(values)):
        for cell in range(len(group_of_cell)):
            if group_of_cell[cell] >= 0:
                sums[column, group_of_cell[cell]] += values[column, cell]
