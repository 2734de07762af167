"""The ratios of a result as one table."""

from __future__ import annotations

import polars as pl

from fairrec.result.schema import AuditSummary

NUMBERS = (
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
        **dict.fromkeys(NUMBERS, pl.Float64),
        "four_fifths": pl.String,
        "left_out": pl.String,
    }
    return pl.DataFrame(rows, schema=schema)
