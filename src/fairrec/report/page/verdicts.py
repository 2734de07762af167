"""The verdicts of the page: a sentence for all metrics, a card for each."""

from __future__ import annotations

from fairrec.report.page.view import GapScale, VerdictCard
from fairrec.report.text.verdict import Status, Verdict
from fairrec.report.words import number, p_value
from fairrec.result.schema import MetricResult

_CLAUSES: tuple[tuple[Status, str], ...] = (
    ("gap found", "gap found in"),
    ("inconclusive", "inconclusive in"),
    ("no gap detected", "no gap detected in"),
    ("same for everyone", "the same for everyone:"),
    ("not tested", "not tested:"),
)
"""How metrics of one verdict are introduced, what matters most first."""


def answer(verdicts: tuple[Verdict, ...]) -> str:
    """The answer in one sentence."""
    metrics = {
        status: [verdict.metric for verdict in verdicts if verdict.status == status]
        for status, _ in _CLAUSES
    }
    if len(metrics["not tested"]) == len(verdicts):
        return "Nothing was tested against chance."
    is_clear = not (metrics["gap found"] or metrics["inconclusive"])
    if is_clear and metrics["no gap detected"]:
        others = [status for status in ("same for everyone", "not tested") if metrics[status]]
        where = f" in {', '.join(metrics['no gap detected'])}" if others else ""
        said = [f"no gap detected{where}, at this support and with this power"]
        shown = [(status, words) for status, words in _CLAUSES if status in others]
    else:
        said, shown = [], [(status, words) for status, words in _CLAUSES if metrics[status]]
    said += [f"{words} {_listed(metrics[status])}" for status, words in shown]
    sentence = "; ".join(said)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def verdict_card(at: int, verdict: Verdict, result: MetricResult) -> VerdictCard:
    """The card of a metric; `at` is its place among them."""
    whose = "users with a value" if result.n_undefined else "all users"
    return VerdictCard(verdict, f"chart-{at}", number(result.mean), whose, _scale(result))


def _scale(result: MetricResult) -> GapScale | None:
    if result.gap is None or result.chance is None or result.is_constant:
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
