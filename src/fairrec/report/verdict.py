"""What is known about the harm of groups in one metric, in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fairrec.core.audited_entity import USERS, EndWords, Unit
from fairrec.core.errors import plain
from fairrec.core.options import spell_in
from fairrec.metrics.value_columns import find_metric
from fairrec.report.answer import Tone
from fairrec.report.findings import (
    because_of,
    describe_undecided,
    format_difference,
    simultaneous_interval,
    users_known,
)
from fairrec.report.metric_words import (
    describe_power,
    describe_ruled_out,
    end_words,
    gap_words,
    is_worse,
    scored,
)
from fairrec.report.missing import (
    if_joined,
    if_like_others,
    remedy,
    why_inconclusive,
)
from fairrec.report.words import confidence, group_label, number, plural
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.statistics.findings import Finding
from fairrec.statistics.verdict import Outcome

Status = Literal[Outcome, "same for everyone", "same for all", "not tested"]
SAME: tuple[Status, ...] = ("same for everyone", "same for all")
"""Of users, and of all else."""


def build_status(result: MetricResult, unit: Unit = USERS) -> Status:
    """What is known about the harm of its groups, in a few words."""
    if not result.is_tested or (result.is_conclusive and not result.n_groups):
        return "not tested"
    if result.is_constant and result.is_conclusive:
        return "same for everyone" if unit.is_users else "same for all"
    return "inconclusive" if result.verdict is None else result.verdict.outcome


def outcome_words(
    finding: Finding, result: MetricResult, words: EndWords, summary: AuditSummary
) -> str:
    """What is known about one group, in a few words, and on what that rests."""
    if finding.outcome is None:
        return ""
    if not is_worse(finding, result):
        return words.better
    return ", ".join(filter(None, (finding.outcome, if_like_others(result, summary, finding))))


UNDECIDED = "undecided by permutation"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known in one metric, in words.

    Parameters
    ----------
    ruled_out : what can be ruled out, and for which groups
    details : what to do about missing users, the gap, the power
    qualifier : on what the status rests, or that permutations leave it open
    """

    metric: str
    status: Status
    headline: str
    ruled_out: str = ""
    details: tuple[str, ...] = ()
    qualifier: str = ""

    @property
    def qualified_status(self) -> str:
        """The status, and on what it rests."""
        return ", ".join(filter(None, (self.status, self.qualifier)))

    @property
    def tone(self) -> Tone:
        """How to show it."""
        if self.status == "within tolerance":
            return "clear"
        # what differs without a better end is no alarm, and no all-clear either
        return "found" if self.status.startswith("worse") else "open"


def build_verdict(name: str, result: MetricResult, summary: AuditSummary) -> Verdict:
    """What is known in one metric."""
    status = build_status(result, summary.unit)
    undecided = _undecided(result, summary)
    qualifier = UNDECIDED if undecided else ""
    if status == "within tolerance":
        qualifier = qualifier or if_like_others(result, summary)
    gini = summary.ratios.metrics[name].gini if name in summary.ratios.metrics else None
    details = (
        undecided,
        _remedy(name, status, result, summary),
        "" if result.is_constant else gap_words(name, result, summary),
        describe_power(result, summary) if status == "inconclusive" else "",
        "" if gini is None else f"Gini index among {summary.unit.many}: {number(gini)}.",
    )
    return Verdict(
        metric=plain(name),
        status=status,
        headline=_headline(name, status, result, summary),
        ruled_out=_ruled_out(status, result, summary),
        details=tuple(filter(None, details)),
        qualifier=qualifier,
    )


def _undecided(result: MetricResult, summary: AuditSummary) -> str:
    """What another seed may give; empty where permutations decide."""
    verdict = result.verdict
    if verdict is None or verdict.alternative is None:
        return ""
    more = spell_in(summary.command, "permutations", 10 * summary.permutations_drawn)
    return (
        f"Undecided by permutation: with {summary.permutations_drawn:,} permutations another "
        f'seed may give "{verdict.alternative}". More permutations would decide it: {more}.'
    )


def _remedy(name: str, status: Status, result: MetricResult, summary: AuditSummary) -> str:
    if not result.is_conclusive:
        why = why_inconclusive(name, result, summary) if status != "inconclusive" else ""
        return f"{why} {remedy(summary)}".strip()
    known = find_metric(name)
    is_of_hits = known is not None and "labels" in known.needs
    if status in SAME and result.mean == 1 and is_of_hits and "test" not in summary.inputs:
        return if_joined(summary)
    return ""


def _headline(name: str, status: Status, result: MetricResult, summary: AuditSummary) -> str:
    unit, smallest = summary.unit, summary.unit.count(summary.coverage.min_users)
    if status == "inconclusive" and not result.is_conclusive:
        return why_inconclusive(name, result, summary)
    if status in SAME:
        return f"It is {number(result.mean)} for {unit.everyone}, so groups cannot differ in it."
    if not result.n_groups:
        return f"No group of at least {smallest} with a value can be compared with others."
    tested = f"{result.n_groups:,} tested, at least {smallest} each"
    if status == "not tested":
        return f"{plural(result.n_groups, 'group')} of at least {smallest}, not tested."
    words, has_end = end_words(name, unit), result.higher_is_better is not None
    worse = [one for one in result.findings if is_worse(one, result)]
    better = [one for one in result.findings if not is_worse(one, result)]
    parts = [_findings(worse, "worse" if has_end else "different", tested, result, summary)]
    parts += [because_of(one, words) for one in worse[:1]]
    if better:
        parts.append(_findings(better, "better", "", result, summary))
    if undecided := describe_undecided(result, summary):
        parts.append(f"{undecided[0].upper()}{undecided[1:]}.")
    return " ".join(filter(None, parts))


def _findings(
    found: list[Finding], word: str, tested: str, result: MetricResult, summary: AuditSummary
) -> str:
    """How many groups are significantly worse, or better, and the first of them."""
    if not found:
        return f"No group is significantly {word} ({tested})."
    verdict, n_all = result.verdict, len(found)
    if verdict is not None:
        n_worse = verdict.n_worse + verdict.n_worse_beyond_tolerance
        n_all = verdict.n_better if word == "better" else n_worse
    n_more = n_all - len(found)
    more = f"{n_more:,} more significant, overlapping these or not listed" if n_more > 0 else ""
    beside = "; ".join(filter(None, (tested, more)))
    are = "group is" if len(found) == 1 else "groups are"
    largest = max(found, key=lambda one: abs(one.difference))
    return (
        f"{len(found)} {are} significantly {word}{f' ({beside})' if beside else ''}. "
        f"Largest difference: {_named(largest, summary)}."
    )


def _named(finding: Finding, summary: AuditSummary) -> str:
    """A group, its difference with what holds for all groups at once, and its users."""
    about = (
        format_difference(finding),
        f"{confidence(summary.alpha)} interval {simultaneous_interval(finding)}",
        f"{users_known(finding)} {summary.unit.noun(finding.n_users)}",
    )
    return f"{group_label(finding.group)} ({', '.join(about)})"


def _ruled_out(status: Status, result: MetricResult, summary: AuditSummary) -> str:
    """Groups beside the tolerance, and the certificate."""
    verdict = result.verdict
    if verdict is None or status in ("not tested", *SAME):
        return ""
    parts = describe_tolerance(result, summary), describe_ruled_out(result, summary)
    return " ".join(filter(None, parts))


def describe_tolerance(result: MetricResult, summary: AuditSummary) -> str:
    """How many groups are beyond the tolerance, within it, and open; empty without one."""
    verdict = result.verdict
    if verdict is None or verdict.tolerance is None or not result.is_conclusive:
        return ""
    condition = if_like_others(result, summary)
    from_ = verdict.ruled_out_from
    rest = f"; from {scored(summary).count(from_)} on none is open" if from_ else ""
    beyond = plural(verdict.n_worse_beyond_tolerance, "group")
    return (
        f"Tolerance of {number(verdict.tolerance)}: {beyond} beyond it, "
        f"{verdict.n_within_tolerance:,} within it{' ' * bool(condition)}{condition}, "
        f"{verdict.n_inconclusive:,} open{rest}."
    )
