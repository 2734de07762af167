"""A mitigation in four facts: who, how much, how sure, and at what cost to all others."""

from __future__ import annotations

from dataclasses import dataclass

from fairrec.core.errors import plain
from fairrec.report.mitigation.words import (
    Tone,
    chosen_groups,
    cost_shares,
    in_words,
    metrics_lost,
    reported_targets,
    share_words,
    standing,
    tone_of,
)
from fairrec.report.words import (
    confidence,
    group_label,
    number,
    p_value,
    plural,
    signed,
    with_and,
)
from fairrec.result.metric_schema import Change
from fairrec.result.mitigation_schema import MitigationSummary

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
