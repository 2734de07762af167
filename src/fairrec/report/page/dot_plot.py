"""One row a group: its difference with interval, beside what chance shows at its size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from fairrec.core.errors import plain
from fairrec.report.page.groups import Key, PageGroups, chance_band, others_of_fully_scored
from fairrec.report.page.view import DotPlot, DotRow, PageLimits
from fairrec.report.text.circumstances import compared_with
from fairrec.report.text.findings import Mark, found_groups, marks_of
from fairrec.report.text.metric_words import direction
from fairrec.report.words import numbers, plural, signed_interval, tick, with_sign
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary

MOST_METRICS = 12
"""Plots on a page; the table has the other metrics."""
_TICKS = 5
_PADDING = 0.04


class _OfGroup(NamedTuple):
    """Users, both differences with the simultaneous interval, and what chance shows."""

    support: int
    ends: tuple[float | None, float | None, float | None, float | None]
    chance: tuple[float, float] | None


_NO_VALUE = _OfGroup(0, (None, None, None, None), None)


def dot_plots(groups: PageGroups, limits: PageLimits) -> tuple[DotPlot, ...]:
    """A plot a metric, that of the answer first; every one has the same groups."""
    found = found_groups(groups.summary)[: limits.findings]
    metrics = [name for name, result in groups.summary.metrics.items() if result.is_tested]
    if found:
        metrics.sort(key=lambda name: name != found[0].first[0])
        keys = [groups.frame.key(group.group) for group in found]
        marks = [marks_of(group, groups.summary) for group in found]
    else:
        keys = _single(groups, metrics[0]) if metrics else []
        marks = [()] * len(keys)
    return tuple(
        _plot(name, keys, marks, groups)
        for name in metrics[:MOST_METRICS]
        if keys and groups.summary.metrics[name].sd
    )


def _single(groups: PageGroups, metric: str, most: int = 10) -> list[Key]:
    """The largest groups of a single attribute, where none stands out."""
    frame = groups.frame.of_metric[metric].filter(pl.col("depth") == pl.col("depth").min())
    return [row.key for row in groups.frame.rows(frame.top_k(most, by="support"))]


def _plot(
    metric: str, keys: Sequence[Key], marks: Sequence[tuple[Mark, ...]], groups: PageGroups
) -> DotPlot:
    result = groups.summary.metrics[metric]
    at = _numbers(metric, keys, groups, is_picked_out=any(marks))
    ends = [
        end
        for key in keys
        for end in (at[key].ends if key in at else ())
        if end is not None and math.isfinite(end)
    ]
    # the bands too, but those of small groups not beyond what the intervals reach
    most = max(map(abs, ends), default=0.0)
    ends += [
        min(most, max(-most, end)) for key in keys if key in at for end in at[key].chance or ()
    ]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    padding = _PADDING * (high - low) or 1.0
    low, high = low - padding, high + padding

    def place(value: float) -> float:
        return round(100 * min(1.0, max(0.0, (value - low) / (high - low))), 2)

    rows = []
    for key, marked in zip(keys, marks, strict=True):
        support, (size, raw, lower, upper), band = at.get(key, _NO_VALUE)
        rows.append(
            DotRow(
                group=groups.number(key),
                label=groups.label(key),
                users=f"{support:,}" if support else "-",
                served=next((mark.served for mark in marked if mark.metric == plain(metric)), ""),
                difference="-" if size is None else with_sign(numbers(size, lower, upper)[0]),
                interval=""
                if size is None or (lower is None and upper is None)
                else signed_interval(lower, upper, size),
                at=None if size is None else place(size),
                measured=None if raw is None or not any(marks) else place(raw),
                span=None
                if size is None
                else (
                    place(low if lower is None else lower),
                    place(high if upper is None else upper),
                ),
                chance=None if band is None else (place(band[0]), place(band[1])),
                marks=marked,
            )
        )
    return DotPlot(
        metric=plain(metric),
        called=plain(result.called),
        direction=direction(result.higher_is_better),
        ticks=tuple((place(at), tick(at)) for at in ticks(low, high)),
        zero=place(0.0),
        rows=tuple(rows),
    )


def _numbers(
    metric: str, keys: Sequence[Key], groups: PageGroups, *, is_picked_out: bool
) -> dict[Key, _OfGroup]:
    """What is drawn of each group that has a value.

    A group that was picked out has its shrunken difference.
    """
    result, frame = groups.summary.metrics[metric], groups.frame.of_metric[metric]
    size, low, high = "shrunken_difference", "simultaneous_low", "simultaneous_high"
    if not is_picked_out:
        size = "difference"
    wanted = pl.DataFrame(
        keys, schema=dict.fromkeys(groups.frame.axes, pl.String), orient="row"
    ).unique()
    part = frame.join(wanted, on=groups.frame.axes, how="semi", nulls_equal=True)
    drawn_of = part.select(
        *(*groups.frame.axes, "support", "is_fully_scored", size),
        *(pl.col("difference").alias("raw_difference"), low, high),
    )
    n_axes = len(groups.frame.axes)
    drawn = {}
    for row in drawn_of.iter_rows():
        support, is_fully_scored, *ends = row[n_axes:]
        depth = sum(value is not None for value in row[:n_axes])
        chance = _chance(result, groups.summary, support, is_fully_scored, depth)
        drawn[row[:n_axes]] = _OfGroup(support, (ends[0], ends[1], ends[2], ends[3]), chance)
    return drawn


def _chance(
    result: MetricResult, summary: AuditSummary, n: int, is_fully_scored: bool, depth: int
) -> tuple[float, float] | None:
    """Where a random group of `n` users by so many attributes would be.

    None among users in the same circumstances, where it takes more than its size to tell.
    """
    if summary.given is not None or result.critical_tails is None:
        return None
    size = np.array(float(n))
    others = result.n_compared - size
    if is_fully_scored:
        others = others_of_fully_scored(result, summary, size)
    if others <= 0:
        return None
    low, high = chance_band(result, size, others, depth)
    return float(low), float(high)


def ticks(low: float, high: float) -> tuple[float, ...]:
    """Round numbers in a range, 0 among them.

    >>> ticks(-0.41, 0.12)
    (-0.4, -0.3, -0.2, -0.1, 0.0, 0.1)
    """
    rough = (high - low) / _TICKS
    step = 10 ** math.floor(math.log10(rough))
    step *= next(times for times in (1, 2, 5, 10) if times * step >= 0.9 * rough)
    first, last = math.ceil(low / step), math.floor(high / step)
    return tuple(float(f"{at * step:.12g}") for at in range(first, last + 1))


def about_rows(groups: PageGroups, n_shown: int) -> str:
    """What the rows are, in a sentence, and what the intervals of items allow for."""
    found = found_groups(groups.summary)
    unit = groups.summary.unit
    beside = ""
    if not unit.is_users:
        beside = (
            " Intervals tell how far off this may be had other users come; the "
            f"{unit.many} stay as they are."
        )
    if not found:
        return f"No finding: these are the largest groups of a single attribute.{beside}"
    n_more = len(found) - n_shown
    more = f" {plural(n_more, 'more group')} in result.json." if n_more > 0 else ""
    first = "furthest" if all(group.served == "differs" for group in found) else "worst"
    others = compared_with(groups.summary)
    return f"Groups that differ from {others} beyond chance, {first} first.{more}{beside}"
