"""A comparison in words and tables: the answer, and what the page and Markdown add to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from fairrec.comparison.losses import BEYOND_TOLERANCE, LOSSES, LOST, Loss
from fairrec.comparison.result import ComparedAudit, ComparisonSummary, MetricComparison
from fairrec.core.audited_entity import Unit
from fairrec.core.errors import plain
from fairrec.core.options import spell_in
from fairrec.report.answer import Answer, AnswerTable, Block, Note, Row, Served, Tone
from fairrec.report.metric_words import USUAL_SIZE
from fairrec.report.text import write_markdown
from fairrec.report.view import LONGEST_LINE
from fairrec.report.words import (
    TableView,
    confidence,
    group_label,
    is_nothing,
    number,
    numbers,
    plural,
    rounded_up,
    signed_interval,
    with_sign,
)
from fairrec.result.metric_schema import Change
from fairrec.result.tables import row_group
from fairrec.statistics.paired import ChangeVerdict

LONGEST_NAME = 120
_VERDICTS: dict[ChangeVerdict, str] = {
    "improved": "improved",
    "worse": "became worse",
    "changed": "changed",
    "not significant": "did not change significantly",
    "unchanged": "did not change",
}


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """A comparison, ready to lay out.

    Parameters
    ----------
    metrics : a title and sentences about each metric, by its name
    everyone : how the means changed
    differences : in what else the audits differ
    """

    answer: Answer
    metrics: dict[str, tuple[str, ...]]
    everyone: TableView
    differences: TableView
    reproduce: str


def build_comparison_view(summary: ComparisonSummary, changes: pl.DataFrame) -> ComparisonView:
    """The view of a comparison and its table of changes."""
    differences = tuple(
        tuple(plain(part) or "-" for part in (one.what, one.base, one.candidate))
        for one in summary.differences
    )
    return ComparisonView(
        answer=_answer(summary, changes, differences),
        metrics={
            plain(name): (describe_loss(one.outcome, one.tolerance), *describe_metric(one, summary))
            for name, one in summary.metrics.items()
        },
        everyone=_everyone(summary),
        differences=TableView(
            "What else differs", ("what", "base", "candidate"), (False,) * 3, differences
        ),
        reproduce=(
            f"{plain(summary.command, LONGEST_LINE)}  # FairRec {plain(summary.fairrec_version)}"
        ),
    )


def comparison_markdown(view: ComparisonView) -> str:
    """A comparison as Markdown."""
    lines = [f"{name}: {'. '.join(texts)}" for name, texts in view.metrics.items()]
    tables = [one for one in (view.everyone, view.differences) if one.rows]
    return write_markdown("FairRec comparison", view.answer, lines, tables, view.reproduce)


def describe_loss(loss: Loss, tolerance: float | None) -> str:
    """What is known of a loss, in a few words.

    >>> describe_loss("lost", None), describe_loss("lost", 0.03), describe_loss("no loss", 0.03)
    ('lost', 'lost, may be by less than 0.0300', 'no loss by more than 0.0300')
    """
    if tolerance is None or loss in ("inconclusive", "gained"):
        return loss
    if loss in ("lost", "changed"):
        return f"{loss}, may be by less than {number(tolerance)}"
    return f"{loss.removesuffix(' beyond tolerance')} by more than {number(tolerance)}"


def _answer(
    summary: ComparisonSummary, changes: pl.DataFrame, differences: tuple[tuple[str, ...], ...]
) -> Answer:
    """The metric that lost most with its groups, then a line for each other metric."""
    metrics = summary.metrics
    first, *others = sorted(metrics, key=lambda name: _alarm(metrics[name]))
    metric = metrics[first]
    steps: tuple[str, ...] = ()
    if metric.tolerance is None and metric.outcome == "inconclusive":
        option = spell_in(summary.command, "tolerance", "5%")
        steps = (f"{option}: whether a loss by more than that is ruled out",)
    notes = [Note("note", plain(text, LONGEST_LINE)) for text in summary.notes]
    if differences:
        also = "; ".join(f"{what} ({base} → {candidate})" for what, base, candidate in differences)
        notes.append(Note("differs", also))
    return Answer(
        tone=_tone(summary),
        headline=headline(summary),
        about=(_about(summary), _pairing(summary)),
        notes=tuple(notes),
        table=_answer_table(first, summary, changes),
        sentences=describe_metric(metric, summary),
        others=tuple(_other_metric(name, metrics[name]) for name in others),
        next_steps=steps,
    )


def _alarm(metric: MetricComparison) -> tuple[bool, int]:
    """Metrics with a better end first, those that lost most before others."""
    return metric.higher_is_better is None, LOSSES.index(metric.outcome)


def _tone(summary: ComparisonSummary) -> Tone:
    """How to show the answer: a change where no end is better is no alarm."""
    with_end = [one for one in summary.metrics.values() if one.higher_is_better is not None]
    if summary.outcome.startswith("lost") or any(one.n_behind for one in with_end):
        return "found"
    return "clear" if summary.outcome in ("gained", "no loss", "no change") else "open"


def headline(summary: ComparisonSummary) -> str:
    """How the means changed, which groups lost, and which lost more than all others."""
    with_end = {n: one for n, one in summary.metrics.items() if one.higher_is_better is not None}
    metrics = with_end or summary.metrics
    # items share the places of lists, so that their mean stays
    means = _describe_means(metrics) if summary.unit.is_users else ""
    parts = means, _describe_lost(metrics), _describe_behind(metrics)
    return f"{'. '.join(filter(None, parts))}."


def _describe_means(metrics: Mapping[str, MetricComparison]) -> str:
    """How many metrics changed in which way on average, with an example of each."""
    examples: dict[ChangeVerdict, list[str]] = {}
    for name, metric in metrics.items():
        change = metric.everyone
        if change is not None and change.change is not None:
            ends = " → ".join(numbers(change.before, change.after))
            examples.setdefault(change.verdict, []).append(f"{plain(name)} {ends}")
    if not examples:
        return ""
    if len(metrics) == 1:
        ((verdict, (example,)),) = examples.items()
        name, ends = example.split(" ", maxsplit=1)
        return f"On average {name} {_VERDICTS[verdict]} ({ends})"
    parts = (f"{len(some)} {_VERDICTS[v]} ({some[0]})" for v, some in examples.items())
    return f"On average, of {len(metrics)} metrics {', '.join(parts)}"


def _describe_lost(metrics: Mapping[str, MetricComparison]) -> str:
    """Which groups lost, in the metric that is worst."""
    name, metric = min(metrics.items(), key=lambda one: LOSSES.index(one[1].outcome))
    where = f"In {plain(name)} " if len(metrics) > 1 else ""
    verb = _verb(metric)
    beyond = "" if metric.tolerance is None else f" by more than {number(metric.tolerance)}"
    if not metric.lost:
        gained = f", {metric.n_gained:,} of {metric.n_groups:,} gained" if metric.n_gained else ""
        none = f"{where}no group" if where else "No group"
        if metric.outcome in ("no loss", "no change"):
            return f"{none} of a single attribute {verb}{beyond}{gained}"
        return f"{none} is shown to have {verb}{gained}"
    first = metric.lost[0]
    n = metric.n_lost_beyond_tolerance or metric.n_lost
    more = f", as did {n - 1:,} more of {plural(metric.n_groups, 'group')}" if n > 1 else ""
    beyond = beyond if metric.n_lost_beyond_tolerance else ""
    ends = " → ".join(numbers(first.before, first.after))
    return f"{where}{group_label(first.group)} {verb}{beyond} ({ends}){more}"


def _describe_behind(metrics: Mapping[str, MetricComparison]) -> str:
    """Which groups lost more than all others."""
    name, metric = next(((name, one) for name, one in metrics.items() if one.behind), ("", None))
    if metric is None:
        is_any = any(one.lost or one.gained for one in metrics.values())
        return "No group is shown to be behind all others" if is_any else ""
    group, n_more = metric.behind[0], metric.n_behind - 1
    own, others = map(with_sign, numbers(group.change, group.change - (group.difference or 0.0)))
    where = f" in {plain(name)}" if len(metrics) > 1 else ""
    more = f", and {plural(n_more, 'more group')}" if n_more else ""
    behind = "is behind" if metric.higher_is_better is not None else "changed unlike"
    return f"{group_label(group.group)} {behind} all others{where} ({own} against {others}){more}"


def _verb(metric: MetricComparison) -> str:
    return "changed" if metric.higher_is_better is None else "lost"


def _about(summary: ComparisonSummary) -> str:
    """What was compared with what."""
    base, candidate = (
        _describe_audit(audit, which, summary.unit)
        for audit, which in ((summary.base, "base"), (summary.candidate, "candidate"))
    )
    return f"{base} → {candidate}"


def _describe_audit(audit: ComparedAudit, which: str, unit: Unit) -> str:
    model = audit.model and f"{audit.model.name} {audit.model.version}".strip()
    named = [part for part in (audit.name, audit.title, model) if part]
    label = plain(" · ".join(named), LONGEST_NAME) if named else which
    return f"{label} ({unit.count(audit.n_users)})"


def _pairing(summary: ComparisonSummary) -> str:
    """Whose values were compared, and what the intervals hold for."""
    pairing, unit = summary.pairing, summary.unit
    n_groups = sum(metric.n_groups for metric in summary.metrics.values())
    whose = f"The same {unit.count(pairing.n_shared or 0)} in both audits"
    if not pairing.is_paired:
        whose = f"Not paired: {plain(pairing.why, 300)}"
    return (
        f"{whose}. Intervals of groups hold at {confidence(summary.alpha)} for all {n_groups:,} "
        f"changes of {plural(len(summary.metrics), 'metric')} at once, and for their differences "
        "from all others."
    )


def describe_metric(metric: MetricComparison, summary: ComparisonSummary) -> tuple[str, ...]:
    """How many groups of a metric changed in which way, and what is ruled out."""
    verb, many = _verb(metric), summary.unit.many
    counts = [f"{metric.n_lost:,} {verb}"]
    if metric.n_lost_beyond_tolerance:
        counts[0] += (
            f" ({metric.n_lost_beyond_tolerance:,} by more than {number(metric.tolerance)})"
        )
    behind = "behind" if metric.higher_is_better is not None else "unlike"
    counts.append(f"{metric.n_behind:,} {behind} all others")
    counts += [] if metric.higher_is_better is None else [f"{metric.n_gained:,} gained"]
    counts += [f"{metric.n_ruled_out:,} ruled out", f"{metric.n_open:,} inconclusive"]
    parts = [f"Of {plural(metric.n_groups, 'group')} {', '.join(counts)}."]
    steps = [point for point in metric.certificate if point.harm > 0]
    if not metric.is_conclusive:
        parts.append(f"Too many {many} have no value for anything to be ruled out.")
    elif steps:
        usual = next((point for point in steps if point.support >= USUAL_SIZE), steps[-1])
        parts.append(
            f"Ruled out: that another group of {usual.support:,} {many} or more {verb} by more "
            f"than {rounded_up(usual.harm)}."
        )
    return tuple(parts)


def _other_metric(name: str, metric: MetricComparison) -> str:
    change, status = metric.everyone, describe_loss(metric.outcome, metric.tolerance)
    n = metric.n_lost_beyond_tolerance if metric.outcome in BEYOND_TOLERANCE else metric.n_lost
    if n and metric.outcome in LOST:
        status = f"{n:,} of {plural(metric.n_groups, 'group')} {status}"
    if change is None or change.change is None:
        return f"{plain(name)}: {status}"
    return f"{plain(name)}: {status}, on average {' → '.join(numbers(change.before, change.after))}"


def _answer_table(name: str, summary: ComparisonSummary, changes: pl.DataFrame) -> AnswerTable:
    """The mean of all, and the groups shown to have changed, those of few attributes first."""
    metric = summary.metrics[name]
    rows = changed_rows(name, changes).sort("depth", maintain_order=True)
    groups, behind = [], "unlike" if metric.higher_is_better is None else "behind"
    for row in rows.iter_rows(named=True):
        label, support, before, after, _, interval, *_ = group_cells(row, metric)
        verdict = row["outcome"].split()[0]
        if row["is_behind"]:
            verdict = {"lost": "lost more", "gained": "gained less"}.get(verdict, behind)
        cells = support, before, after, interval, verdict
        groups.append(Row(label, cells, find_direction(row["outcome"])))
    everyone = []
    if (mean := metric.everyone) is not None:
        n_users, before, after, _, interval = _change_cells(mean)
        cells = n_users, before, after, interval, mean.verdict
        everyone = [Row(f"all {summary.unit.many}", cells)]
    columns = (
        *(plain(name), summary.unit.many, "before", "after"),
        *(f"change, {confidence(summary.alpha)} (all)", "verdict"),
    )
    more = "more groups changed, on the page"
    blocks = (Block("", tuple(everyone), ""), Block("", tuple(groups), more, is_ranked=True))
    return AnswerTable(columns, (False, *(True,) * 4, False), blocks)


def find_direction(outcome: Loss) -> Served | None:
    """Which way a group changed, where that is significant."""
    directions: dict[str, Served] = {"changed": "differs", "lost": "worse", "gained": "better"}
    return directions.get(outcome.split()[0])


IS_LOST = pl.col("outcome").is_in(LOST) | pl.col("is_behind")
IS_GAINED = (pl.col("outcome") == "gained") & ~pl.col("is_behind")


def changed_rows(name: str, changes: pl.DataFrame) -> pl.DataFrame:
    """The groups of a metric that lost or are behind, worst first; then those that gained most."""
    mine = changes.filter(pl.col("metric") == name)
    return pl.concat([mine.filter(IS_LOST), mine.filter(IS_GAINED).reverse()])


def _change_cells(change: Change | None) -> tuple[str, ...]:
    """Users, before, after, change and its interval."""
    if change is None or change.change is None:
        return ("-",) * 5
    low, high = change.interval or (None, None)
    by, interval = format_change(change.change, low, high)
    if is_nothing(change.change, change.before or 0.0):
        by = "0"
    return f"{change.n_users:,}", *numbers(change.before, change.after), by, interval


def format_change(value: float | None, low: float | None, high: float | None) -> tuple[str, str]:
    """A change with its sign, and its interval."""
    if value is None or low is None or high is None:
        return with_sign(number(value)), "-"
    return with_sign(numbers(value, low, high)[0]), signed_interval(low, high, value)


def group_cells(row: Mapping[str, Any], metric: MetricComparison) -> tuple[str, ...]:
    """A row of the table of changes as text."""
    names = [*row]
    axes = names[names.index("metric") + 1 : names.index("depth")]
    behind = ", unlike others" if metric.higher_is_better is None else ", behind others"
    return (
        group_label(row_group({name: row[name] for name in axes})),
        f"{row['support']:,}",
        *numbers(row["before"], row["after"]),
        *format_change(row["change"], row["simultaneous_low"], row["simultaneous_high"]),
        *format_change(row["difference"], row["difference_low"], row["difference_high"]),
        f"{row['outcome']}{behind if row['is_behind'] else ''}",
    )


def _everyone(summary: ComparisonSummary) -> TableView:
    many, interval = summary.unit.many, f"{confidence(summary.alpha)} interval"
    return TableView(
        title=f"All {many}",
        columns=("metric", many, "before", "after", "change", interval, "verdict on groups"),
        numeric=(False, *(True,) * 5, False),
        rows=tuple(
            (
                plain(name),
                *_change_cells(metric.everyone),
                describe_loss(metric.outcome, metric.tolerance),
            )
            for name, metric in summary.metrics.items()
        ),
        note="Intervals hold for all metrics at once.",
    )
