"""A mitigation in words and tables: what the terminal, Markdown and the page say about it."""

from __future__ import annotations

from dataclasses import dataclass

from fairrec.errors import plain
from fairrec.report.view import LONGEST_LINE, TableView
from fairrec.report.words import group_label, number, p_value, plural, signed
from fairrec.result.mitigation_schema import Change, MetricEffect, MitigationSummary
from fairrec.result.schema import Chance

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
    """

    headline: str
    stamps: tuple[str, ...]
    said: tuple[str, ...]
    effects: TableView
    gaps: TableView
    groups: TableView
    harmed: TableView
    trade_offs: tuple[TradeOff, ...]
    notes: tuple[str, ...]
    reproduce: str

    @property
    def tables(self) -> tuple[TableView, ...]:
        """Those with rows, in order."""
        named = (self.effects, self.gaps, self.groups, self.harmed)
        return tuple(table for table in named if table.rows)


def build_mitigation_view(summary: MitigationSummary) -> MitigationView:
    """The view of a mitigation."""
    target = summary.effects[summary.metric]
    return MitigationView(
        headline=_headline(summary, target),
        stamps=_stamps(summary),
        said=tuple(
            filter(
                None,
                (
                    _protocol(summary),
                    _regression(summary, target),
                    _cost(summary),
                    _untouched(summary),
                    _harm(summary),
                ),
            )
        ),
        effects=_effects(summary),
        gaps=_gaps(summary),
        groups=_groups(summary),
        harmed=_harmed(summary),
        trade_offs=_trade_offs(summary),
        notes=tuple(plain(note, LONGEST_LINE) for note in summary.notes),
        reproduce=(
            f"{plain(summary.command, LONGEST_LINE)}  (FairRec {summary.fairrec_version}, "
            f"seed {summary.seed})"
        ),
    )


def _target_name(summary: MitigationSummary, target: MetricEffect) -> str:
    name = plain(summary.metric)
    return f"distance in {name} from all others" if target.is_distance else name


def _n_raised(summary: MitigationSummary) -> int:
    return sum(not group.is_lowered for group in summary.groups)


def _headline(summary: MitigationSummary, target: MetricEffect) -> str:
    change = target.chosen
    name = _target_name(summary, target)
    who = plural(_n_raised(summary), "chosen group")
    if change.before is None or change.after is None or change.change is None:
        return f"The {name} of the {who} is undefined for everyone reported on."
    if summary.strength == 0:
        return f"Nothing was changed: the {name} of the {who} is {number(change.before)}."
    moved = f"The {name} of the {who} went from {number(change.before)} to {number(change.after)}"
    outcome = {
        "improved": "an improvement by more than noise",
        "worse": "worse by more than noise",
        "changed": "a change by more than noise",
        "within noise": "which is within noise",
        "unchanged": "so it did not change",
    }[change.verdict]
    return f"{moved}, {outcome}."


def _stamps(summary: MitigationSummary) -> tuple[str, ...]:
    stamps = []
    if summary.is_upper_bound:
        stamps.append(
            f"UPPER BOUND: the re-ranker '{summary.reranker}' saw the labels. It shows how much "
            "there is to gain and cannot be used."
        )
    if summary.allows_level_down:
        n_lowered = sum(group.is_lowered for group in summary.groups)
        stamps.append(
            f"LEVEL DOWN: {plural(n_lowered, 'group')} served best "
            f"{'is' if n_lowered == 1 else 'are'} served worse on purpose "
            "(--allow-level-down)."
        )
    return tuple(stamps)


def _protocol(summary: MitigationSummary) -> str:
    how = "tuned" if summary.is_tuned else "given"
    strength = f"strength {summary.strength:g} ({how})"
    reranker = f"Re-ranked by {summary.reranker}: {summary.about}, {strength}."
    if summary.protocol == "validation targets":
        return (
            f"{reranker} Groups ({plain(summary.rule)}) were chosen on the validation targets of "
            f"{plural(summary.n_users_choosing, 'user')}; all numbers are from the test targets."
        )
    return (
        f"{reranker} Groups ({plain(summary.rule)}) were chosen on one half of the users "
        f"({summary.n_users_choosing:,}); all numbers are from the other half "
        f"({summary.n_users_reported:,})."
    )


def _regression(summary: MitigationSummary, target: MetricEffect) -> str:
    seen = summary.regression
    if seen.chosen_by is None or seen.fresh is None:
        return ""
    fresh = (
        "the test targets" if summary.protocol == "validation targets" else "users not chosen by"
    )
    return (
        f"Without any re-ranking the {_target_name(summary, target)} of these groups is "
        f"{number(seen.chosen_by)} where they were chosen and {number(seen.fresh)} on {fresh}. "
        "That difference is no effect of the re-ranking (groups chosen as the worst regress to the "
        "mean), and is not counted as one."
    )


def _cost(summary: MitigationSummary) -> str:
    if summary.cost_metric is None or summary.cost_metric == summary.metric:
        return ""
    everyone = summary.effects[summary.cost_metric].everyone
    if everyone.before is None or everyone.change is None or not everyone.before:
        return ""
    return (
        f"{plain(summary.cost_metric)} of all users changed by "
        f"{100 * everyone.change / everyone.before:+.2f}% ({_in_words(everyone)})."
    )


def _untouched(summary: MitigationSummary) -> str:
    others = summary.effects[summary.metric].others
    if others.verdict != "unchanged":
        return ""
    return f"The lists of the other {plural(others.n_users, 'user')} are as they were."


def _in_words(change: Change) -> str:
    return {
        "improved": "more than noise",
        "worse": "more than noise",
        "changed": "more than noise",
        "within noise": "within noise",
        "unchanged": "no change",
    }[change.verdict]


def _harm(summary: MitigationSummary) -> str:
    worse = {name: effect.groups.worse for name, effect in summary.effects.items()}
    if not any(worse.values()):
        return (
            "No group of any depth became worse in any metric by more than noise (adjusted for all "
            "of them)."
        )
    parts = ", ".join(f"{plural(n, 'group')} in {plain(name)}" for name, n in worse.items() if n)
    return f"Became worse by more than noise: {parts}."


def _effects(summary: MitigationSummary) -> TableView:
    rows = []
    for name, effect in summary.effects.items():
        named = f"{plain(name)} (distance)" if effect.is_distance else plain(name)
        for who, change in (
            ("chosen groups", effect.chosen),
            ("everyone else", effect.others),
            ("all users", effect.everyone),
        ):
            # lists of others are untouched unless some groups are lowered
            if who != "everyone else" or change.verdict != "unchanged":
                label = named if who == "chosen groups" else plain(name)
                rows.append((label, who, *_cells(change)))
    return TableView(
        title="Before and after, on targets nothing was chosen by",
        columns=("metric", "users", "n", "before", "after", "change", "interval", "p", "verdict"),
        numeric=(False, False, *(True,) * 6, False),
        rows=tuple(rows),
    )


def _cells(change: Change) -> tuple[str, ...]:
    numbers = (f"{change.n_users:,}", number(change.before), number(change.after))
    if change.verdict == "unchanged":
        return (*numbers, "0", "-", "-", change.verdict)
    interval = "-"
    if change.interval is not None:
        interval = f"{signed(change.interval[0])} to {signed(change.interval[1])}"
    return (
        *numbers,
        "-" if change.change is None else signed(change.change),
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
        title="Gap between the best and the worst served full combination",
        columns=("metric", "gap before", "chance alone", "gap after", "chance alone "),
        numeric=(False, True, False, True, False),
        rows=tuple(rows),
    )


def _chance(chance: Chance | None) -> str:
    if chance is None:
        return "not tested"
    return f"{number(chance.mean)}, p = {p_value(chance.p_value)}"


def _groups(summary: MitigationSummary) -> TableView:
    n_more = max(0, len(summary.groups) - GROUPS_SHOWN)
    return TableView(
        title=f"Re-ranked groups, {plain(summary.metric)}",
        columns=(
            *("group", "chosen by", "n", "before", "after", "change", "interval", "p", "verdict"),
        ),
        numeric=(False, *(True,) * 7, False),
        rows=tuple(
            (
                group_label(group.group) + (" (served worse on purpose)" * group.is_lowered),
                number(group.chosen_by),
                *_cells(group.change),
            )
            for group in summary.groups[:GROUPS_SHOWN]
        ),
        note=" ".join(
            [f"and {n_more:,} more in mitigation.json."] * bool(n_more)
            + ["p-values of single groups are not adjusted for their number."]
        ),
    )


def _harmed(summary: MitigationSummary) -> TableView:
    return TableView(
        title="Groups that became worse by more than noise",
        columns=("metric", "group", "n", "before", "after", "change", "interval", "p", "verdict"),
        numeric=(False, False, *(True,) * 6, False),
        rows=tuple(
            (plain(harm.metric), group_label(harm.group), *_cells(harm.change))
            for harm in summary.harmed
        ),
    )


def _trade_offs(summary: MitigationSummary) -> tuple[TradeOff, ...]:
    where = (
        ("validation targets (tuned on)", "test targets")
        if summary.protocol == "validation targets"
        else ("half to choose by (tuned on)", "half reported on")
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
        label = _target_name(summary, target) if is_target else plain(name)
        drawn.append(TradeOff(label, is_target, summary.strength, lines, _spoken(label, lines)))
    return tuple(trade_off for trade_off in drawn if trade_off.lines)


def _spoken(metric: str, lines: tuple[TradeOffLine, ...]) -> str:
    """A chart in a sentence."""
    parts = []
    for who in dict.fromkeys(line.who for line in lines):
        mine = [line for line in lines if line.who == who]
        parts.append(f"{number(mine[0].value)} to {number(mine[-1].value)} ({who})")
    first, last = lines[0].strength, max(line.strength for line in lines)
    return f"From strength {first:g} to {last:g}, {metric} goes from {'; '.join(parts)}."
