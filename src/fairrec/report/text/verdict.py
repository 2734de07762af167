"""What is known about the harm of groups, and what one metric says, in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fairrec.core.errors import plain
from fairrec.core.units import USERS, EndWords, Unit
from fairrec.metrics.value_columns import metric_named
from fairrec.report.text.findings import (
    BESIDE_SHOWN,
    because_of,
    difference_of,
    random_sets_of,
    simultaneous_interval,
    undecided_in,
    users_known,
)
from fairrec.report.text.metric_words import (
    end_words,
    gap_words,
    harm_word,
    is_sampled,
    is_worse,
    ruled_out_in,
    scored,
    worse_word,
)
from fairrec.report.text.missing import (
    caveat,
    if_joined,
    if_like_others,
    if_like_others_of,
    remedy,
    why_inconclusive,
)
from fairrec.report.words import confidence, group_label, number, percent, plural
from fairrec.result.metric_schema import Finding, MetricResult, MetricVerdict
from fairrec.result.schema import AuditSummary
from fairrec.statistics.findings import MAX_FINDINGS
from fairrec.statistics.verdict import BY_MORE, RULED_OUT, Outcome, position_of

Status = Literal[
    "worse by more than matters",
    "worse, may be less than matters",
    "worse",
    "differs by more than matters",
    "differs, may be less than matters",
    "differs",
    "inconclusive",
    "not worse by more than matters",
    "differs by no more than matters",
    "same for everyone",
    "same for all",
    "not tested",
]
"""What matters most first."""
SAME: tuple[Status, ...] = ("same for everyone", "same for all")
"""Of users, and of all else."""
_STATUS: dict[tuple[Outcome, bool], Status] = {
    ("worse by more", True): "worse by more than matters",
    ("worse", True): "worse, may be less than matters",
    ("worse", False): "worse",
    ("differs by more", True): "differs by more than matters",
    ("differs", True): "differs, may be less than matters",
    ("differs", False): "differs",
    ("not worse by more", True): "not worse by more than matters",
    ("differs by no more", True): "differs by no more than matters",
}
"""By outcome and whether an amount matters."""


def status_of(result: MetricResult, unit: Unit = USERS) -> Status:
    """What is known about the harm of its groups, in a few words."""
    if not result.is_tested or (result.is_conclusive and not result.n_groups):
        return "not tested"
    if result.is_constant and result.is_conclusive:
        return "same for everyone" if unit.is_users else "same for all"
    outcome: Outcome = "inconclusive"
    has_amount = False
    if result.verdict is not None:
        outcome, has_amount = result.verdict.outcome, result.verdict.tolerance is not None
    return status_words(outcome, has_amount)


def status_words(outcome: Outcome, has_amount: bool) -> Status:
    """An outcome in a few words.

    Parameters
    ----------
    has_amount : whether something was said to matter
    """
    return _STATUS.get((outcome, has_amount), "inconclusive")


def outcome_words(
    finding: Finding, result: MetricResult, words: EndWords, summary: AuditSummary
) -> str:
    """What is known about one group, in a few words, and what that rests on."""
    if finding.outcome is None:
        return ""
    if not is_worse(finding, result):
        return words.better
    has_amount = result.verdict is not None and result.verdict.tolerance is not None
    said = (
        status_words(finding.outcome, has_amount),
        if_like_others_of(finding, result, summary),
    )
    return ", ".join(filter(None, said))


Tone = Literal["found", "open", "clear"]
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
        if self.status in ("not worse by more than matters", "differs by no more than matters"):
            return "clear"
        # what differs without a better end is no alarm, and no all-clear either
        return "found" if self.status.startswith("worse") else "open"


def said_of(verdict: Verdict) -> tuple[str, ...]:
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


def verdict_of(name: str, result: MetricResult, summary: AuditSummary) -> Verdict:
    """What one metric says."""
    status = status_of(result, summary.unit)
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
    other = status_words(verdict.alternative, verdict.tolerance is not None)
    return (
        f"Undecided by permutation: with {summary.permutations_drawn:,} permutations another "
        f'seed may give "{other}". More permutations would decide it.'
    )


def _remedy(name: str, status: Status, result: MetricResult, summary: AuditSummary) -> str:
    if status == "inconclusive" and not result.is_conclusive:
        return remedy(name, summary)
    if result.findings:
        return caveat(name, result, summary)
    known = metric_named(name)
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
        return f"{looked_at}, without a test against chance."
    worse = [finding for finding in result.findings if is_worse(finding, result)]
    better = [finding for finding in result.findings if not is_worse(finding, result)]
    is_ended, words = result.higher_is_better is not None, end_words(name, unit)
    said = []
    if worse:
        said.append(_of_worse(worse, result, summary, words))
    elif result.undecided:
        shown = "shown to be worse" if is_ended else "shown to differ"
        said.append(f"{undecided_in(result, summary)} None of {looked_at} is {shown}.")
    else:
        shown = "is shown to be worse than" if is_ended else "is shown to differ from"
        said.append(
            f"None of {looked_at} {shown} the rest by more than chance "
            f"(significance level {summary.alpha:g})."
        )
    if better:
        are = "group is" if len(better) == 1 else "groups are"
        at_least = "At least " if is_cut(result) else ""
        said.append(f"{at_least}{len(better)} {are} {words.better}: {_named(better[-1], summary)}.")
    if worse and result.undecided:
        said.append(undecided_in(result, summary))
    return " ".join(said)


def _of_worse(
    worse: list[Finding], result: MetricResult, summary: AuditSummary, words: EndWords
) -> str:
    """How many groups are worse off, and the worst of them."""
    is_ended = result.higher_is_better is not None
    tolerance = None if result.verdict is None else result.verdict.tolerance
    are = "group is" if len(worse) == 1 else "groups are"
    if not is_ended:
        are = "group differs" if len(worse) == 1 else "groups differ"
    what = " worse off than" if is_ended else " from"
    head = f"{len(worse)} {are}{what} the rest by more than chance{_overlapping(worse, result)}"
    if tolerance is not None:
        head += _of_what_matters(worse, tolerance)
    which = words.worst.capitalize() if is_ended else "Furthest from the rest"
    said = f"{head}. {which}: {_named(worse[0], summary)}."
    return " ".join(filter(None, (said, because_of(worse[0], result, words))))


def _overlapping(worse: list[Finding], result: MetricResult) -> str:
    """How many groups are as badly off because they overlap those that are listed."""
    verdict = result.verdict
    n_more = 0 if verdict is None else verdict.n_worse + verdict.n_worse_by_more - len(worse)
    if n_more <= 0:
        return ""
    it = "it" if len(worse) == 1 else "them"
    if is_cut(result):
        return f" ({n_more:,} more overlap {it}, or are beyond the {MAX_FINDINGS} findings listed)"
    return f" ({n_more:,} more {'overlaps' if n_more == 1 else 'overlap'} {it})"


def is_cut(result: MetricResult) -> bool:
    """Whether there may be more findings than are listed."""
    return len(result.findings) >= MAX_FINDINGS


def _of_what_matters(worse: list[Finding], tolerance: float) -> str:
    """How many of them are worse by more than matters, and how many are not."""
    known = [position_of(finding.outcome) for finding in worse if finding.outcome is not None]
    n_more, n_less = known.count(BY_MORE), known.count(RULED_OUT)
    by_more = f"by more than {number(tolerance)}, which matters"
    if n_more == len(worse):
        return f", and {by_more}"
    if n_less == len(worse):
        return f", but not {by_more}"
    if not n_more and not n_less:
        return f"; whether {by_more}, is not shown"
    parts = [f"{n_more} of them {by_more}"] if n_more else []
    parts += [f"{n_less} of them not {by_more}"] if n_less else []
    return f", {', '.join(parts)}"


def _named(finding: Finding, summary: AuditSummary) -> str:
    """A group, its difference with what holds for all groups at once, and its users."""
    said = difference_of(finding)
    said += f", {confidence(summary.alpha)} interval {simultaneous_interval(finding)}"
    said += f", {users_known(finding)} {summary.unit.noun(finding.n_users)}"
    if random_sets := random_sets_of(finding, summary.unit):
        said += f"; {random_sets}"
    return f"{group_label(finding.group)} ({said})"


def _no_groups(result: MetricResult, summary: AuditSummary) -> str:
    if result.n_defined >= summary.coverage.min_users and result.gap is not None:
        return f"All {summary.unit.many} are in one group, so there is nothing to compare it with."
    scored_and = "scored and " if is_sampled(summary) else ""
    smallest = summary.unit.count(summary.coverage.min_users)
    return f"No group has {smallest} {scored_and}for {summary.unit.whom} it is defined."


def _ruled_out(status: Status, result: MetricResult, summary: AuditSummary) -> str:
    """The certificate and its scope, and who varies more than others."""
    verdict = result.verdict
    if verdict is None or status in ("not tested", *SAME):
        return ""
    varying = ""
    if result.varying:
        shown = ", ".join(
            f"{group_label(one.group)} ({summary.unit.count(one.support)})"
            for one in result.varying[:BESIDE_SHOWN]
        )
        more = len(result.varying) - BESIDE_SHOWN
        rest = f" and {more:,} more" if more > 0 else ""
        whose = "everyone's" if summary.unit.is_users else "the common"
        be = "differ" if result.higher_is_better is None else "be worse or better"
        varying = (
            f"Further from the others than groups of {whose} spread would be, but varying more "
            f"than others, so not shown to {be}: {shown}{rest}."
        )
    said = (_scope(verdict, result, summary), ruled_out_in(result, summary), varying)
    return " ".join(filter(None, said))


def _scope(verdict: MetricVerdict, result: MetricResult, summary: AuditSummary) -> str:
    """For which groups a harm that matters is ruled out, and on what that rests."""
    if verdict.tolerance is None or not result.is_conclusive:
        return ""
    by = f"Not {worse_word(result)} by more than {number(verdict.tolerance)}"
    share = (
        ""
        if verdict.open_share is None
        else f" ({percent(verdict.open_share)} of {summary.unit.many})"
    )
    if not verdict.n_ruled_out:
        return f"{by}: shown for no group; open for {verdict.n_open:,}{share}."
    rests = if_like_others(result, summary)
    rests = f"; this holds {rests}" if rests else ""
    if not verdict.n_open:
        return f"{by}: {plural(verdict.n_ruled_out, 'group')}; none is open{rests}."
    unless = " that are not shown to be" if verdict.n_worse + verdict.n_worse_by_more else ""
    if verdict.ruled_out_from is None:
        n_ruled_out = plural(verdict.n_ruled_out, "group")
        return f"{by}: {n_ruled_out}; open for {verdict.n_open:,} others{share}{rests}."
    return (
        f"{by} for groups of {verdict.ruled_out_from:,} {scored(summary).many} or more{unless}; "
        f"open for {plural(verdict.n_open, 'smaller one')}{share}{rests}."
    )


def _power_sentence(result: MetricResult, summary: AuditSummary) -> str:
    if summary.given is not None or not summary.unit.is_users:
        # how much would be shown depends on who shares a group's circumstances, or on the items
        return ""
    if not result.detectable:
        return "No possible harm would be shown 4 times in 5 in groups of these sizes."
    sizes = ", ".join(
        f"{number(d.difference)} in a group of {d.support:,}" for d in result.detectable
    )
    return f"A true {harm_word(result)} this large would be shown 4 times in 5: {sizes}."
