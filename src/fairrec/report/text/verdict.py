"""What one metric says, in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fairrec.core.errors import plain
from fairrec.metrics.direction import harm
from fairrec.report.text.missing import caveat, if_joined, remedy, why_inconclusive
from fairrec.report.words import group_label, number, p_value, plural, signed
from fairrec.result.schema import AuditSummary, Finding, MetricResult

Status = Literal["gap found", "no gap detected", "inconclusive", "same for everyone", "not tested"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one metric says, in words."""

    metric: str
    status: Status
    headline: str
    gap: str
    power: str
    remedy: str = ""


def status_of(result: MetricResult) -> Status:
    """Whether a group stands out.

    Findings alone decide: they are adjusted for all groups and metrics of the audit. The gap
    between full combinations has a p-value of its own, for its metric alone. Without findings there
    is no all-clear where too many users have no value.
    """
    if result.findings:
        return "gap found"
    if not result.is_tested:
        return "not tested"
    if not result.is_conclusive:
        return "inconclusive"
    if not result.n_groups:
        return "not tested"
    return "same for everyone" if result.is_constant else "no gap detected"


def verdict_of(name: str, result: MetricResult, summary: AuditSummary) -> Verdict:
    """What one metric says."""
    status = status_of(result)
    return Verdict(
        metric=plain(name),
        status=status,
        headline=_headline(name, status, result, summary),
        gap=" ".join(
            filter(None, (_gap_sentence(result, summary), _bound_sentence(name, summary)))
        ),
        power=_power_sentence(result) if status == "no gap detected" else "",
        remedy=_remedy(name, status, result, summary),
    )


def _remedy(name: str, status: Status, result: MetricResult, summary: AuditSummary) -> str:
    if status == "gap found":
        return caveat(name, result, summary)
    if status == "same for everyone" and result.mean == 1 and "test" not in summary.inputs:
        return if_joined(summary)
    return remedy(name, summary) if status == "inconclusive" else ""


def _headline(name: str, status: Status, result: MetricResult, summary: AuditSummary) -> str:
    smallest = plural(summary.coverage.min_users, "user")
    if status == "inconclusive":
        return why_inconclusive(name, result, summary)
    if status == "same for everyone":
        who = "everyone for whom it is defined" if result.n_undefined else "everyone"
        return f"It is {number(result.mean)} for {who}, so groups cannot differ in it."
    if not result.n_groups:
        return _no_groups(result, summary)
    looked_at = f"{plural(result.n_groups, 'group')} of at least {smallest}"
    if status == "not tested":
        return f"{looked_at}, without a test against chance."
    if not result.findings:
        return (
            f"None of {looked_at} differs from the rest by more than chance "
            f"(significance level {summary.alpha:g})."
        )
    first = result.findings[0]
    differ = (
        "1 group differs" if len(result.findings) == 1 else f"{len(result.findings)} groups differ"
    )
    return (
        f"{differ} from the rest by more than chance. {_served(first, result)}: "
        f"{group_label(first.group)} ({signed(first.difference)}, {users_known(first)} "
        f"{'user' if first.n_users == 1 else 'users'})."
    )


def _no_groups(result: MetricResult, summary: AuditSummary) -> str:
    if result.n_defined >= summary.coverage.min_users and result.gap is not None:
        return "All users are in one group, so there is nothing to compare it with."
    scored = "" if summary.search.users_scored == summary.search.users_total else "scored and "
    smallest = plural(summary.coverage.min_users, "user")
    return f"No group has {smallest} {scored}for whom it is defined."


def _served(finding: Finding, result: MetricResult) -> str:
    """How to introduce the first finding, which is the worst one."""
    if result.higher_is_better is None:
        return "Furthest from the rest"
    is_worse = harm(finding.difference, result.higher_is_better) > 0
    return "Served worst" if is_worse else "Served better than the rest"


def _gap_sentence(result: MetricResult, summary: AuditSummary) -> str:
    if result.is_constant:
        return ""
    if result.gap is None and summary.search.n_not_fully_scored:
        return "Fewer than two full combinations are fully scored, and a gap needs two."
    if result.gap is None:
        return "No full combination of attributes has enough users for a gap between them."
    which = "Best and worst" if result.higher_is_better is not None else "Highest and lowest"
    ends = f"{which} full combination are {number(result.gap)} apart"
    if result.chance is None:
        return f"{ends}."
    chance = result.chance
    # no verdict in these words: findings are adjusted for all metrics, this p-value is not
    return (
        f"{ends}; chance alone shows {number(chance.mean)} on average and up to "
        f"{number(chance.q95)} in 95% of cases (p = {p_value(chance.p_value)} for this metric by "
        "itself)."
    )


def _bound_sentence(name: str, summary: AuditSummary) -> str:
    """What a search may have missed."""
    search = summary.search
    gap = summary.metrics[name].gap
    if not search.n_not_fully_scored or name not in search.metrics or gap is None:
        return ""
    bound = search.metrics[name].may_be_larger_by
    if bound is None:
        return (
            f"{plural(search.n_not_fully_scored, 'full combination')} not fully scored may lie "
            "beyond."
        )
    if number(bound) == "0":
        return f"As far as the search can tell ({search.confidence:.0%}), that is the exact gap."
    return (
        f"The exact gap is at most {number(gap + bound)}, as far as the search can tell "
        f"({search.confidence:.0%})."
    )


def _power_sentence(result: MetricResult) -> str:
    if not result.is_tested or result.findings or not result.n_groups:
        return ""
    if not result.detectable:
        return "No possible difference would be found 4 times in 5 in groups of these sizes."
    sizes = ", ".join(
        f"{number(d.difference)} in a group of {d.support:,}" for d in result.detectable
    )
    return f"A true difference this large would be found 4 times in 5: {sizes}."


def users_known(finding: Finding) -> str:
    """How many users the finding rests on."""
    if finding.is_fully_scored:
        return f"{finding.support:,}"
    return f"{finding.support:,} of {finding.n_users:,}"
