"""P-values of a result in words: those that more draws might make smaller are bounds."""

from __future__ import annotations

from fairrec.report.words import p_is, p_value
from fairrec.result.metric_schema import Chance
from fairrec.result.schema import AuditSummary
from fairrec.statistics.bootstrap import n_draws_at
from fairrec.statistics.permutation import least_p_value


def p_adjusted(adjusted: float, summary: AuditSummary) -> str:
    """The p-value of a group that is adjusted for all groups and metrics."""
    n_draws = summary.permutations_drawn if summary.unit.is_users else n_draws_at(summary.alpha)
    return p_value(adjusted, least_p_value(n_draws))


def p_of_gap(chance: Chance) -> str:
    """The p-value of a gap, for a sentence."""
    return p_is(p_value(chance.p_value, least_p_value(chance.permutations)))
