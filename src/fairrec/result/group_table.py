"""The table of groups: one row for each metric and eligible group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.groups.lattice import ANY, Lattice
from fairrec.inputs.users import Attribute
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.estimates import detectable_difference

NUMBERS = (
    "value",
    "value_low",
    "value_high",
    "shrunken",
    "difference",
    "difference_low",
    "difference_high",
    "detectable",
    "p_value",
    "p_adjusted",
)
RESERVED = ("metric", "depth", "support", "is_whole", *NUMBERS)
"""Names an attribute cannot have beside them in the table."""


def group_table(
    analysis: Analysis, pooled: Mapping[str, tuple[IntArray, FloatArray]]
) -> pl.DataFrame:
    """One row for each metric and eligible group, lowest adjusted p-value first.

    Parameters
    ----------
    pooled : metric -> its groups and their values
    """
    conditions = conditions_of(analysis.lattice, analysis.attributes)
    moments, test = analysis.moments, analysis.test
    adjusted = analysis.adjusted_p_values
    estimated = ("value", "shrunken", "difference")
    columns = {
        name: getattr(analysis.estimates, name) for name in NUMBERS if name.startswith(estimated)
    }
    columns["detectable"] = detectable_difference(moments.chance_error, analysis.critical)
    columns["p_value"] = np.full(adjusted.shape, np.nan) if test is None else test.p_values
    columns["p_adjusted"] = adjusted
    with np.errstate(invalid="ignore", divide="ignore"):
        strength = np.nan_to_num(np.abs(moments.difference / moments.chance_error))

    def rows_of(
        name: str, rows: IntArray, support: IntArray, numbers: Mapping[str, FloatArray]
    ) -> pl.DataFrame:
        undefined = np.full(len(rows), np.nan)
        return conditions[rows].select(
            pl.lit(name).alias("metric"),
            pl.all(),
            pl.Series("support", support.astype(np.int64)),
            pl.Series("is_whole", analysis.is_whole[rows]),
            *(
                pl.Series(column, numbers.get(column, undefined))
                .replace([np.inf], None)
                .fill_nan(None)
                for column in NUMBERS
            ),
        )

    tables = []
    for i, metric in enumerate(analysis.metrics):
        rows = np.flatnonzero(analysis.is_tested[i])
        rows = rows[np.lexsort((-strength[i, rows], np.nan_to_num(adjusted[i, rows])))]
        numbers = {name: column[i, rows] for name, column in columns.items()}
        tables.append(rows_of(metric.name, rows, moments.n[i, rows], numbers))
    for name, (rows, values) in pooled.items():
        tables.append(rows_of(name, rows, analysis.lattice.n_users[rows], {"value": values}))
    return pl.concat(tables)


def conditions_of(lattice: Lattice, attributes: Sequence[Attribute]) -> pl.DataFrame:
    """One text column an attribute, null where its value does not matter, and the depth."""
    codes = lattice.codes
    columns = []
    for position, attribute in enumerate(attributes):
        labels = pl.Series(attribute.name, [str(value) for value in attribute.values], pl.String)
        at = pl.Series(codes[:, position]).replace(ANY, None)
        columns.append(labels.gather(at))
    depth = pl.Series("depth", (codes != ANY).sum(axis=1).astype(np.int64))
    return pl.DataFrame([*columns, depth])
