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
                    _standing(summary, target),
                    _regression(summary, target),
                    _gap(summary, target),
                    _cost(summary),
                    _worse(summary),
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
    if summary.n_shared_targets:
        stamps.append(
            f"SAME TARGETS: {plural(summary.n_shared_targets, 'target')} to choose by are among "
            "those reported on, so groups are judged by what they were chosen by, and part of any "
            "improvement is regression to the mean."
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


def _standing(summary: MitigationSummary, target: MetricEffect) -> str:
    """Where the chosen groups stand beside the others, on the targets reported on."""
    change, others = target.chosen, summary.regression.others_fresh
    if target.is_distance or change.before is None or change.after is None or others is None:
        return ""
    was_worse = _is_worse(change.before, others, target.higher_is_better)
    is_worse = _is_worse(change.after, others, target.higher_is_better)
    said = (
        f"All others have {number(others)} there: the chosen groups are served "
        f"{'worse' if was_worse else 'no worse'} than they are"
    )
    if was_worse and not is_worse:
        return f"{said} before, and no worse after."
    return f"{said} before{' and after' if was_worse == is_worse else ', and worse after'}."


def _is_worse(value: float, others: float, higher_is_better: bool | None) -> bool:
    return value < others if higher_is_better else value > others


def _regression(summary: MitigationSummary, target: MetricEffect) -> str:
    seen = summary.regression
    if seen.chosen_by is None or seen.fresh is None:
        return ""
    is_validation = summary.protocol == "validation targets"
    fresh = "the test targets" if is_validation else "users not chosen by"
    said = (
        f"Without any re-ranking the {_target_name(summary, target)} of these groups is "
        f"{number(seen.chosen_by)} where they were chosen and {number(seen.fresh)} on {fresh}"
    )
    if not target.is_distance and None not in (seen.others_chosen_by, seen.others_fresh):
        said += f" (all others: {number(seen.others_chosen_by)} and {number(seen.others_fresh)})"
    higher_is_better = target.higher_is_better if not target.is_distance else False
    moved_up = _is_worse(seen.chosen_by, seen.fresh, higher_is_better)
    if not (summary.rule.startswith("worst:") and moved_up):
        return f"{said}. That difference is no effect of the re-ranking."
    return (
        f"{said}. That difference is no effect of the re-ranking: groups that were chosen as the "
        "worst regress to the mean by themselves."
    )


def _gap(summary: MitigationSummary, target: MetricEffect) -> str:
    """Whether there was a gap beyond chance to begin with."""
    gap = target.gap
    if gap.before is None or gap.after is None or not (gap.chance_before and gap.chance_after):
        return ""
    before, after = gap.chance_before.p_value, gap.chance_after.p_value
    beyond = {True: "more than chance explains", False: "no more than chance explains"}
    return (
        f"The gap in {plain(summary.metric)} between the best and the worst full combination was "
        f"{number(gap.before)} ({beyond[before <= summary.alpha]}, p = {p_value(before)}) and is "
        f"{number(gap.after)} ({beyond[after <= summary.alpha]}, p = {p_value(after)})."
    )


def _cost(summary: MitigationSummary) -> str:
    if summary.cost_metric is None or summary.cost_metric == summary.metric:
        return ""
    effect = summary.effects[summary.cost_metric]
    shares = []
    for who, change in (("the chosen groups", effect.chosen), ("all users", effect.everyone)):
        if change.before is None or change.change is None or not change.before:
            return ""
        share = change.change / change.before
        shares.append(f"{100 * share:+.2f}% for {who} ({_in_words(change)})")
    lost = -(effect.chosen.change or 0.0) / (effect.chosen.before or 1.0)
    more = (
        f" For the chosen groups that is more than the {100 * summary.max_loss:g}% allowed where "
        "the strength was tuned."
        if summary.is_tuned and lost > summary.max_loss
        else ""
    )
    return f"{plain(summary.cost_metric)} changed by {' and '.join(shares)}.{more}"


def _worse(summary: MitigationSummary) -> str:
    """The metrics the chosen groups lost by."""
    lost = [
        plain(name) for name, effect in summary.effects.items() if effect.chosen.verdict == "worse"
    ]
    return f"Worse for the chosen groups by more than noise: {', '.join(lost)}." if lost else ""


def _untouched(summary: MitigationSummary) -> str:
    n_others = summary.effects[summary.metric].others.n_users
    return f"The lists of {plural(n_others, 'other user')} are as they were."


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
    tests = f"adjusted for {plural(summary.n_group_tests, 'comparison')}"
    if not any(worse.values()):
        return f"No single group could be shown to have become worse in any metric ({tests})."
    parts = ", ".join(f"{plural(n, 'group')} in {plain(name)}" for name, n in worse.items() if n)
    return f"Single groups that became worse by more than noise ({tests}): {parts}."


def _effects(summary: MitigationSummary) -> TableView:
    rows = []
    for name, effect in summary.effects.items():
        named = f"{plain(name)} (distance)" if effect.is_distance else plain(name)
        rows.append((named, "chosen groups", *_cells(effect.chosen)))
        if effect.lowered is not None:
            rows.append((plain(name), "groups served worse on purpose", *_cells(effect.lowered)))
        rows.append((plain(name), "all users", *_cells(effect.everyone)))
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
        columns=("metric", "gap before", "chance alone", "gap after", "chance alone, after"),
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
        note="Chosen by p-values adjusted for all of them; p is that of the group by itself.",
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
