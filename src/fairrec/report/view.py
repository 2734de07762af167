"""The view: the words and tables of a report, sorted and rounded; layouts only print it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from fairrec.core.errors import listed, plain
from fairrec.inputs.notes import CHECK_FIRST
from fairrec.report.answer import Answer, Note
from fairrec.report.audit_answer import audit_answer
from fairrec.report.covariates import (
    compared_with,
    covariate_lines,
    difference_name,
    no_longer_lines,
)
from fairrec.report.findings import (
    format_difference,
    simultaneous_interval,
    users_known,
)
from fairrec.report.metric_words import end_words, exact_instead, is_sampled, p_adjusted
from fairrec.report.missing import missing_lines, unknown_lines
from fairrec.report.ratios import ratio_table
from fairrec.report.verdict import Verdict, build_verdict, outcome_words
from fairrec.report.words import (
    TableView,
    confidence,
    group_label,
    number,
    percent,
    plural,
    shown,
    signed,
)
from fairrec.result.schema import AuditSummary

FINDINGS_SHOWN = 10
VALUES_SHOWN = 5
LONGEST_LINE = 2000
LONGEST_PATH = 300
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class ReportView:
    """A report, ready to lay out.

    Parameters
    ----------
    called : what the auditor calls the audit and the model; empty where they have no name
    answer : with all notes, those to check before any figure among them
    """

    title: str
    called: str
    answer: Answer
    verdicts: tuple[Verdict, ...]
    findings: TableView
    ratios: TableView
    search: tuple[str, ...]
    coverage: tuple[str, ...]
    reproduce: str


def build_view(
    summary: AuditSummary,
    groups: pl.DataFrame | None = None,
    folder: str = "AUDIT",
    *,
    is_saved: bool = True,
) -> ReportView:
    """The view of a result.

    Parameters
    ----------
    groups : the table of groups, for the numbers by group; None for words alone
    folder : where it is written, as a shell takes it
    is_saved : whether it is written at all
    """
    verdicts = tuple(
        build_verdict(name, result, summary) for name, result in summary.metrics.items()
    )
    notes = tuple(_notes(summary))
    names = (plain(summary.title, LONGEST_NAME), about_model(summary))
    settings = settings_line(summary)
    answer = audit_answer(summary, verdicts, notes, groups, folder, is_saved=is_saved)
    return ReportView(
        title=answer.about[-1],
        called=" · ".join(filter(None, (*names, plain(summary.author, LONGEST_NAME)))),
        answer=answer,
        verdicts=verdicts,
        findings=_findings(summary),
        ratios=ratio_table(summary),
        search=_search(summary),
        coverage=(*catalogue_lines(summary), *_coverage(summary), *unknown_lines(summary)),
        reproduce=(
            f"{plain(summary.command, LONGEST_LINE)}  # FairRec {summary.fairrec_version}, "
            f"seed {summary.seed}{f'; settings from {settings}' if settings else ''}"
        ),
    )


def _notes(summary: AuditSummary) -> Iterator[Note]:
    """What is to be known before any number, the most important first."""
    warnings = [plain(warning, LONGEST_LINE) for warning in summary.warnings]
    lines = {
        "plan": plan_lines(summary),
        "check": [one.removeprefix(CHECK_FIRST) for one in warnings if one.startswith(CHECK_FIRST)],
        "missing": missing_lines(summary),
        "adjusted": no_longer_lines(summary),
        "covariates": covariate_lines(summary),
        "search": _search(summary)[:1],
        "catalogue": catalogue_lines(summary)[:1],
        "note": [one for one in warnings if not one.startswith(CHECK_FIRST)],
    }
    for kind, texts in lines.items():
        for text in texts:
            yield Note(kind, text)


def about_model(summary: AuditSummary) -> str:
    """The model and its version, as the auditor calls them: `ranker@2`."""
    model = summary.model
    if model is None:
        return ""
    name, version = plain(model.name, LONGEST_NAME), plain(model.version, LONGEST_NAME)
    return "@".join(filter(None, (name, version)))


def _findings(summary: AuditSummary) -> TableView:
    rows, n_more, unit, of_items = [], 0, summary.unit, int(not summary.unit.is_users)
    for name, result in summary.metrics.items():
        n_more += max(0, len(result.findings) - FINDINGS_SHOWN)
        for finding in result.findings[:FINDINGS_SHOWN]:
            rows.append(
                (
                    plain(name),
                    group_label(finding.group),
                    users_known(finding),
                    number(finding.value, result.mean),
                    format_difference(finding),
                    signed(finding.shrunken_difference),
                    simultaneous_interval(finding),
                    p_adjusted(finding.p_adjusted, summary),
                    *([percent(finding.random_sets or 0.0)] * of_items),
                    outcome_words(finding, result, end_words(name, unit), summary),
                )
            )
    more = f"and {n_more:,} more in result.json. " if n_more else ""
    value = "value" if summary.adjustment is None else "unadjusted value"
    interval = f"{confidence(summary.alpha)} interval, all at once"
    return TableView(
        title=f"Findings: groups that differ significantly from {compared_with(summary)}",
        columns=(
            *("metric", "group", unit.many, value, difference_name(summary), "shrunken"),
            *(interval, "p adjusted", *(["random sets as far off"] * of_items), "verdict"),
        ),
        numeric=(False, False, *(True,) * (6 + of_items), False),
        rows=tuple(rows),
        note=f"{more}Groups that only overlap one of these are left out. Shrunken: corrected for "
        "the selection of extreme groups.",
    )


def _search(summary: AuditSummary) -> tuple[str, ...]:
    """How users were chosen for scoring; empty where all scores were at hand."""
    search, unit = summary.search, summary.unit
    if not search.metrics:
        return ()
    endings = {
        "finished": "finished",
        "users spent": f"budget of {unit.count(search.budget_users or 0)} spent",
        "time spent": f"budget of {search.budget_seconds or 0:g} s spent",
    }
    share = search.users_scored / search.users_total
    lines = [
        f"The {search.name} search scored {search.users_scored:,} of "
        f"{unit.count(search.users_total)} ({share:.1%}; {endings[search.ending]})."
    ]
    if is_sampled(summary):
        n_full = search.n_fully_scored + search.n_not_fully_scored
        lines.append(
            f"Fully scored: {search.n_fully_scored:,} of {plural(n_full, 'intersection')} of all "
            "attributes; the gap is measured between these. Means over all, and tests of other "
            f"groups, rest on {unit.count(search.users_reference)} drawn at random first."
        )
    name = f" ({plain(search.model_identity, 200)})" if search.model_identity else ""
    line = (
        f"The recommender{name} was asked for {plural(search.rows_paid, 'score')} in "
        f"{plural(search.calls, 'call')}; {unit.count(search.users_before)} were in the ledger."
    )
    if search.faults:
        kinds = ", ".join(f"{n:,} x {plain(kind)}" for kind, n in search.faults.items())
        line += f" Calls that failed and were tried again: {kinds}."
    spent = search.spent_in_all
    if spent is not None and spent.calls > search.calls:
        line += f" All runs together: {unit.count(spent.users)} in {plural(spent.calls, 'call')}."
    lines.append(line)
    if exact := exact_instead(summary):
        lines.append(f"{exact[0].upper()}{exact[1:]}.")
    return tuple(lines)


def _coverage(summary: AuditSummary) -> list[str]:
    seen, many = summary.coverage, summary.unit.many
    deepest = len(summary.attributes) if summary.depth == "full" else summary.depth
    tested = [one for depth, one in seen.by_depth.items() if int(depth) <= deepest]
    in_smaller = "few" if seen.n_users_below is None else f"{seen.n_users_below:,}"
    lines = [
        f"Groups by up to {plural(min(deepest, len(summary.attributes)), 'attribute')}: "
        f"{sum(one.n_groups for one in tested):,} of at least {seen.min_users:,} {many}, "
        f"{sum(one.n_groups_below for one in tested):,} smaller. Intersections of all attributes: "
        f"{seen.n_full:,} of {seen.n_full_observed:,}, with {in_smaller} of {summary.n_users:,} "
        f"{many} in smaller ones."
    ]
    for name, attribute in summary.attributes.items():
        n = attribute.n_values_below_support
        if n:
            named = [f"{shown(v)} ({n:,})" for v, n in attribute.small_values.items()]
            rest = f" and {n - VALUES_SHOWN:,} more" if n > VALUES_SHOWN else ""
            values = ", ".join(named[:VALUES_SHOWN])
            lines.append(f"{plain(name)}: too few {many} with value {values}{rest}.")
    return lines


def plan_lines(summary: AuditSummary) -> tuple[str, ...]:
    """Whether an audit was done as planned; empty where there was no plan."""
    plan = summary.plan
    if plan is None:
        return ()
    deviations = [plain(each, LONGEST_LINE) for each in plan.deviations]
    which = f"({plain(plan.file, LONGEST_PATH)}, checksum {plan.checksum[:12]})"
    if not deviations:
        return (f"As planned {which}.",)
    lines = (f"Deviates from the plan: {each}." for each in deviations)
    return f"Planned {which}, with {plural(len(deviations), 'deviation')}.", *lines


def settings_line(summary: AuditSummary) -> str:
    """Which options came from a settings file; empty where there was none."""
    settings = summary.settings
    if settings is None:
        return ""
    names = listed(settings.options) or "none"
    return f"{plain(settings.file, LONGEST_PATH)}, checksum {settings.sha256[:12]}: {names}"


def catalogue_lines(summary: AuditSummary) -> tuple[str, ...]:
    """How places are spread over the whole catalogue; empty where users are compared."""
    found = summary.catalogue
    if found is None:
        return ()
    share_of_all = found.n_shown / max(1, found.n_items)
    lines = [
        f"The first {found.k} places of {found.n_lists:,} lists show {found.n_shown:,} of "
        f"{plural(found.n_items, 'item')} ({percent(share_of_all)}). Gini index of item "
        f"exposure: {number(found.gini)} (0: equal)."
    ]
    shares = sorted(
        (one.n_shown / one.n_items, group_label({name: value}), one.n_items)
        for name, about in found.by_value.items()
        for value, one in about.items()
        if one.n_items >= summary.coverage.min_users
    )
    least = [
        f"{label} {percent(share)} of {n:,}" for share, label, n in shares if share < share_of_all
    ]
    if least:
        lines.append(f"The smallest shares shown at all: {'; '.join(least[:VALUES_SHOWN])}.")
    return tuple(lines)
