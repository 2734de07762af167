"""How much memory the groups of an audit will take, estimated before any of them is looked for.

Laying out the sets of attributes takes longest where there are most, so that nothing is laid out to
find out.
"""

from __future__ import annotations

from math import comb

import numpy as np

from fairrec.core.audit_options import most_memory, refuse_larger
from fairrec.core.options import spelled
from fairrec.groups.cells import Cells, number_combinations

# bytes at the highest point of an audit, as `python -m benchmarks memory` measures them
ALWAYS = 250_000_000
PER_SET = 1_500
PER_GROUP, PER_ATTRIBUTE, PER_METRIC = 150, 35, 1_200
LOOKED_AT = 4_000_000
"""Cells looked at to estimate how many groups sets of one size have."""


def refuse_too_many(
    cells: Cells, depth: int | None, min_users: int, n_metrics: int, asked: int | None
) -> None:
    """Refuse attributes whose combinations cannot fit into memory.

    Parameters
    ----------
    depth : the most attributes combined; None for the full combinations only
    n_metrics : for which each group is described
    asked : the memory that may be used; None for half of what there is
    """
    n_attributes = len(cells.n_values)
    depth = min(depth or 0, n_attributes)
    n_sets = sum(comb(n_attributes, size) for size in range(1, depth + 1))
    per_group = PER_GROUP + PER_ATTRIBUTE * n_attributes + PER_METRIC * n_metrics
    needed, counted = float(n_sets * PER_SET), f"{n_sets:,} sets"
    if needed <= most_memory(asked):
        n_groups: float = most_groups(cells, depth, min_users)
        # most sets have far fewer groups than they could: looked into where it decides
        if needed + n_groups * per_group > most_memory(asked):
            n_groups = groups_by_sampling(cells, depth, min_users)
        needed, counted = needed + n_groups * per_group, f"About {n_groups:,.0f} groups"
    refuse_larger(
        needed + ALWAYS,
        asked,
        f"{counted} of up to {depth} of {n_attributes} attributes",
        f"Name fewer attributes in {spelled('by')}, combine fewer of them ({spelled('depth', 2)}), "
        f"take larger groups ({spelled('min_support')})",
    )


def most_groups(cells: Cells, depth: int, min_users: int) -> int:
    """As many groups as there can be of sets of 1 to `depth` attributes, and of all of them.

    Groups of a set share no user, so that a set has no more of them than fit into the users, and no
    more than its attributes have values with enough users.
    """
    n_eligible = [
        int((np.bincount(codes, weights=cells.n_users) >= min_users).sum()) for codes in cells.codes
    ]
    fit = int(cells.n_users.sum()) // min_users
    # products of k values each, summed over all sets: elementary symmetric polynomials
    products = [1] + [0] * depth
    for n in n_eligible:
        for size in range(depth, 0, -1):
            products[size] += n * products[size - 1]
    of_sizes = (
        min(products[size], comb(len(n_eligible), size) * fit) for size in range(1, depth + 1)
    )
    return sum(of_sizes) + fit


def groups_by_sampling(cells: Cells, depth: int, min_users: int) -> float:
    """About as many groups as there are, from some of the sets of each size."""
    n_attributes = len(cells.n_values)
    rng = np.random.default_rng(0)
    n_looked_at = int(np.clip(LOOKED_AT // max(1, len(cells)), 4, 32))
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
