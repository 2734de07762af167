"""A comparison in sentences: the answer first, then how it was come to."""

from __future__ import annotations

from fairrec.comparison.losses import LOSSES, Loss
from fairrec.comparison.result import (
    ComparedAudit,
    ComparisonSummary,
    MetricComparison,
)
from fairrec.core.audited_entity import Unit
from fairrec.core.errors import plain
from fairrec.core.options import Blank, spell_in
from fairrec.report.answer import Tone
from fairrec.report.metric_words import USUAL_SIZE
from fairrec.report.words import (
    confidence,
    group_label,
    number,
    numbers,
    plural,
    with_sign,
)
from fairrec.statistics.paired import ChangeVerdict

LONGEST_NAME = 120
_VERDICTS: dict[ChangeVerdict, str] = {
    "improved": "improved",
    "worse": "became worse",
    "changed": "changed",
    "not significant": "did not change significantly",
    "unchanged": "did not change",
}
_SIZES = (USUAL_SIZE, 1000)
"""Of groups of which it is said what is ruled out."""


def loss_words(loss: Loss, tolerance: float | None) -> str:
    """What is known of a loss, in a few words.

    >>> loss_words("lost", None), loss_words("lost", 0.03), loss_words("no loss", 0.03)
    ('lost', 'lost, may be by less than 0.0300', 'no loss by more than 0.0300')
    """
    if tolerance is None or loss in ("inconclusive", "gained"):
        return loss
    if loss in ("lost", "changed"):
        return f"{loss}, may be by less than {number(tolerance)}"
    return f"{loss.removesuffix(' beyond tolerance')} by more than {number(tolerance)}"


def build_status(metric: MetricComparison) -> str:
    """What is known about losses in one metric, in a few words."""
    return loss_words(metric.outcome, metric.tolerance)


def choose_tone(summary: ComparisonSummary) -> Tone:
    """How to show the answer: a change where no end is better is no alarm."""
    is_behind = any(
        metric.n_behind and metric.higher_is_better is not None
        for metric in summary.metrics.values()
    )
    if summary.outcome in ("lost beyond tolerance", "lost") or is_behind:
        return "found"
    return "clear" if summary.outcome in ("gained", "no loss", "no change") else "open"


def headline(summary: ComparisonSummary) -> str:
    """The answer: how the means changed, which groups lost, and which lost more than all others."""
    # items share the places of lists, so that their mean stays
    means = _means(summary) if summary.unit.is_users else ""
    return f"{'. '.join(filter(None, (means, _lost(summary), _behind(summary))))}."


def _with_an_end(summary: ComparisonSummary) -> dict[str, MetricComparison]:
    """Metrics in which a group can lose; all of them where there is none."""
    found = {name: one for name, one in summary.metrics.items() if one.higher_is_better is not None}
    return found or summary.metrics


def _means(summary: ComparisonSummary) -> str:
    """How the means changed: how many of the metrics in which way, and an example of each."""
    metrics = _with_an_end(summary)
    by_verdict: dict[str, list[str]] = {}
    for name, metric in metrics.items():
        change = metric.everyone
        if change is not None and change.change is not None:
            ends = " → ".join(numbers(change.before, change.after))
            by_verdict.setdefault(_VERDICTS[change.verdict], []).append(f"{plain(name)} {ends}")
    parts = [(len(means), said, means[0]) for said, means in by_verdict.items()]
    if not parts:
        return ""
    if _is_same(summary):
        n_shared = summary.unit.count(summary.pairing.n_shared or 0)
        return f"All {n_shared} have the same values in both audits"
    if len(parts) > 1:
        named = [f"{n} {said} ({first})" for n, said, first in parts]
        return f"On average, of {len(metrics)} metrics {', '.join(named)}"
    n, said, first = parts[0]
    which = {1: first.split()[0], 2: "both metrics"}.get(n, f"all {n} metrics")
    return f"On average {which} {said} ({first.removeprefix(which).strip()})"


def _is_same(summary: ComparisonSummary) -> bool:
    """Whether no user's value changed: an interval of no width says so of each of them."""
    changes = [metric.everyone for metric in summary.metrics.values()]
    return summary.pairing.is_paired and all(
        change is not None and change.interval == (0.0, 0.0) for change in changes
    )


def _lost(summary: ComparisonSummary) -> str:
    """Which groups lost, in the metric that is worst."""
    metrics = _with_an_end(summary)
    name, metric = min(metrics.items(), key=lambda one: LOSSES.index(one[1].outcome))
    which = f"In {plain(name)} " if len(metrics) > 1 else ""
    lost = "lost" if metric.higher_is_better is not None else "changed"
    if metric.lost:
        first = metric.lost[0]
        by = (
            f" by more than {number(metric.tolerance)}"
            if first.outcome.endswith("beyond tolerance")
            else ""
        )
        n = metric.n_lost_beyond_tolerance or metric.n_lost
        ends = " → ".join(numbers(first.before, first.after))
        said = f"{group_label(first.group)} {lost}{by} ({ends})"
        if n > 1:
            said += f", as did {n - 1:,} more of {plural(metric.n_groups, 'group')}"
        return f"{which}{said}"
    n_gained = max(one.n_gained for one in metrics.values())
    up_to = "up to " if len(metrics) > 1 else ""
    gained = f", {up_to}{n_gained:,} of {metric.n_groups:,} gained" if n_gained else ""
    if summary.outcome in ("no loss", "no change"):
        by = f" by more than {number(metric.tolerance)}" if metric.tolerance is not None else ""
        return f"No group of a single attribute {lost}{by}{gained}"
    return f"No group is shown to have {lost}{gained}"


def _behind(summary: ComparisonSummary) -> str:
    """Which groups lost more than all others."""
    metrics = _with_an_end(summary)
    found = [(name, metric) for name, metric in metrics.items() if metric.behind]
    if not found:
        if not summary.unit.is_users or not any(one.lost or one.gained for one in metrics.values()):
            return ""
        is_lost = any(one.lost for one in metrics.values())
        verb = behind_words("lost" if is_lost else "gained")
        return f"None is shown to have {verb}"
    name, metric = found[0]
    group, n_more = metric.behind[0], metric.n_behind - 1
    others = group.change - (group.difference or 0.0)
    own, of_others = map(with_sign, numbers(group.change, others))
    which = f" in {plain(name)}" if len(metrics) > 1 else ""
    more = f"; so did {n_more:,} more" if n_more else ""
    words = behind_words(group.outcome)
    return f"{group_label(group.group)} {words}{which} ({own} against {of_others}){more}"


def behind_words(loss: Loss) -> str:
    """How a group stands to all others whose change was better."""
    if loss in ("lost", "lost beyond tolerance"):
        return "lost more than all others"
    if loss == "gained":
        return "gained less than all others"
    if loss in ("changed", "changed beyond tolerance", "no change"):
        return "changed unlike all others"
    return "fell behind all others"


def about(summary: ComparisonSummary) -> str:
    """What was compared with what."""
    unit = summary.unit
    return f"{_named(summary.base, 'base', unit)} → {_named(summary.candidate, 'candidate', unit)}"


def _named(audit: ComparedAudit, which: str, unit: Unit) -> str:
    model = audit.model and f"{audit.model.name} {audit.model.version}".strip()
    named = [part for part in (audit.name, audit.title, model) if part]
    said = plain(" · ".join(named), LONGEST_NAME) if named else which
    return f"{said} ({unit.count(audit.n_users)})"


def how(summary: ComparisonSummary) -> str:
    """Whose values were compared, and what the intervals hold for."""
    pairing = summary.pairing
    n_groups = sum(metric.n_groups for metric in summary.metrics.values())
    at_once = (
        f"Intervals of groups hold at {confidence(summary.alpha)} for all {n_groups:,} changes of "
        f"{plural(len(summary.metrics), 'metric')} at once, and for their differences from all "
        "others."
    )
    if pairing.is_paired:
        return f"The same {summary.unit.count(pairing.n_shared or 0)} in both audits. {at_once}"
    why = plain(pairing.why, 300)
    who = f"Two sets of {summary.unit.many}, n" if summary.unit.is_users else "N"
    return f"{who}ot paired: {why}. {at_once}"


def describe_parts(name: str, summary: ComparisonSummary) -> tuple[str, ...]:
    """One metric in sentences: groups, what is ruled out."""
    metric, many = summary.metrics[name], summary.unit.many
    said = (_counts(metric), _ruled_out(metric, many), _without_tolerance(metric, summary.command))
    return tuple(filter(None, said))


def _counts(metric: MetricComparison) -> str:
    has_end = metric.higher_is_better is not None
    verb = "lost" if has_end else "changed"
    amount = number(metric.tolerance)
    by = (
        f" ({metric.n_lost_beyond_tolerance:,} by more than {amount})"
        if metric.n_lost_beyond_tolerance
        else ""
    )
    parts = [f"{metric.n_lost:,} {verb}{by}"]
    if metric.n_behind:
        more = "lost more, or gained less, than" if has_end else "changed unlike"
        parts.append(f"{metric.n_behind:,} {more} all others")
    if has_end:
        parts.append(f"{metric.n_gained:,} gained")
    if metric.tolerance is not None:
        parts.append(f"{metric.n_ruled_out:,} {verb} by no more than {amount} if at all")
    parts.append(f"{metric.n_open:,} are inconclusive")
    return f"Of {plural(metric.n_groups, 'group')} {', '.join(parts)}."


def _without_tolerance(metric: MetricComparison, command: str) -> str:
    if metric.tolerance is not None or metric.outcome != "inconclusive":
        return ""
    option = spell_in(command, "tolerance", Blank("AMOUNT"))
    return f"With {option} a loss by more than that can be ruled out."


def _ruled_out(metric: MetricComparison, many: str) -> str:
    if not metric.is_conclusive:
        return f"Too many {many} have no value for anything to be ruled out."
    steps = [point for point in metric.certificate if point.harm > 0]
    verb = "changed" if metric.higher_is_better is None else "lost"
    if not steps:
        return ""
    later = [next((point for point in steps if point.support >= size), None) for size in _SIZES]
    first, *others = [*dict.fromkeys(point for point in later if point)] or steps[:1]
    said = (
        f"Ruled out: that a group of {first.support:,} {many} or more, other than those that did, "
        f"{verb} by more than {number(first.harm)}"
    )
    parts = [f"of {point.support:,} or more by {number(point.harm)}" for point in others]
    return f"{'; '.join([said, *parts])}."
