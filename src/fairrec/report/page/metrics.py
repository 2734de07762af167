"""Metrics on the page: their verdicts, what is ruled out of each, and how alike they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.core.errors import plain
from fairrec.core.units import Unit
from fairrec.report.page.chart_view import (
    Certificate,
    CertificateStep,
    Correlation,
    CorrelationCell,
)
from fairrec.report.page.groups import PageGroups, drawn_metrics, short
from fairrec.report.page.view import GapScale, PageLimits, VerdictCard
from fairrec.report.text.metric_words import (
    beside_chance,
    curve_in_words,
    harm_word,
    is_beyond_chance,
    mean_over,
    scored,
)
from fairrec.report.text.verdict import Status, Verdict
from fairrec.report.words import MINUS, number, plural, with_and
from fairrec.result.metric_schema import MetricResult, MetricVerdict
from fairrec.result.schema import AuditSummary

_CLAUSES: dict[Status, str] = {
    "worse by more than matters": "groups worse off by more than matters in",
    "worse, may be less than matters": "groups worse off, perhaps by less than matters, in",
    "worse": "groups worse off in",
    "differs by more than matters": "groups differ by more than matters in",
    "differs, may be less than matters": "groups differ, perhaps by less than matters, in",
    "differs": "groups differ in",
    "inconclusive": "inconclusive in",
    "not worse by more than matters": "not worse by more than matters in",
    "differs by no more than matters": "no difference beyond what matters in",
    "same for everyone": "the same for everyone:",
    "same for all": "the same for all:",
    "not tested": "not tested:",
}
"""How metrics of one verdict are introduced."""


def answer(verdicts: tuple[Verdict, ...]) -> str:
    """The answer in one sentence, what matters most first."""
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
    # what chance shows is within circumstances then, and the gap is not
    scale = None if summary.given is not None else _scale(result, summary.unit)
    mean, whose = number(result.mean), mean_over(result, summary)
    return VerdictCard(verdict, f"chart-{at}", mean, whose, scale)


def _scale(result: MetricResult, unit: Unit) -> GapScale | None:
    if result.gap is None or result.chance is None or result.is_constant:
        return None
    chance = result.chance
    end = 1.08 * max(result.gap, chance.q95, chance.mean) or 1.0
    return GapScale(
        gap=number(result.gap),
        chance=number(chance.mean),
        q95=number(chance.q95),
        is_beyond=is_beyond_chance(result.gap, chance),
        gap_at=round(100 * result.gap / end, 1),
        chance_at=round(100 * chance.mean / end, 1),
        q95_at=round(100 * chance.q95 / end, 1),
        alternative=f"Gap {number(result.gap)}; {beside_chance(result.gap, chance, unit)}.",
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
    largest = groups.frame.of_metric[metric]["support"].max()
    return Certificate(
        metric=plain(metric),
        anchor=f"ruled-out-{at}",
        steps=tuple(
            CertificateStep(step.support, short(step.harm), step.n_groups)
            for step in verdict.certificate
        ),
        largest=largest if isinstance(largest, int) else 0,
        matters=verdict.matters,
        unit=summary.unit,
        harm_name=f"largest {harm_word(result)} not ruled out",
        size_name=f"{scored(summary).many} in the group",
        alternative=curve_in_words(result, verdict, summary),
        rows=tuple(
            (f"{step.support:,}", number(step.harm), f"{step.n_groups:,}")
            for step in verdict.certificate
        ),
    )


def metric_correlation(groups: PageGroups, limits: PageLimits) -> Correlation | None:
    """Pearson's correlation of every two metrics over the full combinations known for both."""
    names = [*drawn_metrics(groups.summary, limits)]
    if len(names) < 2:
        return None
    values = groups.frame.full_values(names)
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
            f"Pearson's correlation of group values over {plural(n_groups, 'full combination')}: "
            "near +1, groups that are high in one are high in the other; near \u22121, low."
        ),
    )


def _pearson(one: FloatArray, other: FloatArray) -> float | None:
    if len(one) < 3 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    return round(float(np.corrcoef(one, other)[0, 1]), 4)
