"""The verdicts of the page: a sentence for all metrics, a card for each."""

from __future__ import annotations

from fairrec.report.page.view import GapScale, VerdictCard
from fairrec.report.text.verdict import Verdict
from fairrec.report.words import number, p_value
from fairrec.result.schema import MetricResult


def answer(verdicts: tuple[Verdict, ...]) -> str:
    """The answer in one sentence."""
    found = [verdict.metric for verdict in verdicts if verdict.status == "gap found"]
    clear = [verdict.metric for verdict in verdicts if verdict.status == "no gap detected"]
    untested = [verdict.metric for verdict in verdicts if verdict.status == "not tested"]
    if not (found or clear):
        return "Nothing was tested against chance."
    not_tested = f"; not tested: {', '.join(untested)}" if untested else ""
    if found:
        which = " and ".join(filter(None, (", ".join(found[:-1]), found[-1])))
        rest = f"; no gap detected in {', '.join(clear)}" if clear else ""
        return f"Gap found in {which}{rest}{not_tested}."
    where = f" in {', '.join(clear)}" if untested else ""
    return f"No gap detected{where}, at this support and with this power{not_tested}."


def verdict_card(at: int, verdict: Verdict, result: MetricResult) -> VerdictCard:
    """The card of a metric; `at` is its place among them."""
    return VerdictCard(verdict, f"chart-{at}", number(result.mean), _scale(result))


def _scale(result: MetricResult) -> GapScale | None:
    if result.gap is None or result.chance is None:
        return None
    chance = result.chance
    end = 1.08 * max(result.gap, chance.q95, chance.mean) or 1.0
    return GapScale(
        gap=number(result.gap),
        chance=number(chance.mean),
        q95=number(chance.q95),
        is_beyond=result.gap > chance.q95,
        gap_at=round(100 * result.gap / end, 1),
        chance_at=round(100 * chance.mean / end, 1),
        q95_at=round(100 * chance.q95 / end, 1),
        alternative=(
            f"Gap {number(result.gap)}; chance alone shows {number(chance.mean)} on average and "
            f"up to {number(chance.q95)} in 95% of cases; p = {p_value(chance.p_value)}."
        ),
    )
