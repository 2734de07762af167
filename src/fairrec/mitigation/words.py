"""A mitigation in words: its answer, sentences and tables."""

from __future__ import annotations

from dataclasses import replace

from fairrec.core.errors import plain
from fairrec.inputs.notes import CHECK_FIRST
from fairrec.mitigation.result import MetricEffect, MitigationSummary, Outcome
from fairrec.report.answer import Answer, AnswerTable, Block, Note, Row, Served, Tone
from fairrec.report.metric_words import format_gap_p_value
from fairrec.report.text import write_markdown
from fairrec.report.view import LONGEST_LINE
from fairrec.report.words import (
    MINUS,
    TableView,
    confidence,
    group_label,
    number,
    numbers,
    p_is,
    p_value,
    plural,
    signed_interval,
    with_sign,
)
from fairrec.result.metric_schema import Change

GROUPS_NAMED = 2
GROUPS_SHOWN = 20
_TONES: dict[Outcome, Tone] = {"improved": "clear", "worse": "found"}
_SERVED: dict[str, Served] = {"improved": "better", "worse": "worse", "changed": "differs"}
_OUTCOMES: dict[Outcome, str] = {
    "improved": "a significant improvement",
    "worse": "significantly worse",
    "changed": "a significant change",
    "not significant": "a change that is not significant",
    "unchanged": "so it did not change",
    "turned round": "and the order turned round",
    "gap grew": "further from all others than before",
}


def mitigation_answer(summary: MitigationSummary) -> Answer:
    """The outcome, and every metric before and after."""
    protocol, *others = sentences(summary)
    return Answer(
        tone=_TONES.get(summary.outcome, "open"),
        headline=headline(summary),
        about=(_about(summary), protocol),
        notes=notes(summary),
        table=_answer_table(summary),
        others=tuple(others),
    )


def mitigation_markdown(summary: MitigationSummary) -> str:
    """A mitigation as Markdown."""
    answer = replace(mitigation_answer(summary), about=(), others=())
    command = plain(summary.command, LONGEST_LINE)
    reproduce = f"{command}  # FairRec {summary.fairrec_version}, seed {summary.seed}"
    return write_markdown(
        "FairRec mitigation", answer, sentences(summary), tables(summary), reproduce
    )


def target_name(summary: MitigationSummary) -> str:
    """The metric, or the distance that groups are judged by."""
    name, is_distance = plain(summary.metric), summary.effects[summary.metric].is_distance
    return f"distance in {name} from all others" if is_distance else name


def _groups_name(summary: MitigationSummary) -> str:
    return "the chosen group" if len(summary.groups) == 1 else "the chosen groups"


def headline(summary: MitigationSummary) -> str:
    """The outcome, and where it leaves the chosen groups beside all others."""
    change, n_groups = summary.effects[summary.metric].chosen, len(summary.groups)
    groups = "chosen group" if n_groups == 1 else f"{n_groups:,} chosen groups"
    subject = f"{target_name(summary)} of the {groups}"
    if change.before is None or change.after is None:
        return f"The {subject} is undefined for everyone reported on."
    if summary.strength == 0:
        moved = f"Nothing was changed: the {subject} is {number(change.before)}."
    else:
        moved = (
            f"The {subject} went from {number(change.before)} to {number(change.after)}, "
            f"{_OUTCOMES[summary.outcome]}."
        )
    return " ".join(filter(None, (moved, _beside_others(summary))))


def _beside_others(summary: MitigationSummary) -> str:
    """How far the chosen groups are from the others, before and after, with p-values."""
    target, gap = summary.effects[summary.metric], summary.to_others
    if gap.before is None or gap.after is None or gap.p_before is None or gap.p_after is None:
        return ""
    p_before, p_after = (p_is(p_value(p)) for p in (gap.p_before, gap.p_after))
    if target.is_distance:
        return f"Test of no distance: {p_before} before and {p_after} after."
    return (
        f"Gap to all others ({number(target.others.before)}): {_place(gap.before)} ({p_before}) "
        f"before, {_place(gap.after)} ({p_after}) after."
    )


def _place(behind: float) -> str:
    return f"{'ahead' if behind < 0 else 'behind'} by {number(abs(behind))}"


def _about(summary: MitigationSummary) -> str:
    labels = [group_label(group.group) for group in summary.groups]
    named, more = " · ".join(labels[:GROUPS_NAMED]), len(labels) - GROUPS_NAMED
    also = f" · and {more:,} more" if more > 0 else ""
    n_users = summary.effects[summary.metric].chosen.n_users
    return (
        f"{plural(len(labels), 'chosen group')}: {named}{also}; {n_users:,} of "
        f"{plural(summary.n_users_reported, 'user')} ({plain(summary.rule)})"
    )


def notes(summary: MitigationSummary) -> tuple[Note, ...]:
    """What must not be overlooked, then what is out of the ordinary."""
    found = []
    if summary.n_shared_targets:
        found.append(
            Note(
                "warning",
                f"SAME TARGETS: {plural(summary.n_shared_targets, 'target')} to choose by are "
                "among those reported on, so groups are judged by what they were chosen by, and "
                "part of any improvement is regression to the mean.",
            )
        )
    for note in summary.notes:
        kind = "check" if note.startswith(CHECK_FIRST) else "note"
        found.append(Note(kind, plain(note.removeprefix(CHECK_FIRST), LONGEST_LINE)))
    return tuple(found)


def sentences(summary: MitigationSummary) -> tuple[str, ...]:
    """All sentences below the headline; the first says how groups were chosen and measured."""
    target = summary.effects[summary.metric]
    worse = [plain(name) for name, effect in summary.effects.items() if _is_worse(effect)]
    found = (
        _protocol(summary),
        "A distance is positive on the side of all others where a group was chosen, and negative "
        "beyond them."
        if target.is_distance
        else "",
        _regression(summary),
        _gap(summary),
        _cost(summary),
        f"Significantly worse for {_groups_name(summary)}: {', '.join(worse)}." if worse else "",
        f"The lists of {plural(target.others.n_users, 'other user')} are unchanged.",
        _harm(summary),
    )
    return tuple(filter(None, found))


def _is_worse(effect: MetricEffect) -> bool:
    return effect.chosen.verdict == "worse"


def _protocol(summary: MitigationSummary) -> str:
    how = "tuned" if summary.is_tuned else "given"
    where, reported = "one half of the users", "the held-out half"
    if summary.protocol == "validation targets":
        held_out = "test targets" if summary.n_shared_targets else "held-out test targets"
        where, reported = "the validation targets", f"the {held_out}"
    return (
        f"Re-ranked by {summary.reranker}: {summary.about}, strength {summary.strength:g} ({how}). "
        f"Groups ({plain(summary.rule)}) were chosen on {where} "
        f"({plural(summary.n_users_choosing, 'user')}); all numbers are from {reported} "
        f"({plural(summary.n_users_reported, 'user')})."
    )


def _regression(summary: MitigationSummary) -> str:
    means = summary.regression
    if means.chosen_by is None or means.fresh is None:
        return ""
    others = ""
    if means.others_chosen_by is not None and means.others_fresh is not None:
        others = f" (all others: {number(means.others_chosen_by)} and {number(means.others_fresh)})"
    half = summary.protocol != "validation targets"
    where, held_out = (
        ("selection half", "held-out half") if half else ("validation targets", "held-out targets")
    )
    return (
        f"Before re-ranking, {target_name(summary)} of {_groups_name(summary)} was "
        f"{number(means.chosen_by)} on the {where} and {number(means.fresh)} on the "
        f"{held_out}{others}. That difference is regression to the mean or chance, and no "
        "effect of the re-ranking."
    )


def _gap(summary: MitigationSummary) -> str:
    """The gap between intersections, where it was tested."""
    gap = summary.effects[summary.metric].gap
    if gap.before is None or gap.after is None or not (gap.chance_before and gap.chance_after):
        return ""
    before, after = format_gap_p_value(gap.chance_before), format_gap_p_value(gap.chance_after)
    return (
        f"The gap in {plain(summary.metric)} between the best and the worst intersection of all "
        f"attributes was {number(gap.before)} ({before}) and is {number(gap.after)} ({after})."
    )


def _cost(summary: MitigationSummary) -> str:
    """The relative change of accuracy, in the chosen groups and for everyone."""
    if summary.cost_metric in (None, summary.metric):
        return ""
    effect = summary.effects[summary.cost_metric]
    chosen, everyone = _relative_change(effect.chosen), _relative_change(effect.everyone)
    if not chosen or not everyone:
        return ""
    return (
        f"{plain(summary.cost_metric)} changed by {chosen} for {_groups_name(summary)} and "
        f"{everyone} for all users."
    )


def _relative_change(change: Change) -> str:
    if not change.before or change.change is None:
        return ""
    share = f"{100 * change.change / change.before:+.2f}%".replace("-", MINUS)
    is_significant = change.verdict in _SERVED
    return f"{share} ({change.verdict if not is_significant else 'significant'})"


def _harm(summary: MitigationSummary) -> str:
    if not summary.n_group_tests:
        return ""
    tests = f"adjusted for {plural(summary.n_group_tests, 'comparison')}"
    worse = ", ".join(
        f"{plural(effect.n_groups_worse, 'group')} in {plain(name)}"
        for name, effect in summary.effects.items()
        if effect.n_groups_worse
    )
    if worse:
        return f"Single groups that became significantly worse ({tests}): {worse}."
    return (
        f"No single group became significantly worse in any metric ({tests}); the interval of "
        "each is in changes.parquet."
    )


def _answer_table(summary: MitigationSummary) -> AnswerTable:
    """The target and its cost for the chosen groups and everyone, others for the groups."""
    first = [name for name in (summary.metric, summary.cost_metric) if name in summary.effects]
    blocks = []
    for name in dict.fromkeys([*first, *summary.effects]):
        effect = summary.effects[name]
        rows = [("chosen", effect.chosen)]
        if name in first:
            rows.append(("all", effect.everyone))
        blocks.append(
            Block(
                plain(name),
                tuple(
                    Row(
                        users, (*_change_cells(change), change.verdict), _SERVED.get(change.verdict)
                    )
                    for users, change in rows
                ),
                "",
            )
        )
    interval = f"{confidence(summary.alpha)} interval"
    columns = ("metric", "before", "after", "change", interval, "verdict")
    return AnswerTable(columns, (False, *(True,) * 4, False), tuple(blocks))


def _change_cells(change: Change) -> tuple[str, str, str, str]:
    """Before, after, change and its interval."""
    before, after = numbers(change.before, change.after)
    if change.change is None:
        return before, after, "-", "-"
    if change.verdict == "unchanged":
        return before, after, "0", "-"
    ends = change.interval or ()
    interval = signed_interval(*ends, change.change) if change.interval else "-"
    return before, after, with_sign(numbers(change.change, *ends)[0]), interval


def tables(summary: MitigationSummary) -> tuple[TableView, ...]:
    """The chosen groups, and groups that became worse where there are any."""
    return (_groups(summary), *([_harmed(summary)] if summary.harmed else []))


def _row(change: Change) -> tuple[str, ...]:
    p = "-" if change.p_value is None or change.verdict == "unchanged" else p_value(change.p_value)
    return f"{change.n_users:,}", *_change_cells(change), p, change.verdict


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
    columns : those before the ones that `_row` fills -> whether they are numbers
    """
    interval = f"{confidence(summary.alpha)} CI"
    columns |= dict.fromkeys(("n", "before", "after", "change", interval, "p"), True)
    columns["verdict"] = False
    return TableView(title, tuple(columns), tuple(columns.values()), tuple(rows), note)


def _groups(summary: MitigationSummary) -> TableView:
    rows = [
        (group_label(group.group), number(group.chosen_by), *_row(group.change))
        for group in summary.groups[:GROUPS_SHOWN]
    ]
    n_more = len(summary.groups) - GROUPS_SHOWN
    more = f"and {n_more:,} more in mitigation.json. " if n_more > 0 else ""
    note = f"{more}CI (confidence interval) and p: for one group at a time, not adjusted."
    title = f"Re-ranked groups, {plain(summary.metric)}"
    return _table(summary, title, {"group": False, "value at selection": True}, rows, note)


def _harmed(summary: MitigationSummary) -> TableView:
    rows = [
        (plain(harm.metric), group_label(harm.group), *_row(harm.change)) for harm in summary.harmed
    ]
    note = (
        f"Family-wise error rate {summary.alpha:g} over all groups and metrics (Holm); CI "
        "(confidence interval) and p are those of the group by itself."
    )
    title = "Groups that became significantly worse"
    return _table(summary, title, {"metric": False, "group": False}, rows, note)
