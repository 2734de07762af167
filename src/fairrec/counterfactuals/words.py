"""A counterfactual in words: what changes for all users, and what it cannot see."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from fairrec.core.audit_options import LEAST_USERS
from fairrec.core.errors import plain
from fairrec.counterfactuals.result import AsTheyAre, CounterfactualSummary, MeanChange
from fairrec.report.answer import Answer
from fairrec.report.text import escape, table_lines, to_markdown
from fairrec.report.view import ReportView, build_view
from fairrec.report.words import (
    TableView,
    confidence,
    interval,
    number,
    percent,
    plural,
    signed,
    signed_interval,
)
from fairrec.result.schema import AuditSummary

MOST_ROWS = 42
"""Changes in a table: all of an attribute of seven values."""
_LIMIT = "limit the share affected: max_affected in a rule of fairrec.toml (docs/counterfactual.md)"

_AUDIT = "audit the lists as they are: what works by proxies is not seen here"


def _attributes(summary: CounterfactualSummary) -> str:
    return " and ".join(map(plain, summary.attribute))


def headline(summary: CounterfactualSummary) -> str:
    """The share of users for whom the change makes another list."""
    found = summary.affected
    k = found.metric.rpartition("@")[2]
    to = "" if summary.reference is None else f", set to {summary.reference},"
    how, verb = ("together", "change") if len(summary.attribute) > 1 else ("alone", "changes")
    name = _attributes(summary)
    sampled = ""
    if not _is_exact(summary):
        sampled = (
            f" drawn from {summary.n_users_to_score:,} ({confidence(summary.alpha)} confidence: "
            f"{percent(found.low)} to {percent(found.high)} of all)"
        )
    return (
        f"{name[:1].upper()}{name[1:]} {how}{to} {verb} the first {k} places of "
        f"{percent(found.share)} of {plural(found.n, 'user')}{sampled}."
    )


def _is_exact(summary: CounterfactualSummary) -> bool:
    """Whether all users were scored, and not a sample of them."""
    return summary.n_users == summary.n_users_to_score


def notes(summary: CounterfactualSummary) -> tuple[str, ...]:
    """What belongs to the audit of the changes."""
    found = [
        headline(summary),
        f"a counterfactual changes {_attributes(summary)} and nothing else: effects through "
        "proxies (user id, history, other attributes) are not measured. "
        f"{as_they_are(summary)}",
    ]
    if summary.n_left_out:
        found.append(
            f"{plural(summary.n_left_out, 'user')} without a known value to change, or with the "
            "reference already, are left out"
        )
    found.append(
        "all users were scored; the share affected is exact"
        if _is_exact(summary)
        else f"{summary.n_users:,} of {summary.n_users_to_score:,} users were drawn at random and "
        "scored"
    )
    paid = summary.paid
    found.append(
        f"{plural(paid.users, 'list')} scored ({paid.rows:,} pairs in {plural(paid.calls, 'call')}"
        f"), {paid.users_before:,} more found in ledgers"
    )
    return tuple(found)


def changes_table(summary: CounterfactualSummary) -> TableView:
    """Every value for all users, and for the users of each value."""
    rows = [("everyone", f"{summary.n_users:,}", *_cells(summary.changes))]
    rows += [
        (plain(f"{pair.of} → {pair.to}", 300), f"{pair.n:,}", *_cells(pair.changes))
        for pair in summary.pairs[:MOST_ROWS]
    ]
    n_more = len(summary.pairs) - MOST_ROWS
    more = f" {plural(n_more, 'change')} more in counterfactual.json." if n_more > 0 else ""
    return TableView(
        title="Changes, for all users and for those of each value",
        columns=("users", "n", *map(plain, summary.changes)),
        numeric=(False, True, *(True for _ in summary.changes)),
        rows=tuple(rows),
        note=(
            f"In brackets: {confidence(summary.alpha)} confidence interval for users like these, "
            "one at a time. A change is that of a metric once changed, minus as it is. Values of "
            f"fewer than {LEAST_USERS} users have no row.{more}"
        ),
    )


def _cells(changes: dict[str, MeanChange]) -> tuple[str, ...]:
    return tuple(_cell(name, change) for name, change in changes.items())


def _cell(name: str, change: MeanChange) -> str:
    if change.mean is None:
        return "-"
    # a comparison of two lists has no sign
    is_signed = name.endswith("_change")
    as_number, as_ends = (signed, signed_interval) if is_signed else (number, interval)
    if change.low is None or change.high is None:
        return as_number(change.mean)
    size = max(-change.low, change.high)
    return f"{as_number(change.mean, size)} ({as_ends(change.low, change.high)})"


def as_they_are(summary: CounterfactualSummary) -> str:
    """The audit of the lists as they are, metric by metric."""
    metrics = "; ".join(
        f"{plain(name)} {_range(one)}{f', verdict: {one.outcome}' if one.outcome else ''}"
        for name, one in summary.as_they_are.items()
    )
    return f"Original attributes: {metrics or 'add a metric of one list to see it'}"


def _range(one: AsTheyAre) -> str:
    """The lowest and the highest mean among users of each value."""
    known = {value: mean for value, mean in one.means.items() if mean is not None}
    ends = dict.fromkeys(sorted(known, key=known.__getitem__)[:: max(len(known) - 1, 1)])
    return " to ".join(f"{number(known[value])} ({value})" for value in ends) or "undefined"


def counterfactual_view(
    summary: CounterfactualSummary, audit: AuditSummary, groups: pl.DataFrame | None = None
) -> ReportView:
    """The view of the audit of changes, with the next steps of a counterfactual."""
    view = build_view(audit, groups)
    found = view.answer
    if not summary.affected.n_affected:
        steps: tuple[str, ...] = (_AUDIT,)
    elif any(result.findings for result in audit.metrics.values()):
        steps = (*found.next_steps, _LIMIT)
    else:
        steps = (_LIMIT, *found.next_steps)
    return replace(view, answer=replace(found, next_steps=steps))


def counterfactual_answer(
    summary: CounterfactualSummary, audit: AuditSummary, groups: pl.DataFrame
) -> Answer:
    """What changes for all users, then for which groups most."""
    found = counterfactual_view(summary, audit, groups).answer
    table = changes_table(summary)
    changes = [
        f"{name}: {cell}"
        for name, cell in zip(table.columns[2:], table.rows[0][2:], strict=True)
        if name.endswith("_change")
    ]
    groups_affected = found.headline if summary.affected.n_affected else ""
    return replace(
        found,
        headline=headline(summary),
        about=tuple(filter(None, (as_they_are(summary), *changes[:2], groups_affected))),
        notes=tuple(note for note in found.notes if note.text != headline(summary)),
    )


def counterfactual_markdown(
    summary: CounterfactualSummary, audit: AuditSummary, groups: pl.DataFrame
) -> str:
    """The same as Markdown."""
    table = changes_table(summary)
    lines = [
        "# FairRec counterfactual",
        *("", f"**{escape(headline(summary))}**", "", escape(as_they_are(summary)), ""),
        *(f"### {table.title}", "", *table_lines(table), "", ""),
    ]
    return "\n".join(lines) + to_markdown(counterfactual_view(summary, audit, groups))
