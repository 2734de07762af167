"""Plots of dots with intervals, one group a row: in an audit, and in a comparison of two."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from fairrec.core.errors import plain
from fairrec.report.answer import Served
from fairrec.report.audit_answer import headline_metric
from fairrec.report.covariates import difference_name
from fairrec.report.group_rows import (
    MOST_VALUES,
    describe_outcome,
    served_direction,
    single_attribute_groups,
)
from fairrec.report.metric_words import direction
from fairrec.report.page.groups import Key, PageGroups
from fairrec.report.words import (
    confidence,
    group_label,
    number,
    plural,
    signed_with_interval,
    tick,
)

MOST_OF_ATTRIBUTE = 60
DEEPER_SHOWN = 10
"""Findings by several attributes that are not folded."""
MOST_DEEPER = 60
_TICKS = 5
_PADDING = 0.04


@dataclass(frozen=True, slots=True)
class DotRow:
    """A group in a plot.

    Parameters
    ----------
    before, after : texts to the left and to the right of the plot; each after has a smaller text
    value, low, high : of the dot and its interval; None where it is unknown or has no limit
    group : its number on the page, where it has one
    has_card : whether its label links to its card
    is_folded : whether it is shown only on demand
    """

    label: str
    before: tuple[str, ...]
    after: tuple[tuple[str, str], ...]
    verdict: str
    tone: Served | Literal["within"]
    value: float | None
    low: float | None
    high: float | None
    group: int | None = None
    has_card: bool = False
    is_folded: bool = False


@dataclass(frozen=True, slots=True)
class DotPlot:
    """The groups of one metric on a common scale.

    Parameters
    ----------
    about : what the metric is called, and which end is better
    status : the verdict on the metric
    limit : the largest acceptable harm, drawn where it lies on the scale
    """

    metric: str
    about: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    rows: tuple[DotRow, ...]
    status: str = ""
    limit: float | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the scale: dots and intervals that are not folded, 0, a little padding."""
        known = [
            end
            for row in self.rows
            if not row.is_folded
            for end in (row.value, row.low, row.high)
            if end is not None and math.isfinite(end)
        ]
        low, high = min([0.0, *known]), max([0.0, *known])
        padding = _PADDING * (high - low) or 1.0
        return low - padding, high + padding

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Places and texts of round numbers."""
        return [(self.place(at), tick(at)) for at in ticks(*self.ends)]

    @property
    def has_limit(self) -> bool:
        """Whether the limit lies on the scale."""
        low, high = self.ends
        return self.limit is not None and low < self.limit < high

    def place(self, value: float | None, otherwise: float = 0.0) -> float:
        """Where a value lies on the scale, in percent of its width; the page clips what is beyond.

        Parameters
        ----------
        otherwise : the place of an end without a limit
        """
        if value is None:
            return otherwise
        low, high = self.ends
        return round(100 * min(2.0, max(-1.0, (value - low) / (high - low))), 2)


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


def about_metric(called: str, higher_is_better: bool | None) -> str:
    """What a metric is called, and which of its ends is better."""
    return ", ".join(filter(None, (plain(called), direction(higher_is_better))))


def audit_dots(groups: PageGroups) -> tuple[DotPlot, ...]:
    """A plot for each metric that was tested, that of the answer first, all with the same groups.

    The rows are each value of an attribute, then findings by several attributes. Values of an
    attribute with many of them are folded unless they are findings.
    """
    summary = groups.summary
    first = headline_metric(summary, groups.found)
    metrics = [name for name in groups.drawn if summary.metrics[name].is_tested]
    metrics.sort(key=lambda name: name != first)
    found = {groups.key(one.group) for one in groups.found}
    is_folded: dict[Key, bool] = {}
    for ones in single_attribute_groups(groups.table, summary, first).values():
        keys = [groups.key(one.group) for one in ones[:MOST_OF_ATTRIBUTE]]
        is_folded |= {key: len(ones) > MOST_VALUES and key not in found for key in keys}
    deeper = [groups.key(one.group) for one in groups.found if len(one.group) > 1]
    is_folded |= {key: at >= DEEPER_SHOWN for at, key in enumerate(deeper[:MOST_DEEPER])}
    if all(is_folded.values()):
        is_folded |= dict.fromkeys([*is_folded][:DEEPER_SHOWN], False)
    plots = [_plot(name, is_folded, groups) for name in metrics]
    return tuple(plot for plot in plots if plot.rows)


def _plot(metric: str, is_folded: dict[Key, bool], groups: PageGroups) -> DotPlot:
    summary = groups.summary
    result = summary.metrics[metric]
    known = {groups.key(one.group): one for one in groups.rows(groups.select(metric, is_folded))}
    found = {groups.key(one.group): one for one in groups.found}
    rows = []
    for key in [key for key in is_folded if key in known]:
        one = known[key]
        served = served_direction(one, result)
        verdict = describe_outcome(one, served)
        n_others = sum(name != metric for name, _ in found[key].findings) if key in found else 0
        if n_others:
            verdict += f"; {plural(n_others, 'more metric')}"
        rows.append(
            DotRow(
                label=group_label(one.group),
                before=(f"{one.support:,}", number(one.value, result.mean)),
                after=(signed_with_interval(one.difference, one.low, one.high),),
                verdict=verdict,
                tone=served or "within",
                value=one.difference,
                low=one.low,
                high=one.high,
                group=groups.number(one.group),
                has_card=key in found,
                is_folded=is_folded[key],
            )
        )
    return DotPlot(
        metric=plain(metric),
        about=about_metric(result.called, result.higher_is_better),
        before=(summary.unit.many, "value"),
        after=(f"{difference_name(summary)}, {confidence(summary.alpha)} interval, all at once",),
        rows=tuple(rows),
    )


def describe_rows(groups: PageGroups, plot: DotPlot) -> str:
    """What the rows of a plot are."""
    unit = groups.summary.unit
    n_deeper = sum(len(one.group) > 1 for one in groups.found)
    text = "Each value of one attribute"
    if n_deeper:
        text += ", then intersections that differ significantly, worst first"
    if n_folded := sum(row.is_folded for row in plot.rows):
        text += f"; {len(plot.rows) - n_folded:,} of {len(plot.rows):,} groups at first"
    if unit.is_users:
        return f"{text}."
    return f"{text}. Intervals allow for another sample of users; the {unit.many} stay as they are."
