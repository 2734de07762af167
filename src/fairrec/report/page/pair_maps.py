"""Maps of two attributes: every combination of their values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from typing import Any

import polars as pl

from fairrec.core.errors import plain
from fairrec.metrics.direction import badness
from fairrec.report.page.chart_view import PairCell, PairMap
from fairrec.report.page.groups import PageGroups, end_names, short
from fairrec.report.page.value_order import value_order
from fairrec.report.page.view import PageLimits
from fairrec.report.words import plural, shown

PAIRS_SHOWN = 10
AXIS_VALUES = 25


def pair_maps(groups: PageGroups, limits: PageLimits) -> tuple[tuple[PairMap, ...], str]:
    """Maps of two attributes, the most telling pair first, and what was left out."""
    by_metric = {name: groups.frame.pairs(name) for name in groups.summary.metrics}
    lowest: dict[tuple[int, int], float] = {}
    for parts in by_metric.values():
        for pair, part in parts.items():
            found = part["p_adjusted"].min()
            p = float(found) if isinstance(found, float) else 1.0
            lowest[pair] = min(p, lowest.get(pair, 1.0))
    if not lowest:
        return (), "No group of exactly two attributes was looked at."
    ranked = sorted(lowest, key=lambda pair: (lowest[pair], pair))
    maps: list[PairMap] = []
    n_cells = n_pairs = 0
    for pair in ranked[:PAIRS_SHOWN]:
        drawn = [
            _pair_map(groups, name, pair, parts[pair])
            for name, parts in by_metric.items()
            if pair in parts
        ]
        n_cells += sum(len(chart.cells) for chart in drawn)
        if maps and n_cells > limits.cells:
            break
        maps += drawn
        n_pairs += 1
    left = []
    if n_pairs < len(ranked):
        left.append(f"{n_pairs:,} of {plural(len(ranked), 'pair')} of attributes are drawn.")
    if any(AXIS_VALUES in (len(chart.rows), len(chart.columns)) for chart in maps):
        left.append(f"Of attributes with more values, the {AXIS_VALUES} largest are drawn.")
    return tuple(maps), " ".join(left)


def _pair_map(
    groups: PageGroups, metric: str, pair: tuple[int, int], part: pl.DataFrame
) -> PairMap:
    result = groups.summary.metrics[metric]
    frame = groups.frame
    rows_at, columns_at = pair
    axes = [frame.axes[at] for at in pair]
    for axis in axes:
        largest = part.group_by(axis).agg(pl.col("support").sum()).top_k(AXIS_VALUES, by="support")
        part = part.join(largest, on=axis, how="semi", maintain_order="left")
    rows = frame.rows(part)
    findings = {key for key, role in groups.roles(metric).items() if role == "finding"}
    largest_difference = max((abs(row.difference or 0) for row in rows), default=0) or 1.0
    low, high = end_names(result)
    row_label, column_label = (
        _axis_labels({row.key[at] for row in rows}) for at in (rows_at, columns_at)
    )
    return PairMap(
        metric=plain(metric),
        row_name=plain(frame.names[rows_at]),
        column_name=plain(frame.names[columns_at]),
        rows=tuple(row_label.values()),
        columns=tuple(column_label.values()),
        cells=tuple(
            PairCell(
                group=groups.number(row.key),
                label=groups.label(row.key),
                row=row_label[row.key[rows_at]],
                column=column_label[row.key[columns_at]],
                size=row.support,
                value=short(row.value),
                difference=None if row.difference is None else short(row.difference),
                p_adjusted=None if row.p_adjusted is None else short(row.p_adjusted),
                shade=round(
                    -badness(row.difference or 0.0, result.higher_is_better) / largest_difference, 3
                ),
                is_finding=row.key in findings,
            )
            for row in rows
        ),
        low_name=low,
        high_name=high,
    )


def _axis_labels(values: Set[Any]) -> dict[Any, str]:
    """A short text for each value, in order: numbers by size, then words, what is missing last.

    Long values may be alike where they are cut; then they are numbered.

    >>> [*_axis_labels({"b" * 50, "b" * 60, "a"}).values()][1:]
    ['bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb…', 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb… (2)']
    """
    labels: dict[Any, str] = {}
    n_alike: Counter[str] = Counter()
    for value in sorted(values, key=value_order):
        short = shown(value, 40)
        n_alike[short] += 1
        labels[value] = short if n_alike[short] == 1 else f"{short} ({n_alike[short]})"
    return labels
