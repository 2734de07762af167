"""The tables of a result: groups, findings, ratios, and users or items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.groups.grouping import Grouping
from fairrec.groups.lattice import ANY
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.ids import ids_as_integers_or_text
from fairrec.metrics.measured import Measured
from fairrec.result.schema import AuditSummary
from fairrec.statistics.verdict import outcome_names

if TYPE_CHECKING:
    from fairrec.result.metric_result import DescribedMetric
    from fairrec.statistics.analysis import Analysis


NUMBERS = (
    "value",
    "value_low",
    "value_high",
    "shrunken",
    "difference",
    "difference_low",
    "difference_high",
    "shrunken_difference",
    "simultaneous_low",
    "simultaneous_high",
    "detectable",
    "p_value",
    "p_adjusted",
)
ADJUSTED = ("raw_difference", "kept_share")
"""Those beside them where covariates are given."""
OF_ITEMS = ("random_sets",)
"""Those beside them where items are compared."""
BOUNDED = ("unknown_low", "unknown_high", "n_unknown")
"""Those beside them where attributes are unknown: bounds of the difference, and who may belong."""
JUDGED = ("is_beyond_chance", "is_known")
"""What is asked of a group besides its interval, so that other limits can be judged later."""
FACTS = ("depth", "support", "is_fully_scored", "outcome", *JUDGED)
RESERVED = ("metric", *FACTS, *NUMBERS, *ADJUSTED, *OF_ITEMS, *BOUNDED)
"""Names an attribute cannot have beside them in the table."""


def group_table(analysis: Analysis, found: Sequence[DescribedMetric]) -> pl.DataFrame:
    """One row for each metric and eligible group, lowest adjusted p-value first.

    What is judged is null where nothing was tested.
    """
    conditions, estimates = group_conditions(analysis.grouping), analysis.estimates
    adjusted, errors = analysis.adjusted_p_values, np.abs(analysis.score)
    beside = {
        "simultaneous_low": estimates.simultaneous.low,
        "simultaneous_high": estimates.simultaneous.high,
        "detectable": analysis.detectable,
        "p_value": analysis.p_values,
        "p_adjusted": adjusted,
    }
    columns: dict[str, FloatArray] = {
        name: beside[name] if name in beside else getattr(estimates, name) for name in NUMBERS
    }
    if analysis.is_adjusted:
        columns |= {"raw_difference": estimates.raw_difference, "kept_share": analysis.kept_share}
    if analysis.random_sets is not None:
        columns["random_sets"] = analysis.random_sets
    bounds = [one.unknown for one in found if one.unknown is not None]
    if bounds:
        for name, part in zip(BOUNDED, ("low", "high", "n_unknown"), strict=True):
            columns[name] = np.stack([getattr(one, part) for one in bounds])

    def rows_of(
        name: str,
        rows: IntArray,
        support: IntArray,
        numbers: Mapping[str, FloatArray],
        judged: Mapping[str, BoolArray | Sequence[str]],
    ) -> pl.DataFrame:
        undefined = np.full(len(rows), np.nan)
        known = {name: numbers.get(name, undefined) for name in columns}
        kinds = {"outcome": pl.String, **dict.fromkeys(JUDGED, pl.Boolean)}
        return conditions[rows].select(
            pl.lit(name).alias("metric"),
            pl.all(),
            pl.Series("support", support.astype(np.int64)),
            pl.Series("is_fully_scored", analysis.is_fully_scored[rows]),
            *(
                pl.Series(name, judged.get(name, [None] * len(rows)), kind)
                for name, kind in kinds.items()
            ),
            *(
                pl.Series(name, np.where(np.isinf(column), np.nan, column), nan_to_null=True)
                for name, column in known.items()
            ),
        )

    tables = []
    for i, (metric, about) in enumerate(zip(analysis.measured.metrics, found, strict=True)):
        rows = np.flatnonzero(analysis.is_tested[i])
        rows = rows[np.lexsort((-errors[i, rows], np.nan_to_num(adjusted[i, rows])))]
        judged: dict[str, BoolArray | Sequence[str]] = {}
        if analysis.tested_by is not None:
            names, verdicts = outcome_names(metric.metric.higher_is_better), about.judged.groups
            judged["outcome"] = [names[at] for at in verdicts.of_groups[rows]]
            is_beyond = analysis.is_beyond_chance[i, rows]
            judged |= zip(JUDGED, (is_beyond, verdicts.is_known[rows]), strict=True)
        numbers = {name: column[i, rows] for name, column in columns.items()}
        support = analysis.moments.n[i, rows]
        tables.append(rows_of(metric.name, rows, support, numbers, judged))
    table = pl.concat(tables)
    return table.with_columns(pl.col("n_unknown").cast(pl.Int64)) if bounds else table


def row_group(conditions: Mapping[str, str | None]) -> dict[str, str]:
    """The group that a row of a table is about, without attributes whose value does not matter.

    >>> row_group({"gender": "F", "age": None})
    {'gender': 'F'}
    """
    return {name: value for name, value in conditions.items() if value is not None}


def group_conditions(grouping: Grouping) -> pl.DataFrame:
    """One text column an attribute, null where its value does not matter, and the depth."""
    codes = grouping.lattice.codes
    columns = []
    for position, attribute in enumerate(grouping.attributes):
        labels = pl.Series(attribute.name, [str(value) for value in attribute.values], pl.String)
        at = pl.Series(codes[:, position]).replace(ANY, None)
        columns.append(labels.gather(at))
    depth = pl.Series("depth", grouping.lattice.depth.astype(np.int64))
    return pl.DataFrame([*columns, depth])


def finding_table(summary: AuditSummary, groups: pl.DataFrame) -> pl.DataFrame:
    """The rows of the table of groups that are findings, by metric and worst first."""
    keys = ["metric", *summary.attributes]
    found = [
        {"metric": name, **{attribute: str(value) for attribute, value in finding.group.items()}}
        for name, result in summary.metrics.items()
        for finding in result.findings
    ]
    rows = pl.DataFrame(found, schema=dict.fromkeys(keys, pl.String))
    joined = rows.join(groups, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return joined.select(groups.columns)


def as_pandas(table: pl.DataFrame) -> Any:
    """The table as a frame of pandas; it needs no pyarrow."""
    import pandas as pd

    return pd.DataFrame({column.name: column.to_numpy() for column in table})


RATIO_NUMBERS = (
    "value",
    *("to_best", "to_best_low", "to_best_high"),
    *("to_rest", "to_rest_low", "to_rest_high"),
    *("rate", "impact_ratio"),
)


def ratio_table(summary: AuditSummary) -> pl.DataFrame:
    """One row for each metric and group of one or two attributes, as `result.json` lists them.

    The column `group` is a struct with a text for each attribute, null where it does not matter.
    """
    rows = []
    for name, result in summary.ratios.metrics.items():
        for group in (group for one in result.by for group in one.groups):
            best_low, best_high = group.to_best_interval or (None, None)
            rest_low, rest_high = group.to_rest_interval or (None, None)
            rows.append(
                {
                    "metric": name,
                    "group": {key: str(value) for key, value in group.group.items()},
                    "support": group.support,
                    "to_best_low": best_low,
                    "to_best_high": best_high,
                    "to_rest_low": rest_low,
                    "to_rest_high": rest_high,
                    **group.model_dump(
                        include={
                            *("value", "to_best", "to_rest", "four_fifths", "rate"),
                            *("impact_ratio", "left_out"),
                        }
                    ),
                }
            )
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        "metric": pl.String,
        "group": pl.Struct(dict.fromkeys(summary.attributes, pl.String)),
        "support": pl.Int64,
        **dict.fromkeys(RATIO_NUMBERS, pl.Float64),
        "four_fifths": pl.String,
        "left_out": pl.String,
    }
    return pl.DataFrame(rows, schema=schema)


def per_user_table(inputs: AuditInputs, measured: Measured) -> pl.DataFrame:
    """One row a user, or an item; a metric is null where it is undefined."""
    labels = [attribute.labels for attribute in inputs.attributes]
    numbers = [
        pl.Series(metric.name, row).fill_nan(None)
        for metric, row in zip(measured.metrics, measured.values, strict=True)
    ]
    ids = inputs.user_ids.alias(inputs.unit.id_column(inputs.given.unit))
    return pl.DataFrame([ids, *labels, *numbers])


def sort_by_id(table: pl.DataFrame) -> pl.DataFrame:
    """The same users in the order of an audit that reads them at once; parts have one of their own.

    >>> sort_by_id(pl.DataFrame({"user_id": ["10", "9"]}))["user_id"].to_list()
    ['9', '10']
    """
    return table[ids_as_integers_or_text(table.to_series(0), "").arg_sort()]
