"""Each metric of the chosen groups before and after, beside all others and what was to be kept."""

from __future__ import annotations

from dataclasses import dataclass

from fairrec.core.errors import plain
from fairrec.report.mitigation.words import Tone, distance_name, is_worse_than, tone_of
from fairrec.report.words import confidence, number, signed
from fairrec.result.metric_schema import Change
from fairrec.result.mitigation_schema import MetricEffect, MitigationSummary


@dataclass(frozen=True, slots=True)
class Level:
    """A value to compare with: what it is called in the chart, and in a sentence."""

    value: float
    label: str
    words: str


@dataclass(frozen=True, slots=True)
class Slope:
    """One metric from before to after.

    Parameters
    ----------
    low, high : the value before with the confidence interval of the change added: the same users
        are compared, so that of each value alone would say nothing about the change
    others : all others, whose lists are as they were
    floor : what a tuned strength was to keep of the cost metric
    """

    metric: str
    is_target: bool
    before: float
    after: float
    low: float | None
    high: float | None
    verdict: str
    tone: Tone
    others: Level | None
    floor: Level | None
    alternative: str


def slopes(summary: MitigationSummary) -> tuple[Slope, ...]:
    """The target first, then what it costs, then the rest; none where a value is undefined."""
    first = [name for name in (summary.metric, summary.cost_metric) if name in summary.effects]
    names = dict.fromkeys([*first, *summary.effects])
    drawn = (_slope(summary, name, summary.effects[name]) for name in names)
    return tuple(slope for slope in drawn if slope)


def _slope(summary: MitigationSummary, name: str, effect: MetricEffect) -> Slope | None:
    change = effect.chosen
    if change.before is None or change.after is None:
        return None
    low, high = _ends(change, change.before)
    others, floor = _others(summary, name, effect), _floor(summary, name, change.before)
    label = distance_name(name) if effect.is_distance else plain(name)
    return Slope(
        metric=label,
        is_target=name == summary.metric,
        before=change.before,
        after=change.after,
        low=low,
        high=high,
        verdict=change.verdict,
        tone=tone_of(change.verdict),
        others=others,
        floor=floor,
        alternative=_spoken(label, change, summary.alpha, others, floor),
    )


def _ends(change: Change, before: float) -> tuple[float | None, float | None]:
    if change.interval is None or change.verdict == "unchanged":
        return None, None
    return before + change.interval[0], before + change.interval[1]


def _others(summary: MitigationSummary, name: str, effect: MetricEffect) -> Level | None:
    """What the target is to reach where it was worse; else, to compare with."""
    value, before = 0.0 if effect.is_distance else effect.others.before, effect.chosen.before
    if value is None or before is None:
        return None
    is_behind = effect.is_distance or is_worse_than(before, value, effect.higher_is_better)
    if name == summary.metric and is_behind:
        return Level(
            value, f"to reach {number(value)}", f"To reach: {number(value)}, as all others."
        )
    return Level(value, f"all others {number(value)}", f"All others: {number(value)}.")


def _floor(summary: MitigationSummary, name: str, before: float) -> Level | None:
    if name != summary.cost_metric or name == summary.metric or not summary.is_tuned:
        return None
    value = (1 - summary.max_loss) * before
    return Level(value, f"to keep {number(value)}", f"To keep: {number(value)}.")


def _spoken(
    label: str, change: Change, alpha: float, others: Level | None, floor: Level | None
) -> str:
    said = f"{label}: {number(change.before)} before, {number(change.after)} after"
    if change.interval is not None and change.change is not None and change.verdict != "unchanged":
        low, high = map(signed, change.interval)
        said += (
            f"; change {signed(change.change)} ({confidence(alpha)} confidence interval {low} to "
            f"{high})"
        )
    levels = "".join(f" {level.words}" for level in (others, floor) if level)
    return f"{said}, {change.verdict}.{levels}"
