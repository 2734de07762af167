"""Attention to items: what each list gives to its places, summed over the users of the lists.

Whoever looks at place r of a list does so with 1 / log2(r + 1), as NDCG discounts. A value of an
item is what it received over what it could have received or was due, both of them sums over lists,
so that the lists of some users alone, or of users drawn again, give it in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.inputs.catalogue import Catalogue


def discounts(k: int) -> FloatArray:
    """(k,), the attention that each place gets."""
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

    def most(self, n_items: FloatArray) -> FloatArray:
        """What the list that gives most would give so many items, if they had its best places."""
        up_to = np.concatenate([[0.0], np.cumsum(self.amounts)])
        fullest = int(np.argmax(np.diff(up_to[self.offsets])))
        mine = self.amounts[self.offsets[fullest] : self.offsets[fullest + 1]]
        best = np.concatenate([[0.0], np.cumsum(np.sort(mine)[::-1])])
        return np.asarray(best[np.minimum(n_items, len(mine)).astype(np.int64)])


@dataclass(frozen=True, slots=True)
class Share:
    """What items receive, and what they might have received, or were due.

    Parameters
    ----------
    is_mean : whether the value of a group is the mean of its items' values; else it is what they
        all received over what they were due together
    """

    received: tuple[Amounts, ...]
    due: tuple[Amounts, ...]
    is_mean: bool = True
    made: list[tuple[FloatArray, FloatArray]] = field(default_factory=list, repr=False)
    """Sums of the one catalogue that the items are of, once they are made."""

    def per_unit(self, catalogue: Catalogue) -> tuple[FloatArray, FloatArray]:
        """(n_units,) each, over all lists and all items of a unit."""
        if not self.made:
            received, due = (_of_units(parts, catalogue) for parts in (self.received, self.due))
            # what was taken off again leaves a trace of rounding
            self.made.append((received, np.where(due > 1e-9 * due.max(initial=0.0), due, 0.0)))
        return self.made[0]

    def values(self, catalogue: Catalogue) -> FloatArray:
        """(n_units,), received over due; NaN where nothing is due."""
        received, due = self.per_unit(catalogue)
        values: FloatArray = np.divide(received, due, out=np.full(len(due), np.nan), where=due > 0)
        return values

    def parts(self, catalogue: Catalogue) -> tuple[FloatArray, FloatArray]:
        """(n_units,) each: the value of a group is the sum of the first over that of the second."""
        if not self.is_mean:
            return self.per_unit(catalogue)
        values = self.values(catalogue)
        return np.nan_to_num(values), (~np.isnan(values)).astype(np.float64)

    def largest(self, catalogue: Catalogue, sums: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """The most that one list adds to the first of these parts, of groups of units.

        A list that suits its user may have items of one group alone. Sums are over the units of
        each group.
        """
        n_items = sums(catalogue.n_items_per_unit.astype(np.float64))
        most = np.max([part.most(n_items) for part in self.received], axis=0)
        if not self.is_mean:
            return np.asarray(most)
        due = self.per_unit(catalogue)[1]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(most / (sums(due) / sums((due > 0).astype(np.float64))))

    def in_blocks(
        self,
        catalogue: Catalogue,
        cell_of_unit: IntArray,
        n_cells: int,
        block_of_list: IntArray,
        n_blocks: int,
    ) -> FloatArray:
        """(2, n_blocks, n_cells), what each block of lists adds to the parts of a cell's units.

        A mean has as many units whoever comes, and a block adds to a value what it gives beyond
        the value times what it owes. But a unit that is due something in one block alone has no
        value without it, and is a part of that block.
        """
        found = np.zeros((2, n_blocks, n_cells))
        if not self.is_mean:
            one = np.ones(catalogue.n_units)
            for total, amounts in zip(found, (self.received, self.due), strict=True):
                _deal(amounts, one, catalogue, cell_of_unit, block_of_list, total)
            return found
        values, is_defined = self.parts(catalogue)
        due = self.per_unit(catalogue)[1]
        if any(part.everywhere is not None for part in self.due):
            # every block owes something to everyone
            per_due = np.divide(1.0, due, out=np.zeros(len(due)), where=due > 0)
            _deal(self.received, per_due, catalogue, cell_of_unit, block_of_list, found[0])
            _deal(self.due, -values * per_due, catalogue, cell_of_unit, block_of_list, found[0])
        else:
            (received,), (owed,) = self.received, self.due
            is_of_one = _deal_to_few(
                (received.offsets, received.items, received.amounts),
                (owed.offsets, owed.items, owed.amounts),
                np.argsort(block_of_list, kind="stable"),
                block_of_list,
                np.append(catalogue.unit_of_item, -1),
                cell_of_unit,
                values,
                due,
                found,
            )
            values, is_defined = values * ~is_of_one, is_defined * ~is_of_one
        whole = [
            np.bincount(cell_of_unit, part, minlength=n_cells) for part in (values, is_defined)
        ]
        return found + np.array(whole)[:, None] / n_blocks


def _deal(
    amounts: Sequence[Amounts],
    per_unit: FloatArray,
    catalogue: Catalogue,
    cell_of_unit: IntArray,
    block_of_list: IntArray,
    total: FloatArray,
) -> None:
    """Add to blocks and cells what lists give, times a factor of each unit."""
    n_blocks, n_cells = total.shape
    cell, factor = cell_of_unit[catalogue.unit_of_item], per_unit[catalogue.unit_of_item]
    # the last item is one of no catalogue
    cell_of_item, per_item = np.append(cell, 0), np.append(factor, 0.0)
    in_cell = np.bincount(cell, factor, minlength=n_cells)
    for part in amounts:
        rows = part.offsets, part.items, part.amounts
        _add(*rows, block_of_list, cell_of_item, per_item, total)
        if part.everywhere is not None:
            each = np.bincount(block_of_list, part.everywhere, minlength=n_blocks)
            total += each[:, None] * in_cell


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
    per_item: FloatArray,
    total: FloatArray,
) -> None:
    for one in range(len(offsets) - 1):
        for row in range(offsets[one], offsets[one + 1]):
            item = items[row]
            total[block[one], cell[item]] += amounts[row] * per_item[item]


@kernel
def _deal_to_few(
    received: tuple[IntArray, IntArray, FloatArray],
    owed: tuple[IntArray, IntArray, FloatArray],
    order: IntArray,
    block_of_list: IntArray,
    unit_of_item: IntArray,
    cell_of_unit: IntArray,
    values: FloatArray,
    due: FloatArray,
    found: FloatArray,
) -> BoolArray:
    """Add to blocks and cells what lists give to the means of units that few of them owe anything.

    Of few lists each is near to their mean, and a list by itself is the mean. So what a block gives
    beyond the value grows as the block owes more of what a unit is due (as residuals do by their
    leverage; MacKinnon and White 1985), and a unit that is due all of it there goes with the block.

    Parameters
    ----------
    received, owed : offsets, items and amounts
    order : lists, block by block
    unit_of_item : (n_items + 1,), -1 for one of no catalogue

    Returns
    -------
    (n_units,), whether it is due something in one block alone
    """
    n_blocks = found.shape[1]
    is_of_one = np.zeros(len(due), dtype=np.bool_)
    mine = np.zeros((2, len(due)))
    start = 0
    while start < len(order):
        block, stop = block_of_list[order[start]], start
        while stop < len(order) and block_of_list[order[stop]] == block:
            for part, (offsets, items, amounts) in enumerate((received, owed)):
                for row in range(offsets[order[stop]], offsets[order[stop] + 1]):
                    unit = unit_of_item[items[row]]
                    if unit >= 0:
                        mine[part, unit] += amounts[row]
            stop += 1
        for one in order[start:stop]:
            for row in range(owed[0][one], owed[0][one + 1]):
                unit = unit_of_item[owed[1][row]]
                if unit < 0 or mine[1, unit] == 0:
                    continue
                cell, left = cell_of_unit[unit], due[unit] - mine[1, unit]
                if left > 1e-9 * due[unit]:
                    beyond = mine[0, unit] - values[unit] * mine[1, unit]
                    grown = np.sqrt((1 - 1 / n_blocks) * due[unit] / left)
                    found[0, block, cell] += grown * beyond / due[unit]
                else:
                    is_of_one[unit] = True
                    found[0, block, cell] += values[unit]
                    found[1, block, cell] += 1
                mine[:, unit] = 0.0
        start = stop
    return is_of_one
