"""The charts of a mitigation: metrics before and after, and all groups in order of their change."""

from __future__ import annotations

from dataclasses import dataclass

from fairrec.core.errors import plain
from fairrec.metrics.direction import badness
from fairrec.mitigation.schema import (
    HarmedGroup,
    MetricEffect,
    MitigationSummary,
    OrderedChanges,
)
from fairrec.mitigation.words import (
    Tone,
    chosen_groups,
    could_be_seen,
    distance_name,
    is_worse_than,
    metrics_lost,
    tone_of,
)
from fairrec.report.words import confidence, group_label, number, plural, signed
from fairrec.result.metric_schema import Change


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


HEIGHT = 40.0
HARMED_NAMED = 5
LEAST_BAR = 0.6
"""A change that is too small for the scale is still a mark."""


@dataclass(frozen=True, slots=True)
class Bars:
    """The marks of one colour, as a path in a box as wide as there are marks."""

    tone: Tone
    path: str


@dataclass(frozen=True, slots=True)
class Strip:
    """The groups of one metric, worst first; what is better points up.

    Parameters
    ----------
    zero_at, seen_at : heights of no change, and of a loss that half of the groups would show
    harmed : groups shown to be worse, with their changes
    """

    metric: str
    width: int
    zero_at: float
    seen_at: float | None
    bars: tuple[Bars, ...]
    first: str
    last: str
    harmed: tuple[tuple[str, str], ...]
    words: str


@dataclass(frozen=True, slots=True)
class Strips:
    """The strips of all metrics below one answer."""

    headline: str
    about: str
    is_harmed: bool
    rows: tuple[Strip, ...]


def strips(summary: MitigationSummary) -> Strips:
    """Whether single groups are shown to be harmed, in each metric."""
    worse = {
        plain(name): effect.groups.worse
        for name, effect in summary.effects.items()
        if effect.groups.worse
    }
    found = ", ".join(f"{plural(n, 'group')} in {name}" for name, n in worse.items())
    together = ", ".join(metrics_lost(summary))
    about = f"Adjusted for {plural(summary.n_group_tests, 'comparison')} (Holm)."
    if together and not worse:
        about += f" Shown to be worse for {chosen_groups(summary)} together: {together}."
    return Strips(
        headline=f"Shown to be harmed: {found}" if found else _nobody(summary),
        about=about,
        is_harmed=bool(worse),
        rows=tuple(
            _strip(name, effect, effect.ordered, summary.harmed)
            for name, effect in summary.effects.items()
            if effect.ordered.n_groups
        ),
    )


def _nobody(summary: MitigationSummary) -> str:
    """That nobody is shown to be harmed is no comfort where nobody could have been."""
    judged = [effect.ordered for effect in summary.effects.values() if _has_worse_end(effect)]
    n_blind, n_groups = (sum(getattr(part, n) for part in judged) for n in ("n_blind", "n_groups"))
    unseen = "; in most, too few users changed to tell" if 2 * n_blind > n_groups else ""
    return f"No single group shown to be harmed{unseen}"


def _strip(
    name: str, effect: MetricEffect, seen: OrderedChanges, harmed: tuple[HarmedGroup, ...]
) -> Strip:
    mine = [
        (group_label(group.group), group.change.change)
        for group in harmed
        if group.metric == name and group.change.change is not None
    ]
    marks = [*zip(seen.changes, map(tone_of, seen.verdicts), strict=True)]
    drawn = {*seen.changes}
    # of many groups only some are kept in order, but those that are named are drawn
    marks += [(change, "worse") for _, change in mine if change not in drawn]
    gains = [-badness(change, effect.higher_is_better) for change, _ in marks]
    order = sorted(range(len(marks)), key=lambda at: gains[at])
    low = min(0.0, *gains, -(seen.least_shown or 0.0) if _has_worse_end(effect) else 0.0)
    high = max(0.0, *gains)

    def height(gain: float) -> float:
        return round(HEIGHT * (high - gain) / ((high - low) or 1.0), 2)

    zero = height(0.0)
    paths: dict[Tone, list[str]] = {}
    for place, at in enumerate(order):
        end = height(gains[at])
        if abs(end - zero) < LEAST_BAR:
            end = round(zero - LEAST_BAR if gains[at] > 0 else zero + LEAST_BAR, 2)
        bar = f"M{place}.1 {zero:g}h.8V{end:g}h-.8z"
        paths.setdefault(marks[at][1], []).append(bar)
    is_seen = seen.least_shown is not None and _has_worse_end(effect)
    return Strip(
        metric=plain(name),
        width=len(marks),
        zero_at=zero,
        seen_at=height(-(seen.least_shown or 0.0)) if is_seen else None,
        bars=tuple(Bars(tone, "".join(path)) for tone, path in paths.items()),
        first=signed(marks[order[0]][0]),
        last=signed(marks[order[-1]][0]),
        harmed=tuple((label, signed(change)) for label, change in mine[:HARMED_NAMED]),
        words=_words(effect, seen, len(mine[:HARMED_NAMED])),
    )


def _has_worse_end(effect: MetricEffect) -> bool:
    return effect.higher_is_better is not None


def _words(effect: MetricEffect, seen: OrderedChanges, n_named: int) -> str:
    """What was shown, and what could have been."""
    counts = effect.groups
    of_all = f"Of {plural(seen.n_groups, 'group')} in which somebody changed"
    worse, better, changed = (
        f"{n:,}" if n else "none" for n in (counts.worse, counts.improved, counts.changed)
    )
    if not _has_worse_end(effect):
        return f"{of_all}, {changed} changed significantly. Neither end is better."
    said = f"{of_all}, {worse} shown to be worse, {better} better. {could_be_seen(seen)}"
    if counts.worse > n_named:
        said += f" Named here: {n_named:,}, the others in the table below or in changes.parquet."
    return said
