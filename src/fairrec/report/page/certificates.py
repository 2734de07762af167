"""What is ruled out, by the size of the groups: a curve for each metric."""

from __future__ import annotations

from dataclasses import replace

from fairrec.core.errors import plain
from fairrec.report.page.chart_view import Certificate, CertificateStep
from fairrec.report.page.drawn_metrics import drawn_metrics
from fairrec.report.page.groups import PageGroups, short
from fairrec.report.page.view import PageLimits
from fairrec.report.text.metric_words import curve_in_words, harm_word, scored
from fairrec.report.words import number
from fairrec.result.metric_schema import MetricResult, MetricVerdict


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
