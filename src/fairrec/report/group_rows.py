"""The table of an answer: each group of one attribute, then findings by several attributes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from fairrec.core.errors import plain
from fairrec.metrics.direction import harm
from fairrec.report.answer import AnswerTable, Block, Row, Served
from fairrec.report.covariates import difference_name
from fairrec.report.findings import FoundGroup
from fairrec.report.words import (
    MINUS,
    confidence,
    group_label,
    p_is,
    p_value,
    percent,
    plural,
    shown,
    value_order,
)
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.result.tables import row_group

MOST_VALUES = 8
"""Values of an attribute that are printed as rows; of more, those that are significant."""


class GroupNumbers(NamedTuple):
    """A group and its numbers for one metric."""

    group: dict[str, str]
    support: int
    value: float | None
    difference: float | None
    shrunken: float | None
    low: float | None
    high: float | None
    outcome: str | None
    is_significant: bool | None
    p_adjusted: float | None
    own_low: float | None
    own_high: float | None
    random_sets: float | None
    alpha: float

    @property
    def is_as_random(self) -> bool:
        """Whether random sets of as many items are often as far from the others."""
        return self.random_sets is not None and self.random_sets > self.alpha

    @property
    def excludes_zero(self) -> bool:
        """Whether the simultaneous interval does."""
        return (self.low is not None and self.low > 0) or (self.high is not None and self.high < 0)


def read_groups(frame: pl.DataFrame, summary: AuditSummary) -> list[GroupNumbers]:
    """The rows of a part of the table of groups."""
    of_items = pl.col("random_sets") if "random_sets" in frame.columns else pl.lit(None)
    numbers = frame.select(
        *("support", "value", "difference", "shrunken_difference"),
        *("simultaneous_low", "simultaneous_high", "outcome", "is_beyond_chance", "p_adjusted"),
        *("difference_low", "difference_high", of_items.alias("random_sets")),
        pl.lit(summary.alpha).alias("alpha"),
    ).iter_rows()
    # by position, as outside names could be anything
    values = frame[:, 1 : 1 + len(summary.attributes)].iter_rows()
    return [
        GroupNumbers(row_group(dict(zip(summary.attributes, row, strict=True))), *known)
        for row, known in zip(values, numbers, strict=True)
    ]


def single_attribute_groups(
    groups: pl.DataFrame, summary: AuditSummary, metric: str
) -> dict[str, list[GroupNumbers]]:
    """The groups of each attribute by itself, its values in their order."""
    found: dict[str, list[GroupNumbers]] = {name: [] for name in summary.attributes}
    of_metric = groups.filter((pl.col("metric") == metric) & (pl.col("depth") == 1))
    for one in read_groups(of_metric, summary):
        (name,) = one.group
        found[name].append(one)
    for name, rows in found.items():
        rows.sort(key=lambda one: value_order(one.group[name]))
    return found


def group_numbers(
    summary: AuditSummary, groups: pl.DataFrame, metric: str, found: Sequence[FoundGroup]
) -> AnswerTable:
    """Numbers of each group of one attribute, and of findings by more than one."""
    result = summary.metrics[metric]
    single = single_attribute_groups(groups, summary, metric)
    deeper = _deeper_findings(summary, groups, metric, found)
    digits = _decimals([*deeper, *(one for block in single.values() for one in block)], result)

    def row(one: GroupNumbers, label: str) -> Row:
        served = served_direction(one, result)
        low, high = (_fixed(end, digits, sign=True) for end in (one.low, one.high))
        has_interval = result.is_tested and (one.low is not None or one.high is not None)
        cells = (
            f"{one.support:,}",
            _fixed(one.value, digits),
            "-" if one.difference is None else _fixed(one.difference, digits, sign=True),
            f"{low} to {high}" if has_interval else "-",
            describe_outcome(one, served),
        )
        return Row(label, cells, served)

    blocks = []
    for name, ones in single.items():
        rows = tuple(row(one, shown(one.group[name])) for one in ones)
        block = Block(plain(name), rows, _in_short(name, ones, result, summary, digits))
        is_short = len(rows) > MOST_VALUES or not rows
        blocks.append(block.shorten() if is_short else block)
    n_deeper = result.n_groups - sum(map(len, single.values()))
    if deeper:
        rows = tuple(row(one, group_label(one.group)) for one in deeper)
        more = "more significant intersections: on the page"
        blocks.append(Block("", rows, more, is_ranked=True))
    elif n_deeper > 0 and result.is_tested:
        none = "" if result.n_significant else ", none significant"
        where = f"{plural(n_deeper, 'intersection')}{none}: on the page, and by_group() in Python"
        blocks.append(Block("", (), where, is_short=True))
    difference = difference_name(summary).replace("adjusted difference", "adj. diff.")
    interval = f"{confidence(summary.alpha)} interval (all)"
    columns = (plain(metric), summary.unit.many, "value", difference, interval, "verdict")
    return AnswerTable(columns, (False, *(True,) * 4, False), tuple(blocks))


def _deeper_findings(
    summary: AuditSummary, groups: pl.DataFrame, metric: str, found: Sequence[FoundGroup]
) -> list[GroupNumbers]:
    """Findings in a metric by more than one attribute, worst first."""
    keys = [
        {name: str(value) for name, value in one.group.items()}
        for one in found
        if len(one.group) > 1 and metric in dict(one.findings)
    ]
    if not keys:
        return []
    mine = groups.filter((pl.col("metric") == metric) & (pl.col("depth") > 1))
    axes = [f"a{at}" for at in range(len(summary.attributes))]
    mine.columns = ["metric", *axes, *groups.columns[1 + len(axes) :]]
    rows = [[key.get(name) for name in summary.attributes] for key in keys]
    keyed = pl.DataFrame(rows, schema=dict.fromkeys(axes, pl.String), orient="row")
    chosen = mine.join(keyed, on=axes, how="semi", nulls_equal=True)
    return sorted(read_groups(chosen, summary), key=lambda one: keys.index(one.group))


def served_direction(one: GroupNumbers, result: MetricResult) -> Served | None:
    """How a group is served, where it differs significantly."""
    if not one.is_significant or one.difference is None or not one.excludes_zero:
        return None
    if one.is_as_random:
        return None
    if result.higher_is_better is not None and harm(one.difference, result.higher_is_better) < 0:
        return "better"
    if one.outcome == "inconclusive":
        return None
    return "differs" if result.higher_is_better is None else "worse"


def describe_outcome(one: GroupNumbers, served: Served | None) -> str:
    """The verdict on a group, in a word or two."""
    if one.outcome is None:
        return "not tested"
    if one.is_as_random and one.is_significant and one.outcome != "inconclusive":
        return f"as random ({percent(one.random_sets or 0.0)})"
    if served == "better":
        return "better"
    if one.outcome == "inconclusive" and one.excludes_zero and one.p_adjusted is not None:
        # the interval alone looks significant
        return f"n.s. ({p_is(p_value(one.p_adjusted))})"
    # the sign of the difference has the direction
    return one.outcome.removeprefix("worse ").removeprefix("differs ")


def _decimals(rows: Sequence[GroupNumbers], result: MetricResult) -> int:
    """Decimals of a table: two digits of the usual half width of its intervals, or more.

    As many as it takes that no end of an interval beyond 0 is written as 0.
    """
    ends = [(one.low, one.high) for one in rows]
    half = [(high - low) / 2 for low, high in ends if low is not None and high is not None]
    half = sorted(width for width in half if 0 < width < math.inf)
    size = half[len(half) // 2] if half else abs(result.mean) / 10
    digits = min(9, max(0, 1 - math.floor(math.log10(size)))) if size else 3
    near = [min(abs(one.low or 0.0), abs(one.high or 0.0)) for one in rows if one.excludes_zero]
    least = min(filter(None, near), default=1.0)
    return max(digits, min(digits + 2, math.ceil(-math.log10(2 * least))))


def _fixed(value: float | None, digits: int, *, sign: bool = False) -> str:
    """A number with fixed decimals; an end of an interval that is None has no limit."""
    if value is None:
        return "no limit" if sign else "-"
    text = f"{value:{'+' if sign else ''},.{digits}f}"
    text = text.lstrip("+-") if not text.strip("+-0.,") else text
    return text.replace("-", MINUS)


def _in_short(
    name: str,
    ones: Sequence[GroupNumbers],
    result: MetricResult,
    summary: AuditSummary,
    digits: int,
) -> str:
    """The groups of an attribute in a line, of which those that are significant have rows."""
    known = [one for one in ones if one.value is not None]
    if not known:
        n_values = plural(summary.attributes[name].n_values, "value")
        return f"{n_values}, none with enough {summary.unit.many}"
    tested = ""
    if result.is_tested:
        n = sum(served_direction(one, result) in ("worse", "differs") for one in ones)
        kind = "different" if result.higher_is_better is None else "worse"
        tested = f", {n or 'none'} significantly {kind}"
    is_highest = result.higher_is_better is False
    last = sorted(known, key=lambda one: one.value or 0.0)[-1 if is_highest else 0]
    return (
        f"{plural(len(ones), 'group')}{tested}; {'highest' if is_highest else 'lowest'}: "
        f"{shown(last.group[name])} with {_fixed(last.value, digits)} "
        f"({summary.unit.count(last.support)})"
    )
