"""A mitigation ready to lay out: its facts, words, charts and tables."""

from __future__ import annotations

from dataclasses import dataclass

from fairrec.core.errors import plain
from fairrec.inputs.notes import CHECK_FIRST
from fairrec.mitigation.charts import Slope, Strips, slopes, strips
from fairrec.mitigation.schema import MitigationSummary
from fairrec.mitigation.words import (
    Tone,
    chosen_groups,
    cost_shares,
    headline,
    in_words,
    metrics_lost,
    reported_targets,
    sentences,
    share_words,
    stamps,
    standing,
    target_name,
    tone_of,
)
from fairrec.report.text.metric_words import p_of_gap
from fairrec.report.text.view import LONGEST_LINE
from fairrec.report.words import (
    TableView,
    confidence,
    group_label,
    number,
    numbers,
    p_value,
    percent,
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


def facts(summary: MitigationSummary) -> tuple[Fact, ...]:
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
        tone_of(summary.outcome),
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
    return Fact("How sure", answer, tuple(details), tone_of(summary.outcome))


def _cost(summary: MitigationSummary) -> Fact:
    target = summary.effects[summary.metric]
    others = target.others.n_users
    costs = [
        f"{plain(summary.cost_metric or '')} of {who}: {share_words(share)} ({in_words(change)})"
        for who, share, change in cost_shares(summary)
    ]
    untouched, lost = f"None for {plural(others, 'other user')}", metrics_lost(summary)
    if not lost:
        return Fact("At what cost", untouched, ("Their lists are as they were", *costs))
    answer = f"{chosen_groups(summary).capitalize()} lost in {with_and(lost)}"
    return Fact("At what cost", answer, (*costs, f"{untouched}: lists as they were"), "worse")


GROUPS_SHOWN = 20
ITEMS_SHOWN = 8


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
    facts, slopes, strips : the same to look at
    """

    headline: str
    stamps: tuple[str, ...]
    said: tuple[str, ...]
    effects: TableView
    gaps: TableView
    groups: TableView
    harmed: TableView
    exposure: TableView
    trade_offs: tuple[TradeOff, ...]
    notes: tuple[str, ...]
    reproduce: str
    facts: tuple[Fact, ...] = ()
    slopes: tuple[Slope, ...] = ()
    strips: Strips | None = None

    @property
    def tables(self) -> tuple[TableView, ...]:
        """Those with rows, in order."""
        named = (self.effects, self.gaps, self.groups, self.harmed, self.exposure)
        return tuple(table for table in named if table.rows)


def build_mitigation_view(summary: MitigationSummary) -> MitigationView:
    """The view of a mitigation."""
    notes = [plain(note, LONGEST_LINE) for note in summary.notes]
    return MitigationView(
        headline=headline(summary),
        stamps=(*stamps(summary), *(note for note in notes if note.startswith(CHECK_FIRST))),
        said=sentences(summary),
        effects=_effects(summary),
        gaps=_gaps(summary),
        groups=_groups(summary),
        harmed=_harmed(summary),
        exposure=_exposure(summary),
        trade_offs=_trade_offs(summary),
        notes=tuple(note for note in notes if not note.startswith(CHECK_FIRST)),
        reproduce=(
            f"{plain(summary.command, LONGEST_LINE)}  (FairRec {summary.fairrec_version}, "
            f"seed {summary.seed})"
        ),
        facts=facts(summary),
        slopes=slopes(summary),
        strips=strips(summary),
    )


def _effects(summary: MitigationSummary) -> TableView:
    targets = "the targets reported on" if summary.n_shared_targets else "held-out targets"
    rows = []
    for name, effect in summary.effects.items():
        named = f"{plain(name)} (distance)" if effect.is_distance else plain(name)
        rows.append((named, "chosen groups", *_cells(effect.chosen)))
        rows.append((plain(name), "all others", *_cells(effect.others)))
        rows.append((plain(name), "all users", *_cells(effect.everyone)))
    return TableView(
        title=f"Before and after, on {targets}",
        columns=("metric", "users", *_columns(summary)),
        numeric=(False, False, *(True,) * 6, False),
        rows=tuple(rows),
    )


def _columns(summary: MitigationSummary) -> tuple[str, ...]:
    """What `_cells` fills."""
    interval = f"{100 * (1 - summary.alpha):.3g}% CI"
    return ("n", "before", "after", "change", interval, "p", "verdict")


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
    rows = [
        (
            plain(name),
            number(effect.gap.before),
            _chance(effect.gap.chance_before),
            number(effect.gap.after),
            _chance(effect.gap.chance_after),
        )
        for name, effect in summary.effects.items()
        if effect.gap.before is not None
    ]
    return TableView(
        title="Gap between the best and the worst served intersection of all attributes",
        columns=("metric", "gap before", "chance alone", "gap after", "chance alone, after"),
        numeric=(False, True, False, True, False),
        rows=tuple(rows),
        note=(
            "Chance alone: the mean of the null distribution, attributes permuted across users, "
            "and the p-value of the gap."
        ),
    )


def _chance(chance: Chance | None) -> str:
    if chance is None:
        return "not tested"
    return f"{number(chance.mean)}, {p_of_gap(chance)}"


def _groups(summary: MitigationSummary) -> TableView:
    n_more = max(0, len(summary.groups) - GROUPS_SHOWN)
    return TableView(
        title=f"Re-ranked groups, {plain(summary.metric)}",
        columns=("group", "chosen by", *_columns(summary)),
        numeric=(False, *(True,) * 7, False),
        rows=tuple(
            (
                group_label(group.group),
                number(group.chosen_by),
                *_cells(group.change),
            )
            for group in summary.groups[:GROUPS_SHOWN]
        ),
        note=" ".join(
            [f"and {n_more:,} more in mitigation.json."] * bool(n_more)
            + ["CI (confidence interval) and p: for one group at a time, not adjusted."]
        ),
    )


def _harmed(summary: MitigationSummary) -> TableView:
    return TableView(
        title="Groups that became significantly worse",
        columns=("metric", "group", *_columns(summary)),
        numeric=(False, False, *(True,) * 6, False),
        rows=tuple(
            (plain(harm.metric), group_label(harm.group), *_cells(harm.change))
            for harm in summary.harmed
        ),
        note=(
            f"Family-wise error rate {summary.alpha:g} over all groups and metrics (Holm); CI "
            "(confidence interval) and p are those of the group by itself."
        ),
    )


def _exposure(summary: MitigationSummary) -> TableView:
    n_more = max(0, len(summary.exposure) - ITEMS_SHOWN)
    return TableView(
        title=f"What is shown: attention of the first {summary.k} places, by groups of items",
        columns=("items", "n", "of all items", *_columns(summary)[1:]),
        numeric=(False, *(True,) * 7, False),
        rows=tuple(
            (
                group_label(one.group),
                f"{one.n_items:,}",
                percent(one.share_of_items),
                *_cells(one.change)[1:],
            )
            for one in summary.exposure[:ITEMS_SHOWN]
        ),
        note=" ".join(
            [f"and {n_more:,} more in mitigation.json."] * bool(n_more)
            + [
                "The share of a list's attention (1/log2(rank + 1)) that goes to them, mean over "
                "the users reported on, each before and after. Verdicts are adjusted for all "
                "groups of items (Holm); CI and p are for one at a time."
            ]
        ),
    )


def _trade_offs(summary: MitigationSummary) -> tuple[TradeOff, ...]:
    where = (
        ("validation targets, tuned on", "test targets")
        if summary.protocol == "validation targets"
        else ("half tuned on", "held-out half")
    )
    target = summary.effects[summary.metric]
    drawn = []
    for is_target, parts in (
        (True, (("tuned", where[0]), ("reported", where[1]))),
        (
            False,
            (("tuned_cost", where[0]), ("reported_cost", where[1]), ("everyone_cost", "all users")),
        ),
    ):
        name = summary.metric if is_target else summary.cost_metric
        if name is None or (not is_target and name == summary.metric):
            continue
        lines = tuple(
            TradeOffLine(point.strength, value, who)
            for field, who in parts
            for point in summary.trade_off
            if (value := getattr(point, field)) is not None
        )
        if lines:
            label = target_name(summary, target) if is_target else plain(name)
            drawn.append(TradeOff(label, is_target, summary.strength, lines, _spoken(label, lines)))
    return tuple(drawn)


def _spoken(metric: str, lines: tuple[TradeOffLine, ...]) -> str:
    """A chart in a sentence."""
    parts = []
    for who in dict.fromkeys(line.who for line in lines):
        mine = [line for line in lines if line.who == who]
        parts.append(f"{number(mine[0].value)} to {number(mine[-1].value)} ({who})")
    first, last = lines[0].strength, max(line.strength for line in lines)
    return f"From strength {first:g} to {last:g}, {metric} goes from {'; '.join(parts)}."
