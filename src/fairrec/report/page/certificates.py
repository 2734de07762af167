"""What is ruled out, by the size of the groups: a curve for each metric."""

from __future__ import annotations

from fairrec.core.errors import plain
from fairrec.report.page.chart_view import Certificate, CertificateStep
from fairrec.report.page.groups import PageGroups, short
from fairrec.report.words import confidence, number, plural
from fairrec.result.schema import AuditSummary, MetricResult, MetricVerdict


def certificates(groups: PageGroups) -> tuple[Certificate, ...]:
    """One for each metric that was tested and is not the same for everyone."""
    summary = groups.summary
    return tuple(
        _certificate(at, name, result, result.verdict, groups)
        for at, (name, result) in enumerate(summary.metrics.items())
        if result.verdict is not None and result.is_tested and not result.is_constant
    )


def _certificate(
    at: int, metric: str, result: MetricResult, verdict: MetricVerdict, groups: PageGroups
) -> Certificate:
    summary = groups.summary
    is_scored = summary.search.users_scored == summary.search.users_total
    largest = groups.frame.of_metric[metric]["support"].max()
    what = "harm" if result.higher_is_better is not None else "difference"
    return Certificate(
        metric=plain(metric),
        anchor=f"ruled-out-{at}",
        steps=tuple(
            CertificateStep(step.support, short(step.harm), step.n_groups)
            for step in verdict.certificate
        ),
        largest=largest if isinstance(largest, int) else 0,
        matters=verdict.matters,
        harm_name=f"largest {what} not ruled out",
        size_name="users in the group" if is_scored else "scored users in the group",
        alternative=_in_words(result, verdict, summary),
        rows=tuple(
            (f"{step.support:,}", number(step.harm), f"{step.n_groups:,}")
            for step in verdict.certificate
        ),
    )


def _in_words(result: MetricResult, verdict: MetricVerdict, summary: AuditSummary) -> str:
    """The smallest and the largest groups of the curve, and what matters beside it."""
    steps = verdict.certificate
    worse = "worse" if result.higher_is_better is not None else "different"
    said = []
    if not steps:
        said.append(f"Nothing is ruled out: any group may be {worse} by any amount.")
    else:
        first, last = steps[0], steps[-1]
        by = f"by more than {number(last.harm)}" if last.harm else "at all"
        larger = f"; of those of {last.support:,} or more none {by}" if len(steps) > 1 else ""
        is_scored = summary.search.users_scored == summary.search.users_total
        users = "users" if is_scored else "scored users"
        said.append(
            f"Of {plural(first.n_groups, 'group')} of {first.support:,} {users} or more that are "
            f"not shown to be {worse}, none is {worse} by more than {number(first.harm)}{larger}; "
            f"at {confidence(summary.alpha)} for all at once."
        )
    if verdict.matters is not None and steps:
        below = next((step for step in steps if step.harm < verdict.matters), None)
        where = "for no size" if below is None else f"from {below.support:,} users on"
        said.append(f"More than {number(verdict.matters)}, which matters, is ruled out {where}.")
    if verdict.n_not_compared:
        n = plural(verdict.n_not_compared, "group")
        said.append(f"Of {n} that cannot be compared nothing is ruled out.")
    return " ".join(said)
