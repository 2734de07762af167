"""The view: every word and number of a report, sorted and rounded; layouts only print it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import polars as pl

from fairrec.core.errors import listed, plain
from fairrec.inputs.notes import CHECK_FIRST
from fairrec.inputs.users import LACKS, MISSING, multivalued_column
from fairrec.report.answer import Answer, Note
from fairrec.report.audit_answer import audit_answer
from fairrec.report.covariates import (
    compared_with,
    covariate_lines,
    difference_name,
    explained_lines,
)
from fairrec.report.findings import (
    format_difference,
    one_at_a_time,
    simultaneous_interval,
    users_known,
)
from fairrec.report.metric_words import end_names, end_words, exact_instead, p_adjusted
from fairrec.report.missing import missing_lines, unknown_lines
from fairrec.report.ratios import RatiosView, ratios_view
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
from fairrec.result.schema import AuditSummary, SearchSummary
from fairrec.statistics.inequality import CatalogueExposure, ItemsShown

FINDINGS_SHOWN = 10
LONGEST_NUMBER = 15
"""Digits of a number that is written out."""
LONGEST_LINE = 2000
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class ReportView:
    """A report, ready to lay out.

    Parameters
    ----------
    checks : notes that figures may be wrong, read before any of them
    called : what the auditor calls the audit and the model; empty where not said
    """

    title: str
    answer: Answer
    plan: tuple[str, ...]
    missing: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    findings: TableView
    ends: TableView
    ratios: RatiosView
    search: tuple[str, ...]
    coverage: tuple[str, ...]
    warnings: tuple[str, ...]
    reproduce: str
    covariates: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    explained: tuple[str, ...] = ()
    called: str = ""


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
    settings = settings_line(summary)
    notes = [plain(warning, LONGEST_LINE) for warning in summary.warnings]
    checks = tuple(n.removeprefix(CHECK_FIRST) for n in notes if n.startswith(CHECK_FIRST))
    warnings = tuple(note for note in notes if not note.startswith(CHECK_FIRST))
    verdicts = tuple(
        build_verdict(name, result, summary) for name, result in summary.metrics.items()
    )
    missing, covariates = missing_lines(summary), covariate_lines(summary)
    said = {
        "plan": plan_lines(summary),
        "check": checks,
        "missing": missing,
        "adjusted": explained_lines(summary),
        "covariates": covariates,
        "search": _search(summary)[:1],
        "catalogue": catalogue_lines(summary)[:1],
        "note": warnings,
    }
    marked = [Note(kind, text) for kind, lines in said.items() for text in lines]
    return ReportView(
        title=(
            f"{summary.unit.count(summary.n_users)}{_scored(summary.search)}, {_items(summary)}"
            f"groups by {', '.join(_attributes(summary))}"
        ),
        called=" · ".join(
            filter(
                None,
                (
                    plain(summary.title, LONGEST_NAME),
                    about_model(summary),
                    plain(summary.author, LONGEST_NAME),
                ),
            )
        ),
        answer=audit_answer(summary, verdicts, marked, groups, folder, is_saved=is_saved),
        plan=plan_lines(summary),
        missing=missing,
        checks=checks,
        covariates=covariates,
        verdicts=verdicts,
        findings=_findings(summary),
        explained=explained_lines(summary),
        ends=_ends(summary),
        ratios=ratios_view(summary),
        search=_search(summary),
        coverage=_coverage(summary),
        warnings=warnings,
        reproduce=(
            f"{plain(summary.command, LONGEST_LINE)}  (FairRec {summary.fairrec_version}, "
            f"seed {summary.seed}{f'; settings from {settings}' if settings else ''})"
        ),
    )


def about_model(summary: AuditSummary) -> str:
    """The model and its version, as the auditor calls them: `ranker@2`."""
    model = summary.model
    if model is None:
        return ""
    name, version = plain(model.name, LONGEST_NAME), plain(model.version, LONGEST_NAME)
    return "@".join(filter(None, (name, version)))


def _items(summary: AuditSummary) -> str:
    """How many items were ranked; none where values were given, or nobody knows."""
    if summary.measured_by in ("values", None):
        return ""
    return f"{plural(summary.n_candidates, summary.measured_by.removesuffix('s'))}, "


def _findings(summary: AuditSummary) -> TableView:
    rows, n_more = [], 0
    found = [finding for result in summary.metrics.values() for finding in result.findings]
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
                    one_at_a_time(finding),
                    p_adjusted(finding.p_adjusted, summary),
                    outcome_words(finding, result, end_words(name, summary.unit), summary),
                )
            )
    level = confidence(summary.alpha)
    one_by_one = f"{level} interval, one at a time"
    has_end = any(result.higher_is_better is not None for result in summary.metrics.values())
    first = "worst first" if has_end else "furthest first"
    value = "value" if summary.adjustment is None else "unadjusted value"
    return TableView(
        title=f"Groups that differ significantly from {compared_with(summary)}, {first}",
        columns=(
            *("metric", "group", summary.unit.many, value, difference_name(summary), "shrunken"),
            *(f"{level} interval, all at once", one_by_one),
            *("p adjusted", "verdict"),
        ),
        numeric=(False, False, *(True,) * 7, False),
        rows=tuple(rows),
        note=" ".join(
            [f"and {n_more:,} more in result.json."] * bool(n_more)
            + ["Shrunken: what is left after correcting for the group being picked out."]
            + ["Where a group is not fully scored, its value is that of a random sample of it."]
            * any(not finding.is_fully_scored for finding in found)
        ),
    )


def _ends(summary: AuditSummary) -> TableView:
    rows = []
    for name, result in summary.metrics.items():
        low, high = end_names(result)
        for which, ends in ((high, result.most_advantaged), (low, result.most_disadvantaged)):
            for place, end in enumerate(ends, start=1):
                rows.append(
                    (
                        plain(name),
                        which if len(ends) == 1 else f"{which} {place}",
                        group_label(end.group),
                        f"{end.support:,}",
                        number(end.value, result.mean),
                    )
                )
    served = "served " if summary.unit.is_users else ""
    return TableView(
        title=f"Best and worst {served}intersections of all attributes",
        columns=("metric", "end", "group", summary.unit.many, "value"),
        numeric=(False, False, False, True, True),
        rows=tuple(rows),
    )


def _attributes(summary: AuditSummary) -> list[str]:
    """Attributes by name; those that were made of the values of one column together."""
    columns = Counter(
        multivalued_column(name, about.values) or name for name, about in summary.attributes.items()
    )
    return [plain(name) + (f" ({n} values)" if n > 1 else "") for name, n in columns.items()]


def _scored(search: SearchSummary) -> str:
    if search.users_scored == search.users_total:
        return ""
    return f" ({search.users_scored:,} of them scored)"


def _search(summary: AuditSummary) -> tuple[str, ...]:
    """How users were chosen for scoring; nothing where all scores were at hand."""
    search, unit = summary.search, summary.unit
    if not search.metrics:
        return ()
    endings = {
        "finished": "it had finished",
        "users spent": f"the budget of {unit.count(search.budget_users or 0)} was spent",
        "time spent": f"the budget of {search.budget_seconds or 0:g} s was spent",
    }
    share = search.users_scored / search.users_total
    lines = [
        f"The searcher {search.name} scored {search.users_scored:,} of "
        f"{unit.count(search.users_total)} ({share:.1%}) and ended because "
        f"{endings[search.ending]}."
    ]
    n_full = search.n_fully_scored + search.n_not_fully_scored
    if search.n_not_fully_scored:
        lines.append(
            f"Fully scored: {search.n_fully_scored:,} of {plural(n_full, 'intersection')} of all "
            "attributes. The gap is measured between these only."
        )
    if search.users_scored < search.users_total:
        lines.append(
            f"Drawn at random before anything was scored: "
            f"{unit.count(search.users_reference)}. Means over all, and tests of groups not "
            "fully scored, rest on them."
        )
    before = f", and {search.users_before:,} {unit.many}' scores were in the ledger"
    name = f" ({plain(search.model_identity, 200)})" if search.model_identity else ""
    lines.append(
        f"The recommender{name} was asked for {plural(search.rows_paid, 'score')} in "
        f"{plural(search.calls, 'call')}{before if search.users_before else ''}."
    )
    if search.faults:
        kinds = ", ".join(f"{n:,} x {plain(kind)}" for kind, n in search.faults.items())
        lines.append(f"Calls that failed and were tried again: {kinds}.")
    spent = search.spent_in_all
    if spent is not None and spent.calls > search.calls:
        lines.append(
            f"The ledger holds the scores of {unit.count(spent.users)}, paid for in "
            f"{plural(spent.calls, 'call')} in all."
        )
    if exact := exact_instead(summary):
        lines.append(f"{exact[0].upper()}{exact[1:]}.")
    return tuple(lines)


def _in_short(digits: str) -> str:
    """A whole number that may have thousands of digits."""
    return f"{int(digits):,}" if len(digits) <= LONGEST_NUMBER else f"over 10^{len(digits) - 1}"


def _coverage(summary: AuditSummary) -> tuple[str, ...]:
    seen, many = summary.coverage, summary.unit.many
    in_smaller = "few" if seen.n_users_below is None else f"{seen.n_users_below:,}"
    lines = [
        f"{seen.n_full:,} of {seen.n_full_observed:,} intersections of all attributes that occur "
        f"({_in_short(seen.n_full_possible)} possible) have at least {seen.min_users:,} {many}; "
        f"{in_smaller} of {summary.n_users:,} {many} are in smaller ones."
    ]
    deepest = len(summary.attributes) if summary.depth == "full" else summary.depth
    tested = [one for depth, one in seen.by_depth.items() if int(depth) <= deepest]
    n_groups = sum(depth.n_groups for depth in tested)
    n_below = sum(depth.n_groups_below for depth in tested)
    if len(summary.attributes) > 1:
        up_to = plural(min(deepest, len(summary.attributes)), "attribute")
        lines.append(
            f"By up to {up_to}: {plural(n_groups, 'group')} tested, {n_below:,} too small."
        )
    for name, attribute in summary.attributes.items():
        if attribute.n_values_below_support:
            named = ", ".join(
                f"{shown(v)} ({n:,})" for v, n in [*attribute.small_values.items()][:5]
            )
            n_more = attribute.n_values_below_support - min(5, len(attribute.small_values))
            rest = f" and {n_more:,} more" if n_more else ""
            lines.append(f"{plain(name)}: too few {many} with value {named}{rest}.")
    return (*catalogue_lines(summary), *lines, *unknown_lines(summary))


LONGEST_PATH, LONGEST = 300, 2000


def plan_lines(summary: AuditSummary) -> tuple[str, ...]:
    """Whether an audit was done as planned; nothing where there was no plan."""
    plan = summary.plan
    if plan is None:
        return ()
    which = f"{plain(plan.file, LONGEST_PATH)}, checksum {plan.checksum[:12]}"
    if not plan.deviations:
        return (f"As planned ({which}).",)
    n_deviations = plural(len(plan.deviations), "deviation")
    lines = (f"Deviates from the plan: {plain(each, LONGEST)}." for each in plan.deviations)
    return (f"Planned ({which}), with {n_deviations}.", *lines)


def settings_line(summary: AuditSummary) -> str:
    """Which options came from a settings file; nothing where there was none."""
    settings = summary.settings
    if settings is None:
        return ""
    names = listed(settings.options) or "none"
    return f"{plain(settings.file, LONGEST_PATH)}, checksum {settings.sha256[:12]}: {names}"


_SHOWN = 5


def catalogue_lines(summary: AuditSummary) -> tuple[str, ...]:
    """What is to be said of the whole catalogue; nothing where users are compared."""
    found = summary.catalogue
    if found is None:
        return ()
    lines = [
        f"The first {found.k} places of {found.n_lists:,} lists show {found.n_shown:,} of "
        f"{plural(found.n_items, 'item')} ({percent(found.n_shown / max(1, found.n_items))}); the "
        f"Gini index of their attention is {number(found.gini)} (0: all get the same)."
    ]
    lines += _seldom_shown(found, summary.coverage.min_users)
    return tuple(lines)


def _seldom_shown(found: CatalogueExposure, min_users: int) -> list[str]:
    """The values of which the smallest share of items is in any list; none where all are."""
    kinds: dict[tuple[str, str], ItemsShown] = {}
    for name, about in found.by_value.items():
        column = multivalued_column(name, about)
        for value, one in about.items():
            # what lacks one of several values is no kind of items, what has none of them is one
            if one.n_items >= min_users and not (column and value == LACKS):
                kinds[column if column and value == MISSING else name, value] = one
    share_of_all = found.n_shown / max(1, found.n_items)
    shares = {kind: one.n_shown / one.n_items for kind, one in kinds.items()}
    least = sorted(
        (share, -kinds[kind].n_items, *kind)
        for kind, share in shares.items()
        if share < share_of_all
    )
    if not least:
        return []
    named = [
        f"{group_label({name: value})} {kinds[name, value].n_shown:,} of {-n:,} ({percent(share)})"
        for share, n, name, value in least[:_SHOWN]
    ]
    return [f"The smallest shares shown at all: {'; '.join(named)}."]
