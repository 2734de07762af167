"""The gap between both ends of a metric beside what chance shows, in sentences.

The gap is drawn and told as it is; its p-value counts it in standard errors, where ends of few
users weigh less. Both need not agree, and where they do not it is said what each is.
"""

from __future__ import annotations

from fairrec.core.units import Unit
from fairrec.report.text.ends import end_names
from fairrec.report.text.p_values import p_of_gap
from fairrec.report.words import number, plural
from fairrec.result.metric_schema import Chance, MetricResult
from fairrec.result.schema import AuditSummary

_SMALL_P = 0.05
"""As unlikely as a gap beyond what chance shows in 95% of cases."""


def gap_words(name: str, result: MetricResult, summary: AuditSummary) -> str:
    """The gap of a metric, and by how much a search may have missed a larger one."""
    return " ".join(filter(None, (_gap(result, summary), _bound(name, result, summary))))


def beside_chance(gap: float, chance: Chance, unit: Unit) -> str:
    """What chance shows of such a gap: as it is, and in standard errors."""
    shows = f"{number(chance.mean)} on average and up to {number(chance.q95)} in 95% of cases"
    # no verdict in these words: findings are adjusted for all metrics, this p-value is not
    p = f"{p_of_gap(chance)} for this metric by itself"
    is_larger, is_unlikely = gap > chance.q95, chance.p_value <= _SMALL_P
    if is_larger == is_unlikely:
        return f"chance alone shows {shows} ({p}, where a gap counts in standard errors)"
    weigh = f"counted in standard errors, where ends of few {unit.many} weigh less"
    if is_larger:
        return f"as it is, that is more than chance alone shows, {shows}; {weigh}, it is not ({p})"
    return f"as it is, chance alone shows as much, {shows}; {weigh}, it does not ({p})"


def is_beyond_chance(gap: float, chance: Chance) -> bool:
    """Whether a gap is, both as it is and in standard errors."""
    return gap > chance.q95 and chance.p_value <= _SMALL_P


def _gap(result: MetricResult, summary: AuditSummary) -> str:
    if result.is_constant:
        return ""
    if result.gap is None or not result.most_advantaged:
        return _no_gap(result, summary)
    low, high = end_names(result)
    ends = f"{high.capitalize()} and {low} full combination are {number(result.gap)} apart"
    if result.chance is None:
        return f"{ends}."
    if summary.given is not None:
        # the gap is as it is, and what chance shows is within circumstances
        return (
            f"{ends}, whatever the circumstances; among {summary.unit.many} in the same ones "
            f"{p_of_gap(result.chance)} for this metric by itself."
        )
    return f"{ends}; {beside_chance(result.gap, result.chance, summary.unit)}."


def _no_gap(result: MetricResult, summary: AuditSummary) -> str:
    many = summary.unit.many
    if result.gap is not None:
        ends = " or ".join(reversed(end_names(result)))
        return f"No two full combinations with enough {many} differ in it, so none is {ends}."
    if result.is_gap_hidden:
        return f"The gap between full combinations is hidden: one of them has too few {many}."
    if summary.search.n_not_fully_scored:
        return "Fewer than two full combinations are fully scored, and a gap needs two."
    return f"No full combination of attributes has enough {many} for a gap between them."


def _bound(name: str, result: MetricResult, summary: AuditSummary) -> str:
    """What a search may have missed."""
    search, gap = summary.search, result.gap
    if not search.n_not_fully_scored or name not in search.metrics or gap is None:
        return ""
    bound = search.metrics[name].may_be_larger_by
    if bound is None:
        return (
            f"{plural(search.n_not_fully_scored, 'full combination')} not fully scored may lie "
            "beyond."
        )
    if number(bound, beside=gap) == "0":
        return f"As far as the search can tell ({search.confidence:.0%}), that is the exact gap."
    return (
        f"The exact gap is at most {number(gap + bound)}, as far as the search can tell "
        f"({search.confidence:.0%})."
    )
