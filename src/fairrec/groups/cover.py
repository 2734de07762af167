"""Blocks of attributes such that every small set of attributes lies in one block.

One pass over the cells fills a block's cube; axis sums then give every combination inside
the block. Few large blocks replace one pass for each set of attributes: a covering design.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

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


def room_for(n_cells: int) -> int:
    """Room of a cube that sets share, for so many cells: a larger one takes longer to add up."""
    return min(max(n_cells, FEWEST_CUBE_CELLS), CUBE_CELLS)


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
    if size == 1:
        return _grow_by_single(start, n_values, room, covered)
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


def _grow_by_single(
    start: Subset, n_values: Sequence[int], room: int, covered: set[Subset]
) -> Subset:
    """The same where each attribute covers itself alone: those of fewest values come first."""
    others = (one for one in range(len(n_values)) if one != start[0] and (one,) not in covered)
    block, n_slots = [*start], padded_size(start, n_values)
    for attribute in sorted(others, key=lambda one: n_values[one]):
        n_slots *= n_values[attribute] + 1
        if n_slots > room:
            break
        block.append(attribute)
    return tuple(sorted(block))


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
