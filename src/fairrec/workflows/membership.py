"""Whether the users of a group are the same in two audits, so that their changes speak for it.

Who came into a group is in it for what the candidate saw of them, and who left for what it no
longer saw: compared with themselves, they would show a change though the group has none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray

MOST_MOVED = 0.02
"""Share of a group's users, of those in both audits, who may have moved in or out."""
LEAST_OF_GROUP = 0.9
"""Share of a group's users, in the audit that has more of them, who must have both values."""


def is_steady(
    users: pl.DataFrame, conditions: pl.DataFrame, n_users: FloatArray, axes: Sequence[str]
) -> BoolArray:
    """(n_groups,), groups that few users moved into or out of.

    Parameters
    ----------
    users : of both audits: a column an attribute, and one with the suffix " base"
    conditions : of the groups, by the same columns; null where any value counts
    n_users : (n_groups,), users of both audits who are in the group in the candidate
    """
    came, left = np.zeros((2, conditions.height))
    rows = conditions.select(axes).with_row_index("row")
    movers = users.filter(_differ(axes))
    if movers.height:
        for is_given, groups in rows.group_by([pl.col(axis).is_not_null() for axis in axes]):
            on = [axis for axis, is_mine in zip(axes, is_given, strict=True) if is_mine]
            mine = movers.filter(_differ(on))
            for counts, suffix in ((came, ""), (left, " base")):
                there = mine.select(pl.col(f"{axis}{suffix}").alias(axis) for axis in on)
                found = groups.join(there.group_by(on).len(), on=on)
                counts[found["row"].to_numpy()] = found["len"].to_numpy()
    return np.asarray(came + left <= MOST_MOVED * (n_users + left))


def _differ(axes: Sequence[str]) -> pl.Expr:
    return pl.any_horizontal(pl.col(axis).ne_missing(pl.col(f"{axis} base")) for axis in axes)


def is_enough(n_paired: FloatArray, n_before: FloatArray, n_after: FloatArray) -> BoolArray:
    """(n_groups,), groups of whose users nearly all are in both audits with a value."""
    n_most = np.maximum(np.maximum(n_before, n_after), 1.0)
    return np.asarray(n_paired >= LEAST_OF_GROUP * n_most)
