"""Which kind of permutation is the cheaper one: a shuffle of users, or tables of levels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fairrec.core.arrays import CodeArray, IntArray
from fairrec.groups.cells import Cells, number_combinations
from fairrec.statistics.cell_sums import Draws
from fairrec.statistics.draws import PermutedSums
from fairrec.statistics.moments import Moments
from fairrec.statistics.strata import distinct_masks
from fairrec.statistics.table_draws import TableSums

# nanoseconds of one processor, as `python -m benchmarks draws` measures them
PER_USER, PER_USER_AND_FOUR = 10, 10
PER_ENTRY, PER_LINE = 130, 8_000
LEAST_USERS = 10_000
"""Fewer are shuffled sooner than their levels are looked for."""


def draws_of(moments: Moments, cells: Cells) -> Draws:
    """Permutations of what everyone has.

    Counted users can only be drawn as tables. Where rows are users, and all metrics are defined for
    the same of them, both kinds have the same distribution, and the cheaper one is taken.
    """
    if moments.level_of_row is not None:
        return TableSums(moments, cells)
    levels = _levels_of_users(moments)
    if levels is not None:
        tables = TableSums(replace(moments, level_of_row=levels), cells)
        if cost_of_tables(tables) < cost_of_shuffle(moments):
            return tables
    return PermutedSums(moments, cells)


def cost_of_tables(tables: TableSums) -> float:
    """Nanoseconds a permutation."""
    return float(
        sum(
            PER_ENTRY * one.n_entries + PER_LINE * min(len(one.sizes), len(one.totals))
            for one in tables.margins
        )
    )


def cost_of_shuffle(moments: Moments) -> float:
    """Nanoseconds a permutation."""
    n_metrics, n_users = moments.n_per_row.shape
    n_fours = -(-n_metrics // 4)
    return float(n_users * (PER_USER + PER_USER_AND_FOUR * n_fours))


def _levels_of_users(moments: Moments) -> IntArray | None:
    """(n_metrics, n_users), the same level for users who are alike in all metrics.

    None where tables of them cannot be cheaper, or metrics would not be permuted together.
    """
    n_metrics, n_users = moments.n_per_row.shape
    if n_users < LEAST_USERS or len(distinct_masks(moments.n_per_row)[0]) > 1:
        return None
    most = cost_of_shuffle(moments) / PER_ENTRY
    codes: list[CodeArray] = []
    n_values: list[int] = []
    for row in moments.centred_per_row:
        # a few users tell where there are too many levels
        if len(np.unique(row[:: max(1, n_users // LEAST_USERS)])) > most:
            return None
        levels, code = np.unique(row, return_inverse=True)
        if len(levels) > most:
            return None
        codes.append(code.astype(np.int32))
        n_values.append(len(levels))
    _, level = number_combinations(codes, n_values)
    return np.broadcast_to(level, (n_metrics, n_users)).astype(np.int64)
