"""Ratios between groups as a table."""

from __future__ import annotations

import math

from fairrec.core.errors import plain
from fairrec.report.words import TableView, confidence, group_label, number, percent
from fairrec.result.schema import AuditSummary
from fairrec.statistics.ratios import FOUR_FIFTHS, SMALL_CATEGORY, GroupRatios

ROWS_SHOWN, LEAST_ROWS = 30, 5
_NOT_COMPARED = {"small": "too few", "unknown": "unknown", None: "-"}


def ratio_table(summary: AuditSummary, most_rows: int = ROWS_SHOWN) -> TableView:
    """Each group beside the best group and beside all others, the lowest ratios first.

    Parameters
    ----------
    most_rows : all metrics together
    """
    level, many = confidence(summary.alpha), summary.unit.many
    compared = {name: result for name, result in summary.ratios.metrics.items() if result.by}
    most_each = max(LEAST_ROWS, most_rows // max(1, len(compared)))
    rows, n_all = [], 0
    for name, result in compared.items():
        groups = [group for one in result.by for group in one.groups]
        groups.sort(key=lambda one: math.inf if one.to_best is None else one.to_best)
        rows += [(plain(name), *_row(group)) for group in groups[:most_each]]
        n_all += len(groups)
    note = (
        f"Intervals are {level} for one group at a time. To the best: over the best group of the "
        f"same attributes with at least {percent(SMALL_CATEGORY)} of {many}; below "
        f"{FOUR_FIFTHS:g} of it is the four-fifths rule, a rule of thumb of employment law, "
        f"not a verdict. Impact ratio, as in New York's local law 144: over the highest rate, the "
        f"share of {many} with 1, or above the median."
    )
    if len(rows) < n_all:
        note += f" {len(rows):,} of {n_all:,} rows; all are in result.json."
    return TableView(
        title=f"Ratios: each group beside the best group and beside all other {many}",
        columns=(
            *("metric", "group", many, "value", "to the best", f"{level} interval"),
            *("to the rest", f"{level} interval", "four fifths", "rate", "impact ratio"),
        ),
        numeric=(False, False, *(True,) * 6, False, True, True),
        rows=tuple(rows),
        note=note,
    )


def _row(group: GroupRatios) -> tuple[str, ...]:
    return (
        group_label(group.group),
        f"{group.support:,}",
        number(group.value),
        _ratio(group.to_best),
        _interval(group.to_best_interval),
        _ratio(group.to_rest),
        _interval(group.to_rest_interval),
        group.four_fifths or _NOT_COMPARED[group.left_out],
        percent(group.rate),
        _ratio(group.impact_ratio),
    )


def _interval(interval: tuple[float, float] | None) -> str:
    return "-" if interval is None else " to ".join(map(_ratio, interval))


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:,.3f}"
