"""P-values of a result in words: those that more draws might make smaller are bounds."""

from __future__ import annotations

from fairrec.report.words import p_is, p_value
from fairrec.result.metric_schema import Chance
from fairrec.result.schema import AuditSummary
from fairrec.statistics.permutation import ROUNDING, least_p_value
from fairrec.statistics.resampled_users import N_DRAWS


def p_adjusted(adjusted: float, by_itself: float | None, summary: AuditSummary) -> str:
    """The p-value of a group that is adjusted for all groups and metrics.

    Parameters
    ----------
    by_itself : of the same group, not adjusted
    """
    if not summary.unit.is_users:
        return p_value(adjusted, least_p_value(N_DRAWS))
    if summary.correction == "max":
        return p_value(adjusted, least_p_value(summary.permutations, is_adjusted=True))
    # a step-up adjustment is a bound where it rests on a p-value that is one
    least = least_p_value(summary.permutations) * (1 + ROUNDING)
    is_least = by_itself is not None and by_itself <= least
    return p_value(adjusted, adjusted if is_least else 0.0)


def p_of_gap(chance: Chance) -> str:
    """The p-value of a gap, for a sentence."""
    return p_is(p_value(chance.p_value, least_p_value(chance.permutations)))
