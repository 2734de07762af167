"""Attention to items: what each list gives to its places, summed over the users of the lists.

Whoever looks at place r of a list does so with 1 / log2(r + 1), as NDCG discounts. A value of an
item is what it received over what it could have received or was due, both of them sums over lists,
so that the lists of some users alone, or of users drawn again, give it in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.inputs.catalogue import Catalogue


def discounts(k: int) -> FloatArray:
    """(k,), the attention that each place gets.

    >>> discounts(3).round(3).tolist()
    [1.0, 0.631, 0.5]
    """
    return 1 / np.log2(np.arange(2, k + 2))


@dataclass(frozen=True, slots=True)
class Amounts:
    """What lists give to items.

    Parameters
    ----------
    offsets : (n_lists + 1,)
    items : (n_rows,), positions in the catalogue; the number of its items for one not there
    amounts : (n_rows,)
    everywhere : (n_lists,), what a list gives to every item of the catalogue beside that; None for
        nothing
    """

    offsets: IntArray
    items: IntArray
    amounts: FloatArray
    everywhere: FloatArray | None = None

    def per_item(self, n_items: int) -> FloatArray:
        """(n_items,), what each has from all lists."""
        total = np.bincount(self.items, self.amounts, n_items + 1)[:n_items].astype(np.float64)
        return total if self.everywhere is None else total + self.everywhere.sum()


@dataclass(frozen=True, slots=True)
class Share:
    """What items receive, and what they might have received, or were due."""

    received: tuple[Amounts, ...]
    due: tuple[Amounts, ...]

    @property
    def largest(self) -> float:
        """The most that one list gives to one item."""
        return max(float(part.amounts.max(initial=0.0)) for part in self.received)

    def per_unit(self, catalogue: Catalogue) -> tuple[FloatArray, FloatArray]:
        """(n_units,) each, over all lists and all items of a unit."""
        received, due = (_of_units(parts, catalogue) for parts in (self.received, self.due))
        # what was taken off again leaves a trace of rounding
        return received, np.where(due > 1e-9 * due.max(initial=0.0), due, 0.0)

    def values(self, catalogue: Catalogue) -> FloatArray:
        """(n_units,), received over due; NaN where nothing is due."""
        received, due = self.per_unit(catalogue)
        values: FloatArray = np.divide(received, due, out=np.full(len(due), np.nan), where=due > 0)
        return values

    def in_blocks(
        self,
        catalogue: Catalogue,
        cell_of_unit: IntArray,
        n_cells: int,
        block_of_list: IntArray,
        n_blocks: int,
    ) -> FloatArray:
        """(2, n_blocks, n_cells), what cells received from each block of lists, and were due."""
        # the last cell is of items that are in no catalogue
        cell_of_item = np.append(cell_of_unit[catalogue.unit_of_item], n_cells)
        n_items = np.bincount(cell_of_item[:-1], minlength=n_cells)
        found = np.zeros((2, n_blocks, n_cells + 1))
        for total, parts in zip(found, (self.received, self.due), strict=True):
            for part in parts:
                _add(part.offsets, part.items, part.amounts, block_of_list, cell_of_item, total)
                if part.everywhere is not None:
                    each = np.bincount(block_of_list, part.everywhere, minlength=n_blocks)
                    total[:, :-1] += each[:, None] * n_items
        return found[:, :, :-1]


def _of_units(parts: Sequence[Amounts], catalogue: Catalogue) -> FloatArray:
    n_items = len(catalogue.item_keys)
    total = sum((part.per_item(n_items) for part in parts), np.zeros(n_items))
    of_units = np.bincount(catalogue.unit_of_item, total, minlength=catalogue.n_units)
    return of_units.astype(np.float64, copy=False)


@kernel
def _add(
    offsets: IntArray,
    items: IntArray,
    amounts: FloatArray,
    block: IntArray,
    cell: IntArray,
    total: FloatArray,
) -> None:
    for one in range(len(offsets) - 1):
        for row in range(offsets[one], offsets[one + 1]):
            total[block[one], cell[items[row]]] += amounts[row]
