"""Attributes on the page: how many users have each value, and maps of two attributes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from typing import Any

import polars as pl

from fairrec.core.errors import plain
from fairrec.inputs.users import MISSING
from fairrec.metrics.direction import badness
from fairrec.report.page.groups import PageGroups, drawn_metrics, short
from fairrec.report.page.view import Distribution, PageLimits, PairCell, PairMap, Ramp, ValueBar
from fairrec.report.words import MINUS, percent, plural, shown, signed, value_order, with_sign
from fairrec.result.schema import AttributeSummary, AuditSummary


def distributions(summary: AuditSummary, limits: PageLimits) -> tuple[Distribution, ...]:
    """One chart of bars an attribute, as many as there is room for."""
    drawn, n_left = [], limits.values
    for name, attribute in summary.attributes.items():
        if n_left <= 0:
            break
        drawn.append(_distribution(name, attribute, summary, n_left))
        n_left -= len(drawn[-1].bars)
    return tuple(drawn)


def _distribution(
    name: str, attribute: AttributeSummary, summary: AuditSummary, most: int
) -> Distribution:
    largest = max(attribute.values.values(), default=1)
    kept = dict([*attribute.values.items()][:most])
    ordered = sorted(kept, key=value_order)
    n_more = attribute.n_values - len(kept)
    n_rest = summary.n_users - sum(kept.values())
    least = 0 if summary.hidden is None else summary.hidden.min_shown
    users_of_rest = f" with {summary.unit.count(n_rest)}" if n_rest >= least else ""
    about = [plural(attribute.n_values, "value")]
    if attribute.binning:
        about.append(f"bins of {plain(attribute.binning)}")
    if attribute.n_missing:
        about.append(f"missing for {summary.unit.count(attribute.n_missing)}")
    if attribute.n_values_below_support:
        below = plural(attribute.n_values_below_support, "value")
        about.append(f"{below} with fewer than {summary.coverage.min_users:,} {summary.unit.many}")
    return Distribution(
        attribute=plain(name),
        about=", ".join(about),
        bars=tuple(
            ValueBar(
                value=shown(value),
                users=f"{kept[value]:,}",
                share=percent(kept[value] / summary.n_users),
                length=round(100 * kept[value] / largest, 1),
                is_small=kept[value] < summary.coverage.min_users,
                is_missing=value == MISSING,
            )
            for value in ordered
        ),
        rest=f"and {plural(n_more, 'smaller value')}{users_of_rest}" if n_more > 0 else "",
    )


Pair = tuple[int, int]
"""Positions of two attributes."""
PAIRS_SHOWN = 10
AXIS_VALUES = 25


def pair_maps(groups: PageGroups, limits: PageLimits) -> tuple[tuple[PairMap, ...], str]:
    """Maps of two attributes, that of the strongest finding first, and what was left out."""
    by_metric = {name: groups.pairs(name) for name in drawn_metrics(groups.summary, limits)}
    lowest = _lowest_p(by_metric.values())
    if not lowest:
        return (), "No group of exactly two attributes was looked at."
    metric, first = _strongest(groups, lowest)
    ranked = sorted(lowest, key=lambda pair: (pair != first, lowest[pair], pair))
    names = sorted(by_metric, key=lambda name: name != metric)
    ramps = {name: _ramp(groups, name) for name in names}
    maps: list[PairMap] = []
    n_cells = n_pairs = 0
    for pair in ranked[:PAIRS_SHOWN]:
        drawn = [
            _pair_map(groups, name, pair, by_metric[name][pair], ramps[name])
            for name in names
            if pair in by_metric[name]
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
        left.append(
            f"Of attributes with more values, {AXIS_VALUES} are drawn: significant ones, then "
            "the largest."
        )
    return tuple(maps), " ".join(left)


def pair_map(groups: PageGroups, metric: str, pair: Pair) -> PairMap | None:
    """The map of two attributes in a metric; None without any group of the two."""
    part = groups.pairs(metric).get(pair)
    if part is None:
        return None
    return _pair_map(groups, metric, pair, part, _ramp(groups, metric))


def _lowest_p(by_metric: Iterable[Mapping[Pair, pl.DataFrame]]) -> dict[Pair, float]:
    """Of each pair, the p-value of the group least likely under chance in any metric."""
    lowest: dict[Pair, float] = {}
    for parts in by_metric:
        for pair, part in parts.items():
            found = part["p_adjusted"].min()
            p = float(found) if isinstance(found, float) else 1.0
            lowest[pair] = min(p, lowest.get(pair, 1.0))
    return lowest


def _strongest(groups: PageGroups, lowest: Mapping[Pair, float]) -> tuple[str, Pair]:
    """The metric and the pair of the strongest finding: that with most of its attributes."""
    found = groups.found
    named: set[int] = set()
    metric = next(iter(groups.summary.metrics))
    if found:
        metric, finding = found[0].first
        key = groups.key(finding.group)
        named = {at for at, value in enumerate(key) if value is not None}
    pair = min(lowest, key=lambda pair: (-len(named.intersection(pair)), lowest[pair], pair))
    return metric, pair


def _ramp(groups: PageGroups, metric: str) -> Ramp:
    """One scale for all pairs of a metric, as long as the largest difference beyond chance.

    Without any it is as long as the largest: what is small would look large otherwise.
    """
    higher_is_better = groups.summary.metrics[metric].higher_is_better
    of_pairs = groups.of_metric[metric].filter(pl.col("depth") == 2)
    beyond = of_pairs.filter(pl.col("p_adjusted") <= groups.summary.alpha)
    sizes = (beyond if beyond.height else of_pairs)["difference"].abs()
    largest = sizes.max()
    reach = largest if isinstance(largest, float) and largest > 0 else 1.0
    low, high = ("lower", "higher") if higher_is_better is None else ("worse", "better")
    sign = -1 if higher_is_better is False else 1
    return Ramp(
        reach=reach,
        low=f"{low} {signed(-sign * reach)}",
        high=f"{signed(sign * reach)} {high}",
        is_neutral=higher_is_better is None,
    )


def _pair_map(
    groups: PageGroups, metric: str, pair: Pair, part: pl.DataFrame, ramp: Ramp
) -> PairMap:
    result = groups.summary.metrics[metric]
    alpha = groups.summary.alpha
    rows_at, columns_at = pair
    for axis in (groups.axes[at] for at in pair):
        part = part.join(
            _drawn_values(part, axis, alpha), on=axis, how="semi", maintain_order="left"
        )
    rows = groups.rows(part)
    findings = {key for key, role in groups.roles(metric).items() if role == "finding"}
    row_label, column_label = (
        _axis_labels({row.key[at] for row in rows}) for at in (rows_at, columns_at)
    )
    return PairMap(
        metric=plain(metric),
        unit=groups.summary.unit,
        row_name=plain(groups.names[rows_at]),
        column_name=plain(groups.names[columns_at]),
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
                shade=_shade(row.difference or 0.0, result.higher_is_better, ramp),
                text="" if row.difference is None else _in_a_cell(row.difference, ramp),
                is_finding=row.key in findings,
                is_faded=row.p_adjusted is not None and row.p_adjusted > alpha,
            )
            for row in rows
        ),
        ramp=ramp,
    )


def _in_a_cell(difference: float, ramp: Ramp) -> str:
    """As many decimals in every cell of a metric as its largest difference needs."""
    decimals = max(0, 2 - math.floor(math.log10(ramp.reach)))
    return with_sign(f"{difference:,.{decimals}f}".replace("-", MINUS))


def _drawn_values(part: pl.DataFrame, axis: str, alpha: float) -> pl.DataFrame:
    """The values of an attribute that are drawn where there are too many."""
    is_beyond = (pl.col("p_adjusted") <= alpha).fill_null(False).any()
    values = part.group_by(axis).agg(is_beyond.alias("is_beyond"), pl.col("support").sum())
    return values.sort("is_beyond", "support", axis, descending=True).head(AXIS_VALUES)


def _shade(difference: float, higher_is_better: bool | None, ramp: Ramp) -> float:
    return round(max(-1.0, min(1.0, -badness(difference, higher_is_better) / ramp.reach)), 3)


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
