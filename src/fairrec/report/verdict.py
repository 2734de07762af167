"""What is known about the harm of groups, and what one metric says, in sentences."""

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
    describe_ruled_out,
    end_words,
    gap_words,
    harm_word,
    is_sampled,
    is_worse,
    scored,
    worse_word,
)
from fairrec.report.missing import (
    caveat,
    finding_condition,
    if_joined,
    if_like_others,
    remedy,
    why_inconclusive,
)
from fairrec.report.words import confidence, group_label, number, plural
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.statistics.findings import MAX_FINDINGS, Finding
from fairrec.statistics.verdict import BEYOND, WITHIN, MetricVerdict, Outcome, outcome_position

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
    """What is known about one group, in a few words, and what that rests on."""
    if finding.outcome is None:
        return ""
    if not is_worse(finding, result):
        return words.better
    return ", ".join(filter(None, (finding.outcome, finding_condition(finding, result, summary))))


UNDECIDED = "undecided by permutation"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one metric says, in words.

    Parameters
    ----------
    ruled_out : what can be ruled out, and for whom
    if_like_others : on what that rests where attributes are unknown
    undecided : what another seed may give, where permutations do not decide
    """

    metric: str
    status: Status
    headline: str
    ruled_out: str
    gap: str
    power: str
    remedy: str = ""
    if_like_others: str = ""
    undecided: str = ""

    @property
    def qualifier(self) -> str:
        """On what the status rests, or that permutations leave it open."""
        if self.undecided:
            return UNDECIDED
        return self.if_like_others if self.tone == "clear" else ""

    @property
    def status_said(self) -> str:
        """The status, and on what it rests."""
        return ", ".join(filter(None, (self.status, self.qualifier)))

    @property
    def tone(self) -> Tone:
        """How to show it."""
        if self.status == "within tolerance":
            return "clear"
        # what differs without a better end is no alarm, and no all-clear either
        return "found" if self.status.startswith("worse") else "open"


def describe_parts(verdict: Verdict) -> tuple[str, ...]:
    """Its sentences, in the order they are read."""
    said = (
        verdict.headline,
        verdict.undecided,
        verdict.remedy,
        verdict.ruled_out,
        verdict.gap,
        verdict.power,
    )
    return tuple(filter(None, said))


def build_verdict(name: str, result: MetricResult, summary: AuditSummary) -> Verdict:
    """What one metric says."""
    status = build_status(result, summary.unit)
    return Verdict(
        metric=plain(name),
        status=status,
        headline=_headline(name, status, result, summary),
        ruled_out=_ruled_out(status, result, summary),
        gap=gap_words(name, result, summary),
        power=_power_sentence(result, summary)
        if status == "inconclusive" and result.is_conclusive
        else "",
        remedy=_remedy(name, status, result, summary),
        if_like_others=if_like_others(result, summary),
        undecided=_undecided(result, summary),
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
    if status == "inconclusive" and not result.is_conclusive:
        return remedy(name, summary)
    if result.findings:
        return caveat(name, result, summary)
    known = find_metric(name)
    is_of_hits = known is not None and "labels" in known.needs
    if status in SAME and result.mean == 1 and is_of_hits and "test" not in summary.inputs:
        return if_joined(summary)
    return ""


def _headline(name: str, status: Status, result: MetricResult, summary: AuditSummary) -> str:
    if status == "inconclusive" and not result.is_conclusive:
        return why_inconclusive(name, result, summary)
    unit = summary.unit
    if status in SAME:
        defined = f" for {unit.whom} it is defined" if result.n_undefined else ""
        who = f"{unit.everyone}{defined}"
        return f"It is {number(result.mean)} for {who}, so groups cannot differ in it."
    if not result.n_groups:
        return _no_groups(result, summary)
    smallest = unit.count(summary.coverage.min_users)
    looked_at = f"{plural(result.n_groups, 'group')} of at least {smallest}"
    if status == "not tested":
        return f"{looked_at}, not tested for significance."
    worse = [finding for finding in result.findings if is_worse(finding, result)]
    better = [finding for finding in result.findings if not is_worse(finding, result)]
    is_ended, words = result.higher_is_better is not None, end_words(name, unit)
    said = []
    if worse:
        said.append(_of_worse(worse, result, summary, words))
    elif result.undecided:
        shown = "shown to be worse" if is_ended else "shown to differ"
        said.append(f"{describe_undecided(result, summary)} None of {looked_at} is {shown}.")
    else:
        shown = "is significantly worse" if is_ended else "differs significantly"
        n_groups = f"{result.n_groups:,} tested, at least {smallest} each"
        said.append(f"No group {shown} ({n_groups}; significance level {summary.alpha:g}).")
    if better:
        are = "group is" if len(better) == 1 else "groups are"
        at_least = "At least " if is_cut(result) else ""
        said.append(f"{at_least}{len(better)} {are} {words.better}: {_named(better[-1], summary)}.")
    if worse and result.undecided:
        said.append(describe_undecided(result, summary))
    return " ".join(said)


def _of_worse(
    worse: list[Finding], result: MetricResult, summary: AuditSummary, words: EndWords
) -> str:
    """How many groups are worse off, and the worst of them."""
    is_ended = result.higher_is_better is not None
    tolerance = None if result.verdict is None else result.verdict.tolerance
    are = "group is" if len(worse) == 1 else "groups are"
    what = "significantly worse"
    if not is_ended:
        are = "group differs" if len(worse) == 1 else "groups differ"
        what = "significantly"
    head = f"{len(worse)} {are} {what}{_overlapping(worse, result)}"
    if tolerance is not None:
        head += _beside_tolerance(worse, tolerance)
    which = words.worst.capitalize() if is_ended else "Furthest from the rest"
    said = f"{head}. {which}: {_named(worse[0], summary)}."
    return " ".join(filter(None, (said, because_of(worse[0], result, words))))


def _overlapping(worse: list[Finding], result: MetricResult) -> str:
    """How many groups are as badly off because they overlap those that are listed."""
    verdict = result.verdict
    n_more = (
        0 if verdict is None else verdict.n_worse + verdict.n_worse_beyond_tolerance - len(worse)
    )
    if n_more <= 0:
        return ""
    it = "it" if len(worse) == 1 else "them"
    if is_cut(result):
        return f" ({n_more:,} more overlap {it}, or are beyond the {MAX_FINDINGS} findings listed)"
    return f" ({n_more:,} more {'overlaps' if n_more == 1 else 'overlap'} {it})"


def is_cut(result: MetricResult) -> bool:
    """Whether there may be more findings than are listed."""
    return len(result.findings) >= MAX_FINDINGS


def _beside_tolerance(worse: list[Finding], tolerance: float) -> str:
    """How many of them are worse beyond the tolerance, and how many are not."""
    known = [outcome_position(finding.outcome) for finding in worse if finding.outcome is not None]
    n_more, n_less = known.count(BEYOND), known.count(WITHIN)
    beyond = f"beyond the tolerance of {number(tolerance)}"
    if n_more == len(worse):
        return f", and {beyond}"
    if n_less == len(worse):
        return f", but not {beyond}"
    if not n_more and not n_less:
        return f"; whether {beyond} is not shown"
    parts = [f"{n_more} of them {beyond}"] if n_more else []
    parts += [f"{n_less} of them not {beyond}"] if n_less else []
    return f", {', '.join(parts)}"


def _named(finding: Finding, summary: AuditSummary) -> str:
    """A group, its difference with what holds for all groups at once, and its users."""
    said = format_difference(finding)
    said += f", {confidence(summary.alpha)} interval {simultaneous_interval(finding)}"
    said += f", {users_known(finding)} {summary.unit.noun(finding.n_users)}"
    return f"{group_label(finding.group)} ({said})"


def _no_groups(result: MetricResult, summary: AuditSummary) -> str:
    if result.n_defined >= summary.coverage.min_users and result.gap is not None:
        return f"All {summary.unit.many} are in one group, so there is nothing to compare it with."
    scored_and = "scored and " if is_sampled(summary) else ""
    smallest = summary.unit.count(summary.coverage.min_users)
    return f"No group has {smallest} {scored_and}for {summary.unit.whom} it is defined."


def _ruled_out(status: Status, result: MetricResult, summary: AuditSummary) -> str:
    """The certificate and its scope."""
    verdict = result.verdict
    if verdict is None or status in ("not tested", *SAME):
        return ""
    said = (_scope(verdict, result, summary), describe_ruled_out(result, summary))
    return " ".join(filter(None, said))


def _scope(verdict: MetricVerdict, result: MetricResult, summary: AuditSummary) -> str:
    """For which groups a harm beyond the tolerance is ruled out, and on what that rests."""
    if verdict.tolerance is None or not result.is_conclusive:
        return ""
    by = f"Not {worse_word(result)} by more than {number(verdict.tolerance)}"
    if not verdict.n_within_tolerance:
        return f"{by}: shown for no group; open for {verdict.n_inconclusive:,}."
    rests = if_like_others(result, summary)
    rests = f"; this holds {rests}" if rests else ""
    if not verdict.n_inconclusive:
        return f"{by}: {plural(verdict.n_within_tolerance, 'group')}; none is open{rests}."
    unless = (
        " that are not shown to be" if verdict.n_worse + verdict.n_worse_beyond_tolerance else ""
    )
    if verdict.ruled_out_from is None:
        n_within_tolerance = plural(verdict.n_within_tolerance, "group")
        return f"{by}: {n_within_tolerance}; open for {verdict.n_inconclusive:,} others{rests}."
    return (
        f"{by} for groups of {verdict.ruled_out_from:,} {scored(summary).many} or more{unless}; "
        f"open for {plural(verdict.n_inconclusive, 'smaller one')}{rests}."
    )


def _power_sentence(result: MetricResult, summary: AuditSummary) -> str:
    if summary.adjustment is not None or not summary.unit.is_users:
        # how much would be shown depends on who shares a group's covariates, or on the items
        return ""
    if not result.detectable:
        return "Groups of these sizes are too small to detect any possible harm with 80% power."
    sizes = ", ".join(
        f"{number(d.difference)} in a group of {d.support:,}" for d in result.detectable
    )
    return f"80% power to detect a {harm_word(result)} of {sizes}."
