"""What a mitigation did, in sentences: the most important first."""

from __future__ import annotations

from typing import Literal

from fairrec.core.errors import plain
from fairrec.metrics.direction import harm
from fairrec.mitigation.result import (
    DetectableChange,
    MetricEffect,
    MitigationSummary,
    Outcome,
)
from fairrec.report.metric_words import format_gap_p_value
from fairrec.report.words import (
    MINUS,
    number,
    p_is,
    p_value,
    plural,
)
from fairrec.result.metric_schema import Chance, Change

Tone = Literal["better", "worse", "neutral"]
_TONES: dict[Outcome, Tone] = {"improved": "better", "worse": "worse"}


def find_tone(verdict: Outcome) -> Tone:
    """The colour of a change: only what is shown to be better or worse has one."""
    return _TONES.get(verdict, "neutral")


def sentences(summary: MitigationSummary) -> tuple[str, ...]:
    """All that is said below the headline."""
    target, lost = summary.effects[summary.metric], ", ".join(metrics_lost(summary))
    said = (
        _protocol(summary),
        _side(target),
        _regression(summary, target),
        _gap(summary, target),
        _cost(summary),
        f"Significantly worse for {chosen_groups(summary)}: {lost}." if lost else "",
        f"The lists of {plural(target.others.n_users, 'other user')} are as they were.",
        _harm(summary),
    )
    return tuple(filter(None, said))


def target_name(summary: MitigationSummary, target: MetricEffect) -> str:
    """The metric, or the distance it is judged by."""
    return distance_name(summary.metric) if target.is_distance else plain(summary.metric)


def distance_name(metric: str) -> str:
    """What groups are judged by where neither end of a metric is better."""
    return f"distance in {plain(metric)} from all others"


def chosen_groups(summary: MitigationSummary) -> str:
    """Whom it was for: one group, or several."""
    return "the chosen group" if len(summary.groups) == 1 else "the chosen groups"


def headline(summary: MitigationSummary) -> str:
    """The outcome, and where it leaves the chosen groups beside all others."""
    target = summary.effects[summary.metric]
    change = target.chosen
    name = target_name(summary, target)
    n_groups = len(summary.groups)
    who = "chosen group" if n_groups == 1 else f"{n_groups:,} chosen groups"
    if change.before is None or change.after is None or change.change is None:
        return f"The {name} of the {who} is undefined for everyone reported on."
    if summary.strength == 0:
        said = f"Nothing was changed: the {name} of the {who} is {number(change.before)}."
    else:
        said = f"The {name} of the {who} went from {number(change.before)} to "
        said += f"{number(change.after)}, {_outcome(summary, target)}."
    return " ".join(filter(None, (said, standing(summary))))


def _outcome(summary: MitigationSummary, target: MetricEffect) -> str:
    return {
        "improved": "a significant improvement",
        "worse": "significantly worse",
        "changed": "a significant change",
        "not significant": "a change that is not significant",
        "unchanged": "so it did not change",
        "turned round": "and the order turned round",
        "gap grew": "further from all others than before",
        "intersections further apart": (
            "but the gap between the best and the worst intersection of all attributes went "
            f"from {_gap_with_p(target.gap.before, target.gap.chance_before)} to "
            f"{_gap_with_p(target.gap.after, target.gap.chance_after)}"
        ),
    }[summary.outcome]


def _gap_with_p(gap: float | None, chance: Chance | None) -> str:
    return f"{number(gap)} ({format_gap_p_value(chance)})" if chance else number(gap)


def stamps(summary: MitigationSummary) -> tuple[str, ...]:
    """What must not be overlooked."""
    found = []
    if summary.is_upper_bound:
        found.append(
            f"UPPER BOUND: the re-ranker '{summary.reranker}' saw the labels. It shows how much "
            "there is to gain and cannot be used."
        )
    if summary.n_shared_targets:
        found.append(
            f"SAME TARGETS: {plural(summary.n_shared_targets, 'target')} to choose by are among "
            "those reported on, so groups are judged by what they were chosen by, and part of any "
            "improvement is regression to the mean."
        )
    return tuple(found)


def _protocol(summary: MitigationSummary) -> str:
    how = "tuned" if summary.is_tuned else "given"
    strength = f"strength {summary.strength:g} ({how})"
    reranker = f"Re-ranked by {summary.reranker}: {summary.about}, {strength}."
    if summary.protocol == "validation targets":
        return (
            f"{reranker} Groups ({plain(summary.rule)}) were chosen on the validation targets of "
            f"{plural(summary.n_users_choosing, 'user')}; all numbers are from the "
            f"{reported_targets(summary)}."
        )
    return (
        f"{reranker} Groups ({plain(summary.rule)}) were chosen on one half of the users "
        f"({summary.n_users_choosing:,}); all numbers are from the held-out half "
        f"({summary.n_users_reported:,})."
    )


def reported_targets(summary: MitigationSummary) -> str:
    """Those reported on; not held out where some of them were chosen by."""
    return "test targets" if summary.n_shared_targets else "held-out test targets"


def standing(summary: MitigationSummary) -> str:
    """How far the chosen groups are from the others, before and after, and how sure that is."""
    target, gap = summary.effects[summary.metric], summary.to_others
    if gap.before is None or gap.after is None or gap.p_before is None or gap.p_after is None:
        return ""
    was, now = (p_is(p_value(p)) for p in (gap.p_before, gap.p_after))
    if target.is_distance:
        return f"That there is no distance has {was} before and {now} after."
    is_one = len(summary.groups) == 1
    first = f"{'was' if is_one else 'were'} {_place(gap.before)} ({was})"
    last = f"{'is' if is_one else 'are'} {_place(gap.after)} ({now})"
    others = number(target.others.before)
    return f"All others have {others}: {chosen_groups(summary)} {first} and {last}."


def _place(behind: float) -> str:
    return f"{'ahead' if behind < 0 else 'behind'} by {number(abs(behind))}"


def _side(target: MetricEffect) -> str:
    """What is to be known of a distance where it is not as one would expect."""
    change = target.chosen
    if not target.is_distance or change.before is None or change.after is None:
        return ""
    said = []
    if min(change.before, change.after) < 0:
        said.append(
            "A distance below 0 lies beyond the others: the groups are on the other side than "
            "where they were chosen."
        )
    if change.verdict == "changed":
        said.append("That the groups are nearer to the others than before is not shown.")
    return " ".join(said)


def is_worse_than(value: float, others: float, higher_is_better: bool | None) -> bool:
    """Whether a value is on the bad side of that of all others, by chance or not."""
    return harm(value - others, bool(higher_is_better)) > 0


def _regression(summary: MitigationSummary, target: MetricEffect) -> str:
    seen = summary.regression
    if seen.chosen_by is None or seen.fresh is None:
        return ""
    is_validation = summary.protocol == "validation targets"
    fresh = f"the {reported_targets(summary)}" if is_validation else "held-out users"
    said = (
        f"Without any re-ranking the {target_name(summary, target)} of {chosen_groups(summary)} "
        f"is {number(seen.chosen_by)} where they were chosen and {number(seen.fresh)} on {fresh}"
    )
    if not target.is_distance and None not in (seen.others_chosen_by, seen.others_fresh):
        said += f" (all others: {number(seen.others_chosen_by)} and {number(seen.others_fresh)})"
    higher_is_better = target.higher_is_better if not target.is_distance else False
    moved_up = is_worse_than(seen.chosen_by, seen.fresh, higher_is_better)
    if not (summary.rule.startswith("worst:") and moved_up):
        return f"{said}. That difference is no effect of the re-ranking."
    return (
        f"{said}. That difference is no effect of the re-ranking: groups that were chosen as the "
        "worst regress to the mean by themselves."
    )


def _gap(summary: MitigationSummary, target: MetricEffect) -> str:
    """Whether there was a gap beyond chance to begin with."""
    gap = target.gap
    if summary.outcome == "intersections further apart":
        return ""  # the headline has it
    if gap.before is None or gap.after is None or not (gap.chance_before and gap.chance_after):
        return ""
    before, after = gap.chance_before.p_value, gap.chance_after.p_value
    beyond = {True: "more than chance explains", False: "no more than chance explains"}
    return (
        f"The gap in {plain(summary.metric)} between the best and the worst intersection of all "
        f"attributes was {number(gap.before)} ({beyond[before <= summary.alpha]}, "
        f"{format_gap_p_value(gap.chance_before)}) and is "
        f"{number(gap.after)} ({beyond[after <= summary.alpha]}, "
        f"{format_gap_p_value(gap.chance_after)})."
    )


def cost_shares(summary: MitigationSummary) -> list[tuple[str, float, Change]]:
    """Whose cost metric changed by which share of it; nothing where that is no share."""
    if summary.cost_metric is None or summary.cost_metric == summary.metric:
        return []
    effect = summary.effects[summary.cost_metric]
    shares = []
    whose = ((chosen_groups(summary), effect.chosen), ("all users", effect.everyone))
    for who, change in whose:
        if change.before is None or change.change is None or not change.before:
            return []
        shares.append((who, change.change / change.before, change))
    return shares


def share_words(share: float) -> str:
    """A change as a share of what there was."""
    return f"{100 * share:+.2f}%".replace("-", MINUS)


def _cost(summary: MitigationSummary) -> str:
    shares = cost_shares(summary)
    if not shares:
        return ""
    said = " and ".join(
        f"{share_words(share)} for {who} ({significance(change)})" for who, share, change in shares
    )
    _, of_chosen, _ = shares[0]
    more = (
        f" For {chosen_groups(summary)} that is more than the {100 * summary.max_loss:g}% allowed "
        "where the strength was tuned."
        if summary.is_tuned and -of_chosen > summary.max_loss
        else ""
    )
    return f"{plain(summary.cost_metric)} changed by {said}.{more}"


def metrics_lost(summary: MitigationSummary) -> list[str]:
    """The metrics that the chosen groups together lost by."""
    effects = summary.effects.items()
    return [plain(name) for name, effect in effects if effect.chosen.verdict == "worse"]


def significance(change: Change) -> str:
    """Whether a change is significant."""
    words = {"not significant": "not significant", "unchanged": "no change"}
    return words.get(change.verdict, "significant")


def _harm(summary: MitigationSummary) -> str:
    worse = {name: effect.groups.worse for name, effect in summary.effects.items()}
    if not summary.n_group_tests:
        return ""
    tests = f"adjusted for {plural(summary.n_group_tests, 'comparison')}"
    if not any(worse.values()):
        none = f"No single group could be shown to have become worse in any metric ({tests})."
        target = summary.effects[summary.metric]
        n_groups = target.detectable.n_groups
        if not n_groups or target.higher_is_better is None:
            return none
        changed = f"{plural(n_groups, 'group')} contain re-ranked users."
        return f"{none} {changed} {detectable_loss(target.detectable)}"
    parts = ", ".join(f"{plural(n, 'group')} in {plain(name)}" for name, n in worse.items() if n)
    return f"Single groups that became significantly worse ({tests}): {parts}."


def detectable_loss(seen: DetectableChange) -> str:
    """In how many groups a loss could have been shown, and how large a one."""
    n_seeing = seen.n_groups - seen.n_blind
    if not n_seeing:
        return "In each of them too few users changed for any loss to be shown."
    loss = f"a loss of {number(seen.least_shown)} would have been shown in half of"
    if not seen.n_blind:
        return f"A{loss[1:]} them."
    return (
        f"In {seen.n_blind:,} of them too few users changed for any loss to be shown; {loss} the "
        f"other {n_seeing:,}."
    )
