"""The table of changes: one row for each metric and group of two audits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from fairrec.core.errors import InputError, plain
from fairrec.statistics.compared import LOSSES, ComparedMetric

NUMBERS = (
    *("before", "after", "change", "simultaneous_low", "simultaneous_high"),
    *("difference", "difference_low", "difference_high"),
)
JUDGED = ("is_beyond_chance", "is_known", "outcome", "is_behind")
RESERVED = ("metric", "depth", "support", *NUMBERS, *JUDGED)
"""Names an attribute cannot have beside them."""


def refuse_reserved(attributes: Sequence[str]) -> None:
    """An error for attributes that would be taken for a column of the table."""
    taken = [name for name in attributes if name in RESERVED]
    if taken:
        raise InputError(
            f"Attribute '{plain(taken[0])}' has the name of a column of changes.parquet. Audit "
            "both with the attribute under another name."
        )


def change_table(
    conditions: Mapping[str, pl.DataFrame], compared: Mapping[str, ComparedMetric]
) -> pl.DataFrame:
    """One row for each metric and group; those that lost by more than matters first.

    Parameters
    ----------
    conditions : by metric, one row a group: a text column an attribute, and the depth
    """
    tables = []
    for name, found in compared.items():
        groups = found.groups
        own = (groups.before, groups.after, groups.change, *groups.interval)
        others = (groups.difference, *groups.difference_interval)
        numbers = zip(NUMBERS, (*own, *others), strict=True)
        outcomes = [LOSSES[at] for at in found.losses]
        tables.append(
            conditions[name].select(
                pl.lit(name).alias("metric"),
                pl.all(),
                pl.Series("support", groups.n.astype(np.int64)),
                *(
                    pl.Series(column, np.where(np.isinf(values), np.nan, values)).fill_nan(None)
                    for column, values in numbers
                ),
                pl.Series("is_beyond_chance", groups.is_beyond_chance),
                pl.Series("is_known", groups.is_known),
                pl.Series("outcome", outcomes, pl.String),
                pl.Series("is_behind", found.is_behind),
            )[found.order]
        )
    return pl.concat(tables)
