"""What is ruled out, in sentences: for one metric, and for all of them in one."""

from __future__ import annotations

import math
from collections.abc import Mapping

from fairrec.core.errors import plain
from fairrec.report.text.ends import worse_word
from fairrec.report.text.sampled import scored
from fairrec.report.words import confidence, number, plural, with_and
from fairrec.result.metric_schema import CertifiedSize, MetricResult, MetricVerdict
from fairrec.result.schema import AuditSummary

USUAL_SIZE = 100
"""Users of a group from which on something can usually be ruled out."""
_LATER_SIZES = (USUAL_SIZE, 1000)
_METRICS_SHOWN = 5


def ruled_out_in(result: MetricResult, summary: AuditSummary) -> str:
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


def ruled_out_in_all(summary: AuditSummary, first: str = "") -> str:
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
    points = {name: _from(size, certificate) for name, certificate in known.items()}
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
    """The smallest and the largest groups of the curve, and what matters beside it."""
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
    if verdict.matters is not None and steps:
        below = next((step for step in steps if step.harm < verdict.matters), None)
        where = "for no size" if below is None else f"from {below.support:,} {summary.unit.many} on"
        said.append(f"More than {number(verdict.matters)}, which matters, is ruled out {where}.")
    if verdict.n_not_compared:
        n = plural(verdict.n_not_compared, "group")
        said.append(f"Of {n} that cannot be compared nothing is ruled out.")
    return " ".join(said)


def _nearest(certificate: tuple[CertifiedSize, ...]) -> CertifiedSize:
    """That of groups as large as something can usually be ruled out for."""
    return min(certificate, key=lambda point: abs(math.log(max(1, point.support) / USUAL_SIZE)))


def _from(size: int, certificate: tuple[CertifiedSize, ...]) -> CertifiedSize:
    return [point for point in certificate if point.support <= size][-1]


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
    return verdict.n_worse + verdict.n_worse_by_more > 0
