"""The verdicts of the page: a sentence for all metrics, a card for each."""

from __future__ import annotations

from fairrec.core.units import Unit
from fairrec.report.page.view import GapScale, VerdictCard
from fairrec.report.text.metric_words import beside_chance, is_beyond_chance, mean_over
from fairrec.report.text.verdict import Status, Verdict
from fairrec.report.words import number, with_and
from fairrec.result.metric_schema import MetricResult
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
