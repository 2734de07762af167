"""A metric in words: its ends, p-values, samples, its gap and what is ruled out."""

from __future__ import annotations

import math
from typing import Literal

from fairrec.core.audited_entity import CHANGES, DISTANCES, EndWords, Unit
from fairrec.core.errors import plain
from fairrec.core.options import spell_in
from fairrec.metrics.direction import harm
from fairrec.metrics.value_columns import find_metric
from fairrec.report.words import confidence, number, p_is, p_value, percent, plural, with_and
from fairrec.result.metric_schema import Chance, MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.statistics.bootstrap import n_draws_at
from fairrec.statistics.findings import Finding
from fairrec.statistics.permutation import least_p_value
from fairrec.statistics.verdict import CertifiedSize, MetricVerdict


def end_names(result: MetricResult) -> tuple[str, str]:
    """What the low and the high end of a metric are called."""
    return ("lowest", "highest") if result.higher_is_better is None else ("worst", "best")


def worse_word(result: MetricResult) -> str:
    """What a group is that is served worse; where no end is, that it differs."""
    return "different" if result.higher_is_better is None else "worse"


def harm_word(result: MetricResult) -> str:
    """What that is by how much."""
    return "difference" if result.higher_is_better is None else "harm"


def of_two_lists(metric: str) -> Literal["", "change", "distance"]:
    """Whether a value tells of two lists of a user: how a metric changes, or how far they are."""
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
    words = {True: "higher is better", False: "lower is better", None: "no end is better"}
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
    """How to get the exact answer, where a search was made of scores that are all at hand."""
    if not (is_sampled(summary) and summary.search.has_table):
        return ""
    search = spell_in(summary.command, "search")
    return f"the table has every score: leave out {search} and its budget for the exact answer"


def mean_over(result: MetricResult, summary: AuditSummary) -> str:
    """Whose mean the mean of a metric is; after a search it is an estimate, and said to be."""
    if is_sampled(summary):
        return f"mean, estimated from {summary.unit.count(result.n_compared)} drawn at random"
    many = summary.unit.many
    return f"mean over {f'{many} with a value' if result.n_undefined else f'all {many}'}"


# the gap is drawn and told as it is; its p-value counts it in standard errors, where ends of few
# users weigh less: where both do not agree, it is said what each is
_SMALL_P = 0.05
"""As unlikely as a gap beyond what chance shows in 95% of cases."""


def gap_words(name: str, result: MetricResult, summary: AuditSummary) -> str:
    """The gap of a metric, and by how much a search may have missed a larger one."""
    return " ".join(filter(None, (_gap(result, summary), _bound(name, result, summary))))


def beside_chance(gap: float, chance: Chance, unit: Unit) -> str:
    """What chance shows of such a gap: as it is, and in standard errors."""
    null = (
        f"under permutation the gap has a mean of {number(chance.mean)} and a 95% quantile of "
        f"{number(chance.q95)}"
    )
    # no verdict in these words: findings are adjusted for all metrics, this p-value is not
    p = f"{format_gap_p_value(chance)} for this metric by itself"
    is_larger, is_unlikely = gap > chance.q95, chance.p_value <= _SMALL_P
    if is_larger == is_unlikely:
        return f"{null} ({p}, by the standardised gap)"
    if is_larger:
        return f"{null}; the raw gap is beyond chance, the standardised gap is not ({p})"
    return f"{null}; the raw gap is within chance, the standardised gap is not ({p})"


def is_beyond_chance(gap: float, chance: Chance) -> bool:
    """Whether a gap is, both as it is and in standard errors."""
    return gap > chance.q95 and chance.p_value <= _SMALL_P


def _gap(result: MetricResult, summary: AuditSummary) -> str:
    if result.is_constant:
        return ""
    if result.gap is None or not result.most_advantaged:
        return _no_gap(result, summary)
    low, high = end_names(result)
    ends = f"The {high} and the {low} intersection of all attributes differ by {number(result.gap)}"
    if result.chance is None:
        return f"{ends}."
    if summary.adjustment is not None:
        # the gap is unadjusted, and its null distribution is within strata
        covariates = with_and([plain(name) for name in summary.adjustment.covariates])
        return (
            f"{ends}, unadjusted; adjusted for {covariates}, "
            f"{format_gap_p_value(result.chance)} for this metric by itself."
        )
    return f"{ends}; {beside_chance(result.gap, result.chance, summary.unit)}."


def _no_gap(result: MetricResult, summary: AuditSummary) -> str:
    many = summary.unit.many
    if result.gap is not None:
        ends = " or ".join(reversed(end_names(result)))
        return f"No two intersections with enough {many} differ in it, so none is {ends}."
    if result.is_gap_hidden:
        return f"The gap between intersections is hidden: one of them has too few {many}."
    if summary.search.n_not_fully_scored:
        return "Fewer than two intersections of all attributes are fully scored: a gap needs two."
    return f"No intersection of all attributes has enough {many} for a gap between them."


def _bound(name: str, result: MetricResult, summary: AuditSummary) -> str:
    """What a search may have missed."""
    search, gap = summary.search, result.gap
    if not search.n_not_fully_scored or name not in search.metrics or gap is None:
        return ""
    bound = search.metrics[name].may_be_larger_by
    if bound is None:
        return (
            f"{plural(search.n_not_fully_scored, 'intersection')} not fully scored may lie beyond."
        )
    if number(bound, beside=gap) == "0":
        return f"As far as the search can tell ({search.confidence:.0%}), that is the exact gap."
    return (
        f"The exact gap is at most {number(gap + bound)}, as far as the search can tell "
        f"({search.confidence:.0%})."
    )


USUAL_SIZE = 100
"""Users of a group from which on something can usually be ruled out."""
_LATER_SIZES = (USUAL_SIZE, 1000)


def describe_ruled_out(result: MetricResult, summary: AuditSummary) -> str:
    """The largest harm that is not ruled out in one metric, by size of group."""
    verdict = result.verdict
    if verdict is None or not verdict.certificate or not verdict.certificate[0].harm:
        # a harm of 0: all others are shown to be better off, which the findings say
        return ""
    smallest = verdict.certificate[0]
    later = [
        next((point for point in verdict.certificate if point.support >= size), None)
        for size in _LATER_SIZES
    ]
    steps = [
        point
        for point in dict.fromkeys(later)
        if point is not None and point != smallest and point.harm > 0
    ]
    of_sd = f" ({number(smallest.harm / result.sd)} standard deviations)" if result.sd else ""
    which = f"tested {_scope(smallest, summary)}"
    who = _none_of(smallest.n_groups, which, is_named=_is_named(verdict))
    said = (
        f"{who} {worse_word(result)} by more than {number(smallest.harm)}{of_sd}, at "
        f"{confidence(summary.alpha)} for all at once"
    )
    parts = [f"of those of {point.support:,} and more by {number(point.harm)}" for point in steps]
    if verdict.n_not_compared:
        n = verdict.n_not_compared
        parts.append(f"of {plural(n, 'group')} that cannot be compared nothing is ruled out")
    return f"{'; '.join([said, *parts])}."


def summarize_ruled_out(result: MetricResult, summary: AuditSummary, worst: str = "") -> str:
    """What no group of a usual size is; of those shown to be so, findings tell.

    Parameters
    ----------
    worst : the groups of which it does not hold, as they are shown to be worse
    """
    verdict, point = result.verdict, usual_certificate(result)
    if verdict is None or not result.is_tested or result.is_constant:
        return ""
    if point is None:
        return "nothing"
    if not point.harm:
        # all others are shown to be better off
        return ""
    can = " that can be compared" if verdict.n_not_compared else ""
    except_ = f"except {worst}, " if worst else ""
    return (
        f"{except_}no group of {point.support:,} {scored(summary).many} or more{can} is "
        f"{worse_word(result)} by more than {number(point.harm)}{_of_mean(point.harm, result)}"
    )


def _of_mean(harm: float, result: MetricResult) -> str:
    """A harm as a share of the mean, where that has a meaning."""
    if not result.is_ratio_scale or result.mean <= 0 or result.higher_is_better is None:
        return ""
    return f" ({percent(harm / result.mean)} of the mean)"


def usual_certificate(result: MetricResult) -> CertifiedSize | None:
    """What is ruled out for groups of about `USUAL_SIZE`; None for nothing."""
    certificate = () if result.verdict is None else result.verdict.certificate
    # groups as large as something can usually be ruled out for
    return min(
        certificate, key=lambda one: abs(math.log(max(1, one.support) / USUAL_SIZE)), default=None
    )


def curve_in_words(result: MetricResult, verdict: MetricVerdict, summary: AuditSummary) -> str:
    """The smallest and the largest groups of the curve, and the tolerance beside it."""
    steps = verdict.certificate
    word = worse_word(result)
    said = []
    if not steps:
        said.append(f"Nothing is ruled out: any group may be {word} by any amount.")
    else:
        first, last = steps[0], steps[-1]
        by = f"by more than {number(last.harm)}" if last.harm else "at all"
        larger = f"; of those of {last.support:,} or more none {by}" if len(steps) > 1 else ""
        said.append(
            f"Of {plural(first.n_groups, 'group')} of {first.support:,} {scored(summary).many} or "
            f"more that are not shown to be {word}, none is {word} by more than "
            f"{number(first.harm)}{larger}; at {confidence(summary.alpha)} for all at once."
        )
    if verdict.tolerance is not None and steps:
        below = next((step for step in steps if step.harm < verdict.tolerance), None)
        where = "for no size" if below is None else f"from {below.support:,} {summary.unit.many} on"
        said.append(f"More than the tolerance, {number(verdict.tolerance)}, is ruled out {where}.")
    if verdict.n_not_compared:
        n = plural(verdict.n_not_compared, "group")
        said.append(f"Of {n} that cannot be compared nothing is ruled out.")
    return " ".join(said)


def _none_of(n_groups: int, which: str, *, is_named: bool) -> str:
    """For whom a harm is ruled out; `is_named`: but for those shown to be worse."""
    if n_groups == 1:
        return f"The {'other' if is_named else 'one'} group {which} is not"
    return f"None of the {'other ' if is_named else ''}{plural(n_groups, 'group')} {which} is"


def _scope(smallest: CertifiedSize, summary: AuditSummary) -> str:
    which = "intersections of all attributes, "
    if summary.depth != "full":
        depth = min(summary.depth, len(summary.attributes))
        which = f"up to {depth} attributes, " if depth > 1 else ""
    return f"({which}at least {scored(summary).count(smallest.support)})"


def _is_named(verdict: MetricVerdict) -> bool:
    return verdict.n_worse + verdict.n_worse_beyond_tolerance > 0
