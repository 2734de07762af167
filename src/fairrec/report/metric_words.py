"""A metric in words: its ends, p-values, samples, its gap and what is ruled out."""

from __future__ import annotations

import math
from typing import Literal

from fairrec.core.audited_entity import CHANGES, DISTANCES, EndWords, Unit
from fairrec.core.options import spell_in
from fairrec.metrics.direction import harm
from fairrec.metrics.value_columns import find_metric
from fairrec.report.words import (
    confidence,
    group_label,
    number,
    p_is,
    p_value,
    percent,
    plural,
    rounded_up,
)
from fairrec.result.metric_schema import Chance, MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.statistics.bootstrap import n_draws_at
from fairrec.statistics.findings import Finding
from fairrec.statistics.permutation import least_p_value
from fairrec.statistics.verdict import CertifiedSize


def end_names(result: MetricResult) -> tuple[str, str]:
    """What the low and the high end of a metric are called."""
    return ("lowest", "highest") if result.higher_is_better is None else ("worst", "best")


def worse_word(result: MetricResult) -> str:
    """What a group at the worse end is; where no end is worse, that it differs."""
    return "different" if result.higher_is_better is None else "worse"


def harm_word(result: MetricResult) -> str:
    """What its size is called."""
    return "difference" if result.higher_is_better is None else "harm"


def of_two_lists(metric: str) -> Literal["", "change", "distance"]:
    """Whether a value compares two lists of a user: the change of a metric, or their distance."""
    before = find_metric(metric.removesuffix("_change"))
    if before is None:
        return ""
    if metric.endswith("_change"):
        return "change"
    return "distance" if "against_lists" in before.needs else ""


def end_words(metric: str, unit: Unit) -> EndWords:
    """What groups are at either end of a metric.

    >>> from fairrec.core.audited_entity import USERS
    >>> end_words("rbo@5", USERS).worse, end_words("ndcg@5", USERS).worse
    ('changed more', 'served worse')
    """
    return {"": unit.end_words, "change": CHANGES, "distance": DISTANCES}[of_two_lists(metric)]


def direction(higher_is_better: bool | None) -> str:
    """Which end of a metric is better, in words."""
    words = {
        True: "higher is better",
        False: "lower is better",
        None: "neither direction is better",
    }
    return words[higher_is_better]


def is_worse(finding: Finding, result: MetricResult) -> bool:
    """Whether a finding is at the worse end; where there is none, always."""
    return harm(finding.difference, result.higher_is_better) > 0


def p_adjusted(adjusted: float, summary: AuditSummary) -> str:
    """The p-value of a group that is adjusted for all groups and metrics."""
    n_draws = summary.permutations_drawn if summary.unit.is_users else n_draws_at(summary.alpha)
    return p_value(adjusted, least_p_value(n_draws))


def format_gap_p_value(chance: Chance) -> str:
    """The p-value of a gap, for a sentence."""
    return p_is(p_value(chance.p_value, least_p_value(chance.permutations)))


def is_sampled(summary: AuditSummary) -> bool:
    """Whether a search has left users out, so that all others are known by a random sample."""
    return summary.search.users_scored < summary.search.users_total


def scored(summary: AuditSummary) -> Unit:
    """What the sizes of groups count."""
    unit = summary.unit
    return Unit(f"scored {unit.one}", f"scored {unit.many}") if is_sampled(summary) else unit


def exact_instead(summary: AuditSummary) -> str:
    """How to get the exact answer after a search in a table that has every score."""
    if not (is_sampled(summary) and summary.search.has_table):
        return ""
    search = spell_in(summary.command, "search")
    return f"the table has every score: leave out {search} and its budget for the exact answer"


def mean_over(result: MetricResult, summary: AuditSummary) -> str:
    """Whose mean the mean of a metric is; after a search it is an estimate."""
    if is_sampled(summary):
        return f"mean, estimated from {summary.unit.count(result.n_compared)} drawn at random"
    many = summary.unit.many
    return f"mean over {f'{many} with a value' if result.n_undefined else f'all {many}'}"


def gap_words(name: str, result: MetricResult, summary: AuditSummary) -> str:
    """The gap, its ends and null distribution, and how much larger it may be after a search."""
    if result.gap is None or not result.most_advantaged or not result.most_disadvantaged:
        return ""
    best, worst = result.most_advantaged[0].group, result.most_disadvantaged[0].group
    low, high = end_names(result)
    parts = [
        f"Gap between the {high} and the {low} intersection of all attributes, "
        f"{group_label(best)} and {group_label(worst)}: {number(result.gap)}"
    ]
    if result.chance is not None:
        p = f"the gap in standard errors has {format_gap_p_value(result.chance)}"
        null = (
            f"with attributes permuted its mean is {number(result.chance.mean)} and its 95% "
            f"quantile {number(result.chance.q95)}; {p}"
        )
        # the null distribution is within strata, the gap is not
        parts.append(null if summary.adjustment is None else f"unadjusted; adjusted, {p}")
    searched = summary.search.metrics.get(name)
    bound = None if searched is None else searched.may_be_larger_by
    if summary.search.n_not_fully_scored and bound is not None:
        sure = f"{summary.search.confidence:.0%} confidence"
        parts.append(f"the exact gap is at most {rounded_up(result.gap + bound)} ({sure})")
    return f"{'; '.join(parts)}."


def describe_power(result: MetricResult, summary: AuditSummary) -> str:
    """The differences that would be detected, by size of group; empty where it is not known."""
    # it depends on how many share a group's covariates, or on the items
    if summary.adjustment is not None or not summary.unit.is_users or not result.is_conclusive:
        return ""
    if not result.detectable:
        return "The groups are too small to detect any possible difference with 80% power."
    sizes = ", ".join(
        f"{number(one.difference)} in a group of {one.support:,}" for one in result.detectable
    )
    return f"80% power to detect a {harm_word(result)} of {sizes}."


USUAL_SIZE = 100
"""Users of a group from which on something can usually be ruled out."""


def describe_ruled_out(result: MetricResult, summary: AuditSummary) -> str:
    """The largest harm that remains possible, by size of group."""
    verdict = result.verdict
    if verdict is None:
        return ""
    steps = verdict.certificate[:1]
    for size in (USUAL_SIZE, 10 * USUAL_SIZE):
        later = (one for one in verdict.certificate if one.support >= size)
        steps += tuple(one for one in [next(later, None)] if one and one not in steps)
    if not steps:
        return "Nothing is ruled out."
    sizes = "; ".join(
        f"{rounded_up(one.harm)} for {one.support:,}+ {scored(summary).many}" for one in steps
    )
    rest = ""
    if verdict.n_not_compared:
        rest = f" Nothing for {plural(verdict.n_not_compared, 'group')} that cannot be compared."
    return (
        f"Upper bound on the {harm_word(result)} of groups not shown to be {worse_word(result)} "
        f"({confidence(summary.alpha)}, simultaneous): {sizes}.{rest}"
    )


def summarize_ruled_out(result: MetricResult, summary: AuditSummary) -> str:
    """The same for groups of a usual size, in one sentence; empty where there is none."""
    verdict, point = result.verdict, usual_certificate(result)
    if verdict is None or not result.is_tested or result.is_constant:
        return ""
    if point is None:
        return "Ruled out: nothing."
    n_worse = verdict.n_worse + verdict.n_worse_beyond_tolerance
    word = worse_word(result)
    except_ = f"except the group shown to be {word}, " if n_worse == 1 else ""
    if n_worse > 1:
        except_ = f"except the {n_worse:,} groups shown to be {word}, overlapping ones included, "
    can = " that can be compared" if verdict.n_not_compared else ""
    size = f" by more than {rounded_up(point.harm)}{_of_mean(point.harm, result)}"
    return (
        f"Ruled out: {except_}no group of {point.support:,} {scored(summary).many} or more{can} is "
        f"{word}{size if point.harm > 0 else ''}."
    )


def _of_mean(harm: float, result: MetricResult) -> str:
    """A harm as a share of the mean, rounded up, where that has a meaning."""
    if not result.is_ratio_scale or result.mean <= 0 or result.higher_is_better is None:
        return ""
    share = harm / result.mean
    step = 0.001 if share < 0.09 else 0.01
    return f" ({percent(math.ceil(round(share / step, 6)) * step)} of the mean)"


def usual_certificate(result: MetricResult) -> CertifiedSize | None:
    """What is ruled out for groups of about `USUAL_SIZE`; None for nothing."""
    certificate = () if result.verdict is None else result.verdict.certificate
    return min(
        certificate, key=lambda one: abs(math.log(max(1, one.support) / USUAL_SIZE)), default=None
    )
