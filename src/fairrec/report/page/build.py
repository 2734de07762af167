"""Summary and table of groups -> the view of the page."""

from __future__ import annotations

from datetime import UTC

import polars as pl

from fairrec.core.audit_options import smallest_group
from fairrec.core.errors import plain
from fairrec.report.mitigation.view import build_mitigation_view
from fairrec.report.page.attributes import distributions, pair_maps
from fairrec.report.page.chart_view import SearchHistory
from fairrec.report.page.dot_plot import about_rows, dot_plots
from fairrec.report.page.findings import group_cards, no_findings, side_by_side, table_rows
from fairrec.report.page.group_charts import group_charts
from fairrec.report.page.groups import GroupFrame, PageGroups, about_drawn
from fairrec.report.page.metrics import answer, certificates, metric_correlation, verdict_card
from fairrec.report.page.view import Definition, InputFile, PageLimits, PageView, Reproduce
from fairrec.report.text.circumstances import compared_with, difference_name, no_longer_lines
from fairrec.report.text.counterfactual import changes_tables, counterfactual_view
from fairrec.report.text.counterfactual import headline as change_headline
from fairrec.report.text.metric_words import direction
from fairrec.report.text.ratios import ratios_view
from fairrec.report.text.view import LONGEST_NAME, about_model, build_view, settings_line
from fairrec.report.words import confidence, number
from fairrec.result.counterfactual import CounterfactualSummary
from fairrec.result.mitigation_schema import MitigationSummary
from fairrec.result.saved import AuditRun
from fairrec.result.schema import AuditSummary

LONGEST_COMMAND = 4000


def build_page_view(
    summary: AuditSummary,
    groups: pl.DataFrame,
    group_file: str = "groups.parquet",
    limits: PageLimits | None = None,
    mitigation: MitigationSummary | None = None,
    run: AuditRun | None = None,
    counterfactual: CounterfactualSummary | None = None,
) -> PageView:
    """The view of a result.

    Parameters
    ----------
    groups : the table of groups, as in `groups.parquet`
    group_file : link to that table
    mitigation : of the lists this audit is of, if they are re-ranked
    run : when it was made; None in results from before that was kept
    counterfactual : of what changes for the users of this audit, if it is one
    """
    limits = limits or PageLimits()
    words = (
        build_view(summary)
        if counterfactual is None
        else counterfactual_view(counterfactual, summary)
    )
    named = PageGroups(GroupFrame(groups, summary), summary)
    findings, findings_note = group_cards(named, limits)
    charts = group_charts(named, limits)
    pairs, pairs_note = pair_maps(named, limits)
    table, table_note = table_rows(named, limits)
    return PageView(
        title=words.title,
        unit=summary.unit,
        summary=answer(words.verdicts),
        overview=words.overview,
        dots=dot_plots(named, limits),
        dots_note=about_rows(named, limits.findings),
        plan=words.plan,
        missing=words.missing,
        checks=words.checks,
        circumstances=words.circumstances,
        verdicts=tuple(
            verdict_card(at, verdict, result, summary)
            for at, (verdict, result) in enumerate(
                zip(words.verdicts, summary.metrics.values(), strict=True)
            )
        ),
        findings=findings,
        findings_note=findings_note,
        no_longer=no_longer_lines(summary),
        no_findings=no_findings(words.verdicts),
        certificates=certificates(named, limits),
        charts=charts,
        charts_note=about_drawn(summary, limits),
        pairs=pairs,
        pairs_note=pairs_note,
        confidence=confidence(summary.alpha),
        compared_with=compared_with(summary),
        difference=difference_name(summary),
        is_adjusted=summary.given is not None,
        distributions=distributions(summary, limits),
        metrics=tuple(plain(name) for name in summary.metrics),
        attributes=tuple(plain(name) for name in summary.attributes),
        table=table,
        table_note=table_note,
        ratios=ratios_view(summary, limits.ratios),
        side_by_side=side_by_side(named),
        correlation=metric_correlation(named, limits),
        search=words.search,
        histories=_histories(summary),
        coverage=words.coverage,
        notes=words.warnings,
        definitions=tuple(
            Definition(plain(name), plain(result.definition, 500), direction(result))
            for name, result in summary.metrics.items()
        ),
        reproduce=_reproduce(summary),
        group_file=group_file,
        mitigation=None if mitigation is None else build_mitigation_view(mitigation),
        changed="" if counterfactual is None else change_headline(counterfactual),
        changes=() if counterfactual is None else changes_tables(counterfactual),
        heading=plain(summary.title, LONGEST_NAME),
        author=plain(summary.author, LONGEST_NAME),
        about_model=about_model(summary),
        made_at=f"{run.made_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if run else "",
    )


def _histories(summary: AuditSummary) -> tuple[SearchHistory, ...]:
    search = summary.search
    histories = []
    for name, searched in search.metrics.items():
        if not searched.history:
            continue
        last = searched.history[-1]
        histories.append(
            SearchHistory(
                metric=plain(name),
                steps=searched.history,
                users_total=search.users_total,
                unit=summary.unit,
                alternative=(
                    f"The gap in {plain(name)} that the search knew grew from "
                    f"{number(searched.history[0].gap)} to {number(last.gap)} while "
                    f"{last.users:,} of {summary.unit.count(search.users_total)} were scored."
                ),
            )
        )
    return tuple(histories)


def _permutations(summary: AuditSummary) -> str:
    """As many as were asked for, and as many as it took."""
    drawn = summary.permutations_drawn
    took = f"; {drawn:,} drawn, so that another seed gives the same outcome"
    return f"{summary.permutations:,}{took if drawn > summary.permutations else ''}"


def _reproduce(summary: AuditSummary) -> Reproduce:
    least, support = summary.coverage.min_users, summary.coverage.min_support
    rule = (
        ""
        if support is not None and support >= 1
        else f" ({smallest_group(support, summary.unit)})"
    )
    origin = settings_line(summary)
    settings = (
        *([("settings from", origin)] if origin else []),
        ("seed", str(summary.seed)),
        ("combined attributes", "all" if summary.depth == "full" else f"up to {summary.depth}"),
        ("smallest group", f"{summary.unit.count(least)}{rule}"),
        ("permutations", _permutations(summary)),
        ("share without a value that is let pass", f"{summary.max_undefined:g}"),
        ("significance level", f"{summary.alpha:g}"),
        ("p-values adjusted by", "weighted minP (Westfall and Young): family-wise error rate"),
        ("FairRec", summary.fairrec_version),
        *((plain(name), plain(version)) for name, version in summary.versions.items()),
    )
    return Reproduce(
        command=plain(summary.command, LONGEST_COMMAND),
        settings=settings,
        inputs=tuple(
            InputFile(plain(part), plain(given.name, 300), given.sha256 or "not read from a file")
            for part, given in summary.inputs.items()
        ),
    )
