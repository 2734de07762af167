"""Numbers by group as data frames: `by_group`, `overall`, `difference`, `ratio`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from fairrec.core.errors import InputError, unknown_name
from fairrec.core.options import spell
from fairrec.inputs.users import MISSING
from fairrec.report.words import value_order
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AttributeSummary, AuditSummary
from fairrec.statistics.intervals import Interval
from fairrec.statistics.ratios import FAR, relative_shortfall

LEAST_KNOWN = 1.25
"""Times the mean of others has to be as large as it may be off for a ratio to have a limit."""
_TYPES: dict[str, type[pl.DataType]] = {
    "integer": pl.Int64,
    "number": pl.Float64,
    "boolean": pl.Boolean,
}


def by_group(
    summary: AuditSummary, groups: pl.DataFrame, attributes: Sequence[str], metrics: Sequence[str]
) -> pl.DataFrame:
    """One row for each metric and group of exactly these attributes, values in their order.

    Parameters
    ----------
    groups : the table of groups
    """
    for name in attributes:
        if name not in summary.attributes:
            raise unknown_name("attribute of this audit", name, summary.attributes)
    if len({*attributes}) < max(1, len(attributes)):
        raise InputError("by_group: name one attribute or more, each once: by_group('gender').")
    deepest = len(summary.attributes) if summary.depth == "full" else summary.depth
    if deepest < len(attributes) < len(summary.attributes):
        raise InputError(
            f"by_group: this audit looked at groups of up to {deepest} attributes. Audit again "
            f"with {spell('depth', len(attributes))}."
        )
    names = [*summary.attributes]
    places = [names.index(name) for name in attributes]
    axes = [f"a{at}" for at in range(len(names))]
    table = groups.clone()
    table.columns = ["metric", *axes, *groups.columns[1 + len(axes) :]]
    chosen = table.filter(
        pl.col("metric").is_in([*metrics]),
        pl.col("depth") == len(attributes),
        *(pl.col(f"a{at}").is_not_null() for at in places),
    )
    ordered = chosen.with_columns(
        *(_place(chosen[f"a{at}"]).alias(f"o{at}") for at in places),
        pl.col("metric").replace_strict({name: at for at, name in enumerate(metrics)}).alias("o"),
    ).sort("o", *(f"o{at}" for at in places))
    # positive where a larger value is worse
    signs = {True: -1.0, False: 1.0, None: None}
    sign = pl.col("metric").replace_strict(
        {name: signs[summary.metrics[name].higher_is_better] for name in metrics},
        return_dtype=pl.Float64,
    )
    low, high = pl.col("simultaneous_low"), pl.col("simultaneous_high")
    is_better = ((sign < 0) & (low > 0)) | ((sign > 0) & (high < 0))
    typed = (
        typed_values(ordered[f"a{at}"], summary.attributes[name]).alias(name)
        for at, name in zip(places, attributes, strict=True)
    )
    numbers = ordered.select(
        pl.col("support").alias(summary.unit.many.replace(" ", "_")),
        "value",
        "difference",
        low.alias("low"),
        high.alias("high"),
        (pl.col("difference") * sign).alias("harm"),
        pl.when(is_better & pl.col("is_beyond_chance"))
        .then(pl.lit("better"))
        .otherwise("outcome")
        .alias("verdict"),
    )
    return pl.DataFrame([ordered["metric"], *typed, *numbers])


def _place(values: pl.Series) -> pl.Series:
    """The place of each value among all of them, in the order in which they are read."""
    distinct = sorted(values.unique().to_list(), key=value_order)
    return values.replace_strict({value: at for at, value in enumerate(distinct)}, default=None)


def typed_values(values: pl.Series, about: AttributeSummary) -> pl.Series:
    """The values of an attribute as they were in the table of users; bins as ordered labels."""
    if about.kind == "text":
        return values
    if about.kind == "bins":
        labels = sorted(values.unique().drop_nulls().to_list(), key=value_order)
        return values.cast(pl.Enum(labels))
    known = values.replace([MISSING], [None])
    if about.kind == "boolean":
        return known.replace_strict({"True": True, "False": False}, default=None)
    typed = known.cast(_TYPES[about.kind], strict=False)
    # numbers of more than 63 bits, such as hashes, stay text
    return typed if typed.null_count() == known.null_count() else values


def overall(summary: AuditSummary) -> pl.DataFrame:
    """One row a metric: users with a value, their mean, its verdict."""
    metrics = summary.metrics
    return pl.DataFrame(
        {
            "metric": [*metrics],
            summary.unit.many.replace(" ", "_"): [one.n_compared for one in metrics.values()],
            "value": [one.mean for one in metrics.values()],
            "verdict": [one.verdict and one.verdict.outcome for one in metrics.values()],
        },
        schema_overrides={"verdict": pl.String},
    )


def single_groups(
    summary: AuditSummary, groups: pl.DataFrame, metrics: Sequence[str]
) -> pl.DataFrame:
    """The groups of each attribute by itself, below each other, their values as text."""
    tables = []
    for name in summary.attributes:
        table = by_group(summary, groups, [name], metrics)
        values = table[name].cast(pl.String).fill_null(MISSING).alias("group")
        metric, rest = table["metric"], table.drop("metric", name).get_columns()
        attribute = pl.Series("attribute", [name] * table.height, pl.String)
        tables.append(pl.DataFrame([metric, attribute, values, *rest]))
    return pl.concat(tables)


def add_ratios(table: pl.DataFrame, summary: AuditSummary) -> pl.DataFrame:
    """The value of each group as a share of that of all others, and its simultaneous interval.

    Null where values have no zero that means none of it; an upper end is null where there is no
    limit.
    """
    low, high, share = (np.full(table.height, np.nan) for _ in range(3))
    many = summary.unit.many.replace(" ", "_")
    for name, about in summary.metrics.items():
        mine = (table["metric"] == name).to_numpy()
        if not mine.any() or not has_ratios(about, summary):
            continue
        rows = table.filter(pl.col("metric") == name)
        values, differences, ends_low, ends_high = (
            rows[column].cast(pl.Float64).fill_null(np.nan).to_numpy()
            for column in ("value", "difference", "low", "high")
        )
        others = values - differences
        n_others = np.maximum(about.n_defined - rows[many].to_numpy(), 1)
        # all others may vary more than everyone does, but their squares are among everyone's
        error = (about.sd or 0.0) * np.sqrt(about.n_defined) / n_others
        lack = relative_shortfall(
            -differences, Interval(-ends_high, -ends_low), others, error, is_gain=True
        )
        # others that are hardly known may be almost nothing, so that any share of them is possible
        is_known = others > LEAST_KNOWN * FAR * error
        share[mine] = 1 - lack.size
        low[mine] = np.where(is_known, np.maximum(0.0, 1 - lack.interval.high), 0.0)
        high[mine] = np.where(is_known, 1 - lack.interval.low, np.nan)
    numbers = {"ratio": share, "low": low, "high": high}
    return table.drop("value", "difference", "low", "high", "harm", "verdict").with_columns(
        *(
            pl.Series(name, np.where(np.isfinite(column), column, np.nan), nan_to_null=True)
            for name, column in numbers.items()
        ),
        table["verdict"],
    )


def has_ratios(about: MetricResult, summary: AuditSummary) -> bool:
    """Whether one value of a metric may be a percentage of another."""
    is_whole = summary.adjustment is None and not summary.search.n_not_fully_scored
    return about.is_ratio_scale and about.sd is not None and is_whole
