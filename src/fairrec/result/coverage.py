"""Which groups, users and values are large enough to be looked at, and which are not."""

from __future__ import annotations

import numpy as np

from fairrec.groups.grouping import Grouping
from fairrec.result.schema import AttributeSummary, Coverage, DepthCoverage

SMALL_VALUES_SHOWN = 20
VALUES_SHOWN = 50


def coverage(grouping: Grouping, min_support: float | None) -> Coverage:
    """Which groups and users are large enough to be looked at."""
    cells, lattice, min_users = grouping.cells, grouping.lattice, grouping.min_users
    depth = lattice.depth
    is_small = cells.n_users < min_users
    return Coverage(
        min_support=min_support,
        min_users=min_users,
        by_depth={
            str(size): DepthCoverage(n_groups=int((depth == size).sum()), n_groups_below=below)
            for size, below in sorted(lattice.n_below.items())
        },
        n_full_possible=str(grouping.n_combinations),
        n_full_observed=len(cells),
        n_full=int((~is_small).sum()),
        n_users_below=int(cells.n_users[is_small].sum()),
    )


def attribute_summaries(grouping: Grouping) -> dict[str, AttributeSummary]:
    """What each attribute looks like, with the values that have too few users."""
    min_users, cells = grouping.min_users, grouping.cells
    summaries = {}
    for attribute, codes in zip(grouping.attributes, cells.codes, strict=True):
        n_users = np.bincount(codes, weights=cells.n_users, minlength=len(attribute.values))
        from_largest = np.argsort(-n_users, kind="stable")
        small = from_largest[n_users[from_largest] < min_users]
        summaries[attribute.name] = AttributeSummary(
            n_values=len(attribute.values),
            n_missing=attribute.n_missing,
            binning=attribute.binning,
            n_values_below_support=len(small),
            small_values={
                str(attribute.values[code]): int(n_users[code])
                for code in small[:SMALL_VALUES_SHOWN]
            },
            values={
                str(attribute.values[code]): int(n_users[code])
                for code in from_largest[:VALUES_SHOWN]
            },
        )
    return summaries
