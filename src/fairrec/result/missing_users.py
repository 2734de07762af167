"""Users without a list or a value, named: how many, and in which groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairrec.result.metric_result import finding_of
from fairrec.result.parts import GroupValue
from fairrec.result.schema import MissingUsers
from fairrec.statistics.missing import Missing

SHARES_SHOWN = 50


def missing_users(missing: Sequence[Missing], max_undefined: float) -> tuple[MissingUsers, ...]:
    """The part of `result.json` about users who are missing."""
    return tuple(
        MissingUsers(
            kind=one.kind,
            metrics=one.metrics,
            counts_as_zero=one.counts_as_zero,
            n_users=one.n_users,
            n_missing=one.n_missing,
            is_tested=one.analysis.test is not None,
            permutations=one.analysis.n_permutations,
            is_too_much=one.is_too_much(max_undefined),
            findings=tuple(finding_of(0, group, one.analysis) for group in one.found.findings),
            shares=_shares(one),
        )
        for one in missing
    )


def _shares(missing: Missing) -> tuple[GroupValue, ...]:
    analysis = missing.analysis
    is_single = analysis.grouping.lattice.depth == 1
    # a share of very few users is noise, and tells what happened to one of them
    groups = np.flatnonzero(is_single & analysis.is_tested[0])
    values = analysis.estimates.value[0, groups]
    first = groups[np.lexsort((groups, -values))][:SHARES_SHOWN]
    return tuple(
        GroupValue(
            group=analysis.grouping.group(int(at)).as_dict(),
            value=float(analysis.estimates.value[0, at]),
            support=int(analysis.moments.n[0, at]),
        )
        for at in first
    )
