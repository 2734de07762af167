"""Summary and table of groups -> the view of the page, with the cards of its metrics."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC

import numpy as np
import polars as pl

from fairrec.core.arrays import FloatArray
from fairrec.core.audit_options import smallest_group
from fairrec.core.errors import plain
from fairrec.report.covariates import compared_with, difference_name, no_longer_lines
from fairrec.report.metric_words import (
    beside_chance,
    describe_ruled_out,
    direction,
    harm_word,
    mean_over,
    scored,
)
from fairrec.report.page.attributes import distributions, pair_maps
from fairrec.report.page.findings import (
    group_cards,
    no_findings,
    overlap_map,
    side_by_side,
    table_rows,
)
from fairrec.report.page.group_charts import group_charts
from fairrec.report.page.groups import (
    PageGroups,
    about_drawn,
    about_rows,
    dot_plots,
    drawn_metrics,
)
from fairrec.report.page.view import (
    Certificate,
    Correlation,
    CorrelationCell,
    Definition,
    GapScale,
    InputFile,
    PageLimits,
    PageSection,
    PageView,
    Reproduce,
    SearchHistory,
    VerdictCard,
)
from fairrec.report.ratios import ratio_table
from fairrec.report.verdict import Status, Verdict
from fairrec.report.view import LONGEST_NAME, about_model, build_view, settings_line
from fairrec.report.words import MINUS, confidence, number, plural, rounded_up, with_and
from fairrec.result.folder import AuditRun
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.statistics.verdict import MetricVerdict

LONGEST_COMMAND = 4000


def build_page_view(
    summary: AuditSummary,
    groups: pl.DataFrame,
    group_file: str = "groups.parquet",
    limits: PageLimits | None = None,
    run: AuditRun | None = None,
    section: PageSection | None = None,
) -> PageView:
    """The view of a result.

    Parameters
    ----------
    groups : the table of groups, as in `groups.parquet`
    group_file : link to that table
    run : when it was made; None where that was not passed on
    section : of the feature that this audit is a part of, if it is one
    """
    limits = limits or PageLimits()
    # it checks that the groups are those of the result
    named = PageGroups(groups, summary)
    words = build_view(summary, groups) if section is None else section.words
    findings, findings_note = group_cards(named, limits)
    charts = group_charts(named, limits)
    pairs, pairs_note = pair_maps(named, limits)
    table, table_note = table_rows(named, limits)
    return PageView(
        words=words,
        unit=summary.unit,
        summary=answer(words.verdicts),
        dots=dot_plots(named, limits),
        dots_note=about_rows(named, limits.findings),
        verdicts=tuple(
            verdict_card(at, verdict, result, summary)
            for at, (verdict, result) in enumerate(
                zip(words.verdicts, summary.metrics.values(), strict=True)
            )
        ),
        findings=findings,
        findings_note=findings_note,
        overlaps=overlap_map(named),
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
        is_adjusted=summary.adjustment is not None,
        distributions=distributions(summary, limits),
        metrics=tuple(plain(name) for name in summary.metrics),
        attributes=tuple(plain(name) for name in summary.attributes),
        table=table,
        table_note=table_note,
        ratios=ratio_table(summary, limits.ratios),
        side_by_side=side_by_side(named),
        correlation=metric_correlation(named, limits),
        histories=_histories(summary),
        definitions=tuple(
            Definition(
                plain(name), plain(result.definition, 500), direction(result.higher_is_better)
            )
            for name, result in summary.metrics.items()
        ),
        reproduce=_reproduce(summary),
        group_file=group_file,
        section=section,
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


_CLAUSES: dict[Status, str] = {
    "worse beyond tolerance": "groups worse off beyond tolerance in",
    "worse": "groups worse off in",
    "differs beyond tolerance": "groups differ beyond tolerance in",
    "differs": "groups differ in",
    "inconclusive": "inconclusive in",
    "within tolerance": "within tolerance in",
    "same for everyone": "the same for everyone:",
    "same for all": "the same for all:",
    "not tested": "not tested:",
}
"""How metrics of one verdict are introduced."""


def answer(verdicts: tuple[Verdict, ...]) -> str:
    """The answer in one sentence, the worst verdict first."""
    if all(verdict.status == "not tested" for verdict in verdicts):
        return "Nothing was tested against chance."
    said = []
    for status, words in _CLAUSES.items():
        metrics = [
            f"{verdict.metric} ({verdict.qualifier})" if verdict.qualifier else verdict.metric
            for verdict in verdicts
            if verdict.status == status
        ]
        said += [f"{words} {with_and(metrics)}"] if metrics else []
    sentence = "; ".join(said)
    return f"{sentence[0].upper()}{sentence[1:]}."


def verdict_card(
    at: int, verdict: Verdict, result: MetricResult, summary: AuditSummary
) -> VerdictCard:
    """The card of a metric; `at` is its place among them."""
    # what chance shows is within covariates then, and the gap is not
    scale = None if summary.adjustment is not None else _scale(result)
    mean, whose = number(result.mean), mean_over(result, summary)
    return VerdictCard(verdict, f"chart-{at}", mean, whose, scale)


def _scale(result: MetricResult) -> GapScale | None:
    if result.gap is None or result.chance is None or result.is_constant:
        return None
    chance = result.chance
    end = 1.08 * max(result.gap, chance.q95, chance.mean) or 1.0
    return GapScale(
        gap=number(result.gap),
        chance=number(chance.mean),
        q95=number(chance.q95),
        is_beyond=result.gap > chance.q95 and chance.p_value <= 0.05,
        gap_at=round(100 * result.gap / end, 1),
        chance_at=round(100 * chance.mean / end, 1),
        q95_at=round(100 * chance.q95 / end, 1),
        alternative=f"Gap {number(result.gap)}; {beside_chance(chance)}.",
    )


def certificates(groups: PageGroups, limits: PageLimits) -> tuple[Certificate, ...]:
    """One for each metric that was tested and is not the same for everyone.

    Of very many metrics, some have words alone.
    """
    summary = groups.summary
    drawn = drawn_metrics(summary, limits)
    found = {
        name: _certificate(at, name, result, result.verdict, groups)
        for at, (name, result) in enumerate(summary.metrics.items())
        if result.verdict is not None and result.is_tested and not result.is_constant
    }
    return tuple(
        part if name in drawn else replace(part, steps=(), rows=()) for name, part in found.items()
    )


def _certificate(
    at: int, metric: str, result: MetricResult, verdict: MetricVerdict, groups: PageGroups
) -> Certificate:
    summary = groups.summary
    largest = groups.of_metric[metric]["support"].max()
    return Certificate(
        metric=plain(metric),
        anchor=f"ruled-out-{at}",
        steps=verdict.certificate,
        largest=largest if isinstance(largest, int) else 0,
        tolerance=verdict.tolerance,
        unit=summary.unit,
        harm_name=f"largest {harm_word(result)} not ruled out",
        size_name=f"{scored(summary).many} in the group",
        alternative=describe_ruled_out(result, summary),
        rows=tuple(
            (f"{step.support:,}", rounded_up(step.harm), f"{step.n_groups:,}")
            for step in verdict.certificate
        ),
    )


def metric_correlation(groups: PageGroups, limits: PageLimits) -> Correlation | None:
    """Pearson's correlation of every two metrics over the full intersections known for both."""
    names = [*drawn_metrics(groups.summary, limits)]
    if len(names) < 2:
        return None
    values = groups.full_values(names)
    is_known = ~np.isnan(values)
    if is_known.sum(axis=1).min() < 3:
        return None
    cells = []
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            both = is_known[i] & is_known[j]
            found = _pearson(values[i, both], values[j, both])
            text = "-" if found is None else f"{found:+.2f}".replace("-", MINUS)
            cells.append(CorrelationCell(plain(first), plain(second), found, text))
    n_groups = int(is_known.any(axis=0).sum())
    return Correlation(
        metrics=tuple(plain(name) for name in names),
        cells=tuple(cells),
        sentence=(
            f"Pearson's correlation over {plural(n_groups, 'intersection')} of all attributes: "
            "near +1, groups that are high in one are high in the other; near \u22121, low."
        ),
    )


def _pearson(one: FloatArray, other: FloatArray) -> float | None:
    if len(one) < 3 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    return round(float(np.corrcoef(one, other)[0, 1]), 4)
