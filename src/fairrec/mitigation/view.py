"""A mitigation ready to lay out: its facts, charts and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fairrec.core.errors import plain
from fairrec.inputs.notes import CHECK_FIRST
from fairrec.mitigation.result import MetricEffect, MitigationSummary
from fairrec.mitigation.words import (
    Tone,
    chosen_groups,
    cost_shares,
    distance_name,
    find_tone,
    headline,
    is_worse_than,
    metrics_lost,
    reported_targets,
    sentences,
    share_words,
    significance,
    stamps,
    standing,
    target_name,
)
from fairrec.report.answer import Answer, AnswerTable, Block, Note, Row, Served
from fairrec.report.answer import Tone as AnswerTone
from fairrec.report.metric_words import format_gap_p_value
from fairrec.report.view import LONGEST_LINE
from fairrec.report.words import (
    TableView,
    confidence,
    group_label,
    number,
    numbers,
    p_value,
    plural,
    signed,
    signed_interval,
    with_and,
    with_sign,
)
from fairrec.result.metric_schema import Chance, Change

GROUPS_NAMED = 2


@dataclass(frozen=True, slots=True)
class Fact:
    """One answer, and what belongs to it."""

    name: str
    answer: str
    details: tuple[str, ...]
    tone: Tone = "neutral"


def build_facts(summary: MitigationSummary) -> tuple[Fact, ...]:
    """The four facts, in the order of the questions."""
    return _who(summary), _how_much(summary), _how_sure(summary), _cost(summary)


def _who(summary: MitigationSummary) -> Fact:
    labels = [group_label(group.group) for group in summary.groups]
    named = " · ".join(labels[:GROUPS_NAMED])
    more = len(labels) - GROUPS_NAMED
    n_users = summary.effects[summary.metric].chosen.n_users
    return Fact(
        "Who",
        plural(len(summary.groups), "chosen group"),
        (
            f"{n_users:,} of {plural(summary.n_users_reported, 'user')} ({plain(summary.rule)})",
            f"{named} · and {more:,} more" if more > 0 else named,
        ),
    )


def _how_much(summary: MitigationSummary) -> Fact:
    target = summary.effects[summary.metric]
    change = target.chosen
    if change.before is None or change.after is None:
        return Fact("How much", "undefined", ("for everyone reported on",))
    metric = "distance" if target.is_distance else plain(summary.metric)
    aside = "All others: 0, as a distance from them" if target.is_distance else standing(summary)
    return Fact(
        "How much",
        f"{number(change.before)} → {number(change.after)}",
        (f"{metric} {_moved(change, summary.alpha)}", *filter(None, (aside,))),
        find_tone(summary.outcome),
    )


def _moved(change: Change, alpha: float) -> str:
    if change.verdict == "unchanged" or change.change is None:
        return "unchanged"
    if change.interval is None:
        return signed(change.change)
    low, high = map(signed, change.interval)
    return f"{signed(change.change)} ({confidence(alpha)} CI {low} to {high})"


def _how_sure(summary: MitigationSummary) -> Fact:
    change = summary.effects[summary.metric].chosen
    answer = {
        "improved": "Improvement shown",
        "worse": "Loss shown",
        "changed": "Change shown",
        "not significant": "Not shown",
        "unchanged": "Nothing changed",
        "turned round": "The order turned round",
        "gap grew": "Further from all others",
        "intersections further apart": "Intersections further apart",
    }[summary.outcome]
    on = "held-out half of the users"
    if summary.protocol == "validation targets":
        on = reported_targets(summary)
    details = [f"The same users before and after, on the {on}"]
    if change.p_value is not None and change.verdict != "unchanged":
        p = p_value(change.p_value)
        details.insert(0, f"p = {p}" if p[0].isdigit() else f"p {p}")
    return Fact("How sure", answer, tuple(details), find_tone(summary.outcome))


def _cost(summary: MitigationSummary) -> Fact:
    target = summary.effects[summary.metric]
    others = target.others.n_users
    costs = [
        f"{plain(summary.cost_metric or '')} of {who}: "
        f"{share_words(share)} ({significance(change)})"
        for who, share, change in cost_shares(summary)
    ]
    untouched, lost = f"None for {plural(others, 'other user')}", metrics_lost(summary)
    if not lost:
        return Fact("At what cost", untouched, ("Their lists are as they were", *costs))
    answer = f"{chosen_groups(summary).capitalize()} lost in {with_and(lost)}"
    return Fact("At what cost", answer, (*costs, f"{untouched}: lists as they were"), "worse")


GROUPS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class TradeOffLine:
    """One line of a trade-off chart: what a strength does to some users."""

    strength: float
    value: float
    who: str


@dataclass(frozen=True, slots=True)
class TradeOff:
    """Strength against one metric."""

    metric: str
    is_target: bool
    chosen: float
    lines: tuple[TradeOffLine, ...]
    alternative: str


@dataclass(frozen=True, slots=True)
class MitigationView:
    """A mitigation, ready to lay out.

    Parameters
    ----------
    stamps : what must not be overlooked
    said : sentences, the most important first
    facts, slopes : the same to look at
    """

    answer: Answer
    stamps: tuple[str, ...]
    said: tuple[str, ...]
    effects: TableView
    gaps: TableView
    groups: TableView
    harmed: TableView
    trade_offs: tuple[TradeOff, ...]
    notes: tuple[str, ...]
    reproduce: str
    facts: tuple[Fact, ...] = ()
    slopes: tuple[Slope, ...] = ()

    @property
    def tables(self) -> tuple[TableView, ...]:
        """Those with rows, in order."""
        named = (self.effects, self.gaps, self.groups, self.harmed)
        return tuple(table for table in named if table.rows)


def build_mitigation_view(summary: MitigationSummary) -> MitigationView:
    """The view of a mitigation."""
    notes = [plain(note, LONGEST_LINE) for note in summary.notes]
    return MitigationView(
        answer=_answer(summary, notes),
        stamps=(*stamps(summary), *(note for note in notes if note.startswith(CHECK_FIRST))),
        said=sentences(summary),
        effects=_effects(summary),
        gaps=_gaps(summary),
        groups=_groups(summary),
        harmed=_harmed(summary),
        trade_offs=_trade_offs(summary),
        notes=tuple(note for note in notes if not note.startswith(CHECK_FIRST)),
        reproduce=(
            f"{plain(summary.command, LONGEST_LINE)}  (FairRec {summary.fairrec_version}, "
            f"seed {summary.seed})"
        ),
        facts=build_facts(summary),
        slopes=build_slopes(summary),
    )


def _answer(summary: MitigationSummary, notes: Sequence[str]) -> Answer:
    """The outcome, and every metric before and after."""
    names = [name for name in (summary.metric, summary.cost_metric) if name in summary.effects]
    blocks = []
    for name in dict.fromkeys([*names, *summary.effects]):
        effect = summary.effects[name]
        whom = {"chosen": effect.chosen}
        if name in names:
            whom["all"] = effect.everyone
        rows = [Row(who, _cells(change), _served(change)) for who, change in whom.items()]
        blocks.append(
            Block(
                plain(name),
                tuple(replace(row, cells=(*row.cells[1:-2], row.cells[-1])) for row in rows),
                "",
            )
        )
    columns = (
        "metric",
        "before",
        "after",
        "change",
        f"{confidence(summary.alpha)} interval",
        "verdict",
    )
    tones: dict[Tone, AnswerTone] = {"better": "clear", "worse": "found"}
    protocol, *said = sentences(summary)
    who = _who(summary)
    checks = [
        Note("check", note.removeprefix(CHECK_FIRST))
        for note in notes
        if note.startswith(CHECK_FIRST)
    ]
    others = [Note("note", note) for note in notes if not note.startswith(CHECK_FIRST)]
    return Answer(
        tone=tones.get(find_tone(summary.outcome), "open"),
        headline=headline(summary),
        about=(f"{who.answer}: {who.details[1]}; {who.details[0]}", protocol),
        notes=(*(Note("warning", stamp) for stamp in stamps(summary)), *checks, *others),
        table=AnswerTable(columns, (False, *(True,) * 4, False), tuple(blocks)),
        others=tuple(said),
    )


def _served(change: Change) -> Served | None:
    served: dict[str, Served] = {"improved": "better", "worse": "worse", "changed": "differs"}
    return served.get(change.verdict)


def _effects(summary: MitigationSummary) -> TableView:
    targets = "the targets reported on" if summary.n_shared_targets else "held-out targets"
    rows = []
    for name, effect in summary.effects.items():
        named = f"{plain(name)} (distance)" if effect.is_distance else plain(name)
        rows.append((named, "chosen groups", *_cells(effect.chosen)))
        rows.append((plain(name), "all others", *_cells(effect.others)))
        rows.append((plain(name), "all users", *_cells(effect.everyone)))
    columns = {"metric": False, "users": False}
    return _table(summary, f"Before and after, on {targets}", columns, rows)


def _table(
    summary: MitigationSummary,
    title: str,
    columns: dict[str, bool],
    rows: list[tuple[str, ...]],
    note: str = "",
) -> TableView:
    """A table of changes.

    Parameters
    ----------
    columns : those before the ones that `_cells` fills -> whether they are numbers
    """
    interval = f"{100 * (1 - summary.alpha):.3g}% CI"
    columns |= dict.fromkeys(("n", "before", "after", "change", interval, "p"), True)
    columns["verdict"] = False
    return TableView(title, tuple(columns), tuple(columns.values()), tuple(rows), note)


def _cells(change: Change) -> tuple[str, ...]:
    values = (f"{change.n_users:,}", *numbers(change.before, change.after))
    if change.verdict == "unchanged":
        return (*values, "0", "-", "-", change.verdict)
    interval = "-"
    ends = change.interval or ()
    if change.interval is not None:
        interval = signed_interval(*change.interval, change.change or 0.0)
    return (
        *values,
        "-" if change.change is None else with_sign(numbers(change.change, *ends)[0]),
        interval,
        "-" if change.p_value is None else p_value(change.p_value),
        change.verdict,
    )


def _gaps(summary: MitigationSummary) -> TableView:
    def chance(found: Chance | None) -> str:
        return (
            "not tested" if found is None else f"{number(found.mean)}, {format_gap_p_value(found)}"
        )

    return TableView(
        title="Gap between the best and the worst served intersection of all attributes",
        columns=(
            "metric",
            "gap before",
            "under permutation",
            "gap after",
            "under permutation, after",
        ),
        numeric=(False, True, False, True, False),
        rows=tuple(
            (
                plain(name),
                *(number(gap.before), chance(gap.chance_before)),
                *(number(gap.after), chance(gap.chance_after)),
            )
            for name, gap in ((name, effect.gap) for name, effect in summary.effects.items())
            if gap.before is not None
        ),
        note=(
            "Under permutation: the mean of the null distribution, attributes permuted across "
            "users, and the p-value of the gap."
        ),
    )


def _groups(summary: MitigationSummary) -> TableView:
    rows = [
        (group_label(group.group), number(group.chosen_by), *_cells(group.change))
        for group in summary.groups[:GROUPS_SHOWN]
    ]
    note = "CI (confidence interval) and p: for one group at a time, not adjusted."
    note = _more(len(summary.groups) - GROUPS_SHOWN) + note
    title = f"Re-ranked groups, {plain(summary.metric)}"
    return _table(summary, title, {"group": False, "chosen by": True}, rows, note)


def _more(n: int) -> str:
    return f"and {n:,} more in mitigation.json. " if n > 0 else ""


def _harmed(summary: MitigationSummary) -> TableView:
    rows = [
        (plain(harm.metric), group_label(harm.group), *_cells(harm.change))
        for harm in summary.harmed
    ]
    note = (
        f"Family-wise error rate {summary.alpha:g} over all groups and metrics (Holm); CI "
        "(confidence interval) and p are those of the group by itself."
    )
    title = "Groups that became significantly worse"
    return _table(summary, title, {"metric": False, "group": False}, rows, note)


def _trade_offs(summary: MitigationSummary) -> tuple[TradeOff, ...]:
    is_validation = summary.protocol == "validation targets"
    tuned = "validation targets, tuned on" if is_validation else "half tuned on"
    reported = "test targets" if is_validation else "held-out half"
    costs = {"tuned_cost": tuned, "reported_cost": reported, "everyone_cost": "all users"}
    drawn = []
    for is_target, name, parts in (
        (True, summary.metric, {"tuned": tuned, "reported": reported}),
        (False, summary.cost_metric, costs),
    ):
        if name is None or (not is_target and name == summary.metric):
            continue
        lines = tuple(
            TradeOffLine(point.strength, value, who)
            for field, who in parts.items()
            for point in summary.trade_off
            if (value := getattr(point, field)) is not None
        )
        if lines:
            target = summary.effects[summary.metric]
            label = target_name(summary, target) if is_target else plain(name)
            drawn.append(TradeOff(label, is_target, summary.strength, lines, _spoken(label, lines)))
    return tuple(drawn)


def _spoken(metric: str, lines: tuple[TradeOffLine, ...]) -> str:
    """A chart in a sentence."""
    parts = []
    for who in dict.fromkeys(line.who for line in lines):
        values = [line.value for line in lines if line.who == who]
        parts.append(f"{number(values[0])} to {number(values[-1])} ({who})")
    first, last = lines[0].strength, max(line.strength for line in lines)
    return f"From strength {first:g} to {last:g}, {metric} goes from {'; '.join(parts)}."


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


def build_slopes(summary: MitigationSummary) -> tuple[Slope, ...]:
    """The target first, then what it costs, then the rest; none where a value is undefined."""
    first = [name for name in (summary.metric, summary.cost_metric) if name in summary.effects]
    names = dict.fromkeys([*first, *summary.effects])
    drawn = (_slope(summary, name, summary.effects[name]) for name in names)
    return tuple(slope for slope in drawn if slope)


def _slope(summary: MitigationSummary, name: str, effect: MetricEffect) -> Slope | None:
    change, is_target = effect.chosen, name == summary.metric
    before, after = change.before, change.after
    if before is None or after is None:
        return None
    label = distance_name(name) if effect.is_distance else plain(name)
    low = high = None
    said = f"{label}: {number(before)} before, {number(after)} after"
    if change.interval is not None and change.verdict != "unchanged":
        low, high = (before + end for end in change.interval)
        ends = " to ".join(map(signed, change.interval))
        moved = f"{signed(change.change or 0.0)} ({confidence(summary.alpha)} confidence interval"
        said += f"; change {moved} {ends})"
    others, floor = _others(effect, is_target), None
    if name == summary.cost_metric and not is_target and summary.is_tuned:
        least = (1 - summary.max_loss) * before
        floor = Level(least, f"to keep {number(least)}", f"To keep: {number(least)}.")
    levels = "".join(f" {level.words}" for level in (others, floor) if level)
    return Slope(
        metric=label,
        is_target=is_target,
        before=before,
        after=after,
        low=low,
        high=high,
        verdict=change.verdict,
        tone=find_tone(change.verdict),
        others=others,
        floor=floor,
        alternative=f"{said}, {change.verdict}.{levels}",
    )


def _others(effect: MetricEffect, is_target: bool) -> Level | None:
    """What the target is to reach where it was worse; else, to compare with."""
    value, before = 0.0 if effect.is_distance else effect.others.before, effect.chosen.before
    if value is None or before is None:
        return None
    is_behind = effect.is_distance or is_worse_than(before, value, effect.higher_is_better)
    text = number(value)
    if is_target and is_behind:
        return Level(value, f"to reach {text}", f"To reach: {text}, as all others.")
    return Level(value, f"all others {text}", f"All others: {text}.")
