"""A counterfactual in words: what changes for all users, and what it cannot see."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from fairrec.core.audit_options import LEAST_USERS
from fairrec.core.errors import plain
from fairrec.counterfactuals.result import (
    AsTheyAre,
    CounterfactualSummary,
    MeanChange,
)
from fairrec.report.answer import Answer
from fairrec.report.text import escape, table_lines, to_markdown
from fairrec.report.verdict import SAME
from fairrec.report.view import ReportView, build_view
from fairrec.report.words import (
    TableView,
    confidence,
    interval,
    number,
    numbers,
    p_value,
    percent,
    plural,
    signed,
    signed_interval,
)
from fairrec.result.schema import AuditSummary

MOST_ROWS = 42
"""Changes in a table: all of an attribute of seven values."""


def describe_change(summary: CounterfactualSummary) -> str:
    """What is changed, as the subject of a sentence.

    >>> gender = CounterfactualSummary.model_construct(attribute=("gender",), reference=None)
    >>> describe_change(gender)
    'gender alone'
    """
    named = " and ".join(map(plain, summary.attribute))
    return f"{named} {'together' if len(summary.attribute) > 1 else 'alone'}"


def headline(summary: CounterfactualSummary) -> str:
    """The share of users for whom the change makes another list."""
    found = summary.affected
    k = found.metric.rpartition("@")[2]
    to = "" if summary.reference is None else f", set to {summary.reference},"
    verb = "change" if len(summary.attribute) > 1 else "changes"
    change = describe_change(summary)
    return (
        f"{change[:1].upper()}{change[1:]}{to} {verb} the first {k} "
        f"places of {percent(found.share)} of {plural(found.n, 'user')}{_of_all(summary)}."
    )


def _of_all(summary: CounterfactualSummary) -> str:
    """What the users who were scored tell of all, if they are not all themselves."""
    found = summary.affected
    if _is_of_everyone(summary):
        return ""
    return (
        f" drawn from {summary.n_users_to_score:,} ({confidence(summary.alpha)} confidence: "
        f"{percent(found.low)} to {percent(found.high)} of all)"
    )


def _is_of_everyone(summary: CounterfactualSummary) -> bool:
    return summary.n_users == summary.n_users_to_score


def notes(summary: CounterfactualSummary) -> tuple[str, ...]:
    """What the reader has to know, beside the answer of an audit."""
    said = [headline(summary)]
    names = " and ".join(map(plain, summary.attribute))
    said.append(
        f"a counterfactual changes {names} and nothing else: what the model knows of it by "
        "other ways (the user's id, history, other attributes) stays as it is and is not seen "
        f"here. {as_they_are(summary)}"
    )
    if summary.n_unknown:
        said.append(
            f"{plural(summary.n_unknown, 'user')} without a known value of what is changed are "
            "left out"
        )
    if summary.n_at_reference:
        said.append(
            f"{plural(summary.n_at_reference, 'user')} with {summary.reference} already are left "
            "out: nothing would change"
        )
    is_everyone = _is_of_everyone(summary)
    said.append(
        "every user there was to ask about was scored, so the share affected is exact for them"
        if is_everyone
        else f"{summary.n_users:,} of {summary.n_users_to_score:,} users were drawn at random and "
        "scored"
    )
    paid = summary.paid
    said.append(
        f"{plural(paid.users, 'list')} scored ({paid.rows:,} pairs in {plural(paid.calls, 'call')}"
        f"), {paid.users_before:,} more found in ledgers"
    )
    return tuple(said)


def changes_tables(summary: CounterfactualSummary) -> tuple[TableView, ...]:
    """What changes for all users: metrics before and after, then every value and change."""
    return tuple(one for one in (means_table(summary), changes_table(summary)) if one.rows)


def means_table(summary: CounterfactualSummary) -> TableView:
    """Metrics of the lists as they are and once changed, of the same users."""
    rows = []
    for name, as_is in summary.as_they_are.items():
        change = summary.changes.get(f"{name}_change")
        if change is None or change.mean is None or as_is.mean is None:
            continue
        here, there = numbers(as_is.mean, as_is.mean + change.mean)
        p = "-" if change.p_value is None else p_value(change.p_value)
        rows.append((plain(name), here, there, _cell(f"{name}_change", change), p))
    level = confidence(summary.alpha)
    return TableView(
        title="Metrics of the lists",
        columns=("metric", "as they are", "once changed", f"change ({level} interval)", "p"),
        numeric=(False, True, True, True, True),
        rows=tuple(rows),
        note="The same users twice, so change, interval and p are paired; one metric at a time.",
    )


def changes_table(summary: CounterfactualSummary) -> TableView:
    """Every value for all users, and for the users of each value."""
    rows = [_row("everyone", f"{summary.n_users:,}", summary.changes)]
    rows += [
        _row(
            plain(f"{pair.of} → {pair.to}" if pair.of else pair.to, 300),
            f"{pair.n:,}",
            pair.changes,
        )
        for pair in summary.pairs[:MOST_ROWS]
    ]
    n_more = len(summary.pairs) - MOST_ROWS
    more = f" {plural(n_more, 'change')} more in counterfactual.json." if n_more > 0 else ""
    if summary.n_small:
        few = f"{plural(summary.n_small, 'change')} of fewer than {LEAST_USERS} users"
        more += f" {few[:1].upper()}{few[1:]} are not told."
    return TableView(
        title="Changes, for all users and for those of each value",
        columns=("users", "n", *map(plain, summary.changes)),
        numeric=(False, True, *(True for _ in summary.changes)),
        rows=tuple(rows),
        note=(
            f"In brackets: {confidence(summary.alpha)} confidence interval for users like these, "
            "one at a time. A change is that of a metric once changed, minus as it is." + more
        ),
    )


def _row(who: str, n: str, changes: dict[str, MeanChange]) -> tuple[str, ...]:
    return (who, n, *(_cell(name, change) for name, change in changes.items()))


def _cell(name: str, change: MeanChange) -> str:
    if change.mean is None:
        return "-"
    # what compares two lists has no sign
    as_number, as_ends = (
        (signed, signed_interval) if name.endswith("_change") else (number, interval)
    )
    if change.low is None or change.high is None:
        return as_number(change.mean)
    size = max(-change.low, change.high)
    return f"{as_number(change.mean, size)} ({as_ends(change.low, change.high)})"


def as_they_are(summary: CounterfactualSummary) -> str:
    """The audit's own answer, metric by metric."""
    told = "; ".join(
        f"{plain(name)} {_means(one)}{_verdict(one)}" for name, one in summary.as_they_are.items()
    )
    return f"As they are: {told or 'no metric of the lists was asked for'}"


def _means(one: AsTheyAre) -> str:
    if len(one.means) > 4:
        known = {name: mean for name, mean in one.means.items() if mean is not None}
        if not known:
            return "not told"
        ends = [min(known, key=known.__getitem__), max(known, key=known.__getitem__)]
        return " to ".join(f"{number(known[name])} ({name})" for name in ends)
    return ", ".join(f"{number(mean)} ({name})" for name, mean in one.means.items())


def _verdict(one: AsTheyAre) -> str:
    return "" if one.outcome is None else f", verdict: {one.outcome}"


def counterfactual_view(
    summary: CounterfactualSummary, audit: AuditSummary, groups: pl.DataFrame | None = None
) -> ReportView:
    """The view of the audit of changes, which says what to do about those of all users alike."""
    view = build_view(audit, groups)
    found = view.answer
    if summary.affected.n_affected:
        limit = (
            "limit the share affected: max_affected in a rule of fairrec.toml "
            "(docs/counterfactual.md)",
        )
        steps = found.next_steps + limit if found.named else limit + found.next_steps
        return replace(view, answer=replace(found, next_steps=steps))
    if any(verdict.status not in SAME for verdict in view.verdicts):
        return view
    exact = "exact for these users: every one was scored"
    of_all = f"at most {percent(summary.affected.high)} of {summary.n_users_to_score:,} users are"
    sure = exact if _is_of_everyone(summary) else f"{of_all} ({confidence(summary.alpha)})"
    steps = ("audit the lists as they are: what works by proxies is not seen here",)
    nobody = replace(
        found,
        headline=f"No user of {plural(summary.affected.n, 'user')} is affected",
        about=tuple(filter(None, (sure, as_they_are(summary)))),
        table=None,
        next_steps=steps,
    )
    return replace(view, answer=nobody)


def counterfactual_answer(
    summary: CounterfactualSummary, audit: AuditSummary, groups: pl.DataFrame
) -> Answer:
    """What changes for all users, then for whom most."""
    found = counterfactual_view(summary, audit, groups).answer
    means = tuple(
        f"{name}: {here} as they are, {there} once changed ({change}; p {p})"
        for name, here, there, change, p in means_table(summary).rows
    )
    for_whom = "" if not summary.affected.n_affected else found.headline
    return replace(
        found,
        headline=headline(summary),
        about=tuple(filter(None, (as_they_are(summary), *means[:2], for_whom))),
        notes=tuple(note for note in found.notes if note.text != headline(summary)),
    )


def counterfactual_markdown(
    summary: CounterfactualSummary, audit: AuditSummary, groups: pl.DataFrame
) -> str:
    """The same as Markdown."""
    lines = ["# FairRec counterfactual", "", f"**{escape(headline(summary))}**", ""]
    if said := as_they_are(summary):
        lines += [escape(said), ""]
    for table in changes_tables(summary):
        lines += [f"### {table.title}", "", *table_lines(table), ""]
    return "\n".join(lines) + "\n" + to_markdown(counterfactual_view(summary, audit, groups))
