"""A metric in words: its ends, p-values, samples, its gap and what is ruled out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from fairrec.core.audited_entity import CHANGES, DISTANCES, EndWords, Unit
from fairrec.core.errors import plain
from fairrec.core.options import spell_in
from fairrec.metrics.direction import harm
from fairrec.metrics.value_columns import find_metric
from fairrec.report.words import confidence, number, p_is, p_value, plural, with_and
from fairrec.result.metric_schema import Finding, MetricResult, MetricVerdict
from fairrec.result.schema import AuditSummary
from fairrec.statistics.bootstrap import n_draws_at
from fairrec.statistics.findings import Chance
from fairrec.statistics.permutation import least_p_value
from fairrec.statistics.verdict import CertifiedSize


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
    shows = f"{number(chance.mean)} on average and up to {number(chance.q95)} in 95% of cases"
    # no verdict in these words: findings are adjusted for all metrics, this p-value is not
    p = f"{format_gap_p_value(chance)} for this metric by itself"
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
            f"{format_gap_p_value(result.chance)} for this metric by itself."
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


USUAL_SIZE = 100
"""Users of a group from which on something can usually be ruled out."""
_LATER_SIZES = (USUAL_SIZE, 1000)
_METRICS_SHOWN = 5


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


def summarize_ruled_out(summary: AuditSummary, first: str = "") -> str:
    """What no group of some size is, in every metric; of those shown to be so, findings tell.

    Parameters
    ----------
    first : the metric to begin with
    """
    verdicts = {
        name: result.verdict
        for name, result in sorted(summary.metrics.items(), key=lambda one: one[0] != first)
        if result.verdict is not None and result.is_tested and not result.is_constant
    }
    known = {name: one.certificate for name, one in verdicts.items() if one.certificate}
    if not known:
        return ""
    # one size for all metrics: what holds from a smaller one on holds from there on too
    size = max(_nearest(certificate).support for certificate in known.values())
    points = {
        name: [point for point in certificate if point.support <= size][-1]
        for name, certificate in known.items()
    }
    # a harm of 0: all others are shown to be better off
    points = {name: point for name, point in points.items() if point.harm > 0}
    if not points:
        return ""
    is_named = any(_is_named(verdicts[name]) for name in points)
    is_partial = any(verdicts[name].n_not_compared for name in points)
    which = f"of {size:,} {scored(summary).many} or more"
    which += " that can be compared" if is_partial else ""
    n_groups = {point.n_groups if point.support == size else None for point in points.values()}
    (n_alike,) = n_groups if len(n_groups) == 1 else (None,)
    who = f"No {'other ' if is_named else ''}group {which} is"
    if n_alike is not None:
        who = _none_of(n_alike, which, is_named=is_named)
    said = f"{who} {_by_how_much(points, summary)}"
    if nothing := [plain(name) for name in verdicts if name not in known]:
        said += f"; nothing is ruled out in {with_and(nothing)}"
    return said


def _by_how_much(points: Mapping[str, CertifiedSize], summary: AuditSummary) -> str:
    """The harm of each metric: `worse by more than 0.2 in a and 0.3 in b`."""
    shown = [*points][:_METRICS_SHOWN]
    by_word: dict[str, list[str]] = {}
    for name in shown:
        harm = f"{number(points[name].harm)} in {plain(name)}"
        by_word.setdefault(worse_word(summary.metrics[name]), []).append(harm)
    said = ", nor ".join(f"{word} by more than {with_and(all_)}" for word, all_ in by_word.items())
    n_more = len(points) - len(shown)
    return f"{said}; {plural(n_more, 'more metric')} below" if n_more else said


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


def _nearest(certificate: tuple[CertifiedSize, ...]) -> CertifiedSize:
    """That of groups as large as something can usually be ruled out for."""
    return min(certificate, key=lambda point: abs(math.log(max(1, point.support) / USUAL_SIZE)))


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
