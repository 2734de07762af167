"""What one metric says, in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fairrec.core.errors import plain
from fairrec.metrics.direction import harm
from fairrec.report.text.missing import caveat, if_joined, remedy, why_inconclusive
from fairrec.report.text.p_values import p_of_gap
from fairrec.report.words import (
    confidence,
    group_label,
    number,
    numbers,
    percent,
    plural,
    signed_interval,
    with_sign,
)
from fairrec.result.schema import (
    AuditSummary,
    CertifiedSize,
    Finding,
    MetricResult,
    MetricVerdict,
)
from fairrec.statistics.findings import MAX_FINDINGS
from fairrec.statistics.outcome import Outcome

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
    "not tested",
]
"""What matters most first."""
Tone = Literal["found", "open", "clear"]
SIZES_CERTIFIED = (100, 1000)
VARYING_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one metric says, in words.

    Parameters
    ----------
    ruled_out : what can be ruled out, and for whom
    """

    metric: str
    status: Status
    headline: str
    ruled_out: str
    gap: str
    power: str
    remedy: str = ""

    @property
    def tone(self) -> Tone:
        """How to show it."""
        if self.status in ("not worse by more than matters", "differs by no more than matters"):
            return "clear"
        # what differs without a better end is no alarm, and no all-clear either
        return "found" if self.status.startswith("worse") else "open"


def said_of(verdict: Verdict) -> tuple[str, ...]:
    """Its sentences, in the order they are read."""
    said = (verdict.headline, verdict.remedy, verdict.ruled_out, verdict.gap, verdict.power)
    return tuple(filter(None, said))


_STATUS: dict[tuple[Outcome, bool], tuple[Status, Status]] = {
    ("worse by more", True): ("worse by more than matters", "differs by more than matters"),
    ("worse", True): ("worse, may be less than matters", "differs, may be less than matters"),
    ("worse", False): ("worse", "differs"),
    ("not worse by more", True): (
        "not worse by more than matters",
        "differs by no more than matters",
    ),
}
"""By outcome and whether an amount matters: where one end is worse, and where neither is."""


def status_of(result: MetricResult) -> Status:
    """What is known about the harm of its groups, in a few words."""
    if not result.is_tested or (result.is_conclusive and not result.n_groups):
        return "not tested"
    if result.is_constant and result.is_conclusive:
        return "same for everyone"
    outcome: Outcome = "inconclusive"
    has_amount = False
    if result.verdict is not None:
        outcome, has_amount = result.verdict.outcome, result.verdict.matters is not None
    elif any(is_worse(finding, result) for finding in result.findings):
        # a result from before there were verdicts
        outcome = "worse"
    return _words(outcome, has_amount, result)


def _words(outcome: Outcome, has_amount: bool, result: MetricResult) -> Status:
    by_end = _STATUS.get((outcome, has_amount), ("inconclusive", "inconclusive"))
    return by_end[result.higher_is_better is None]


def is_worse(finding: Finding, result: MetricResult) -> bool:
    """Whether a finding is at the worse end; where there is none, always."""
    return harm(finding.difference, result.higher_is_better) > 0


def verdict_of(name: str, result: MetricResult, summary: AuditSummary) -> Verdict:
    """What one metric says."""
    status = status_of(result)
    return Verdict(
        metric=plain(name),
        status=status,
        headline=_headline(name, status, result, summary),
        ruled_out=_ruled_out(status, result, summary),
        gap=" ".join(
            filter(None, (_gap_sentence(result, summary), _bound_sentence(name, summary)))
        ),
        power=_power_sentence(result, summary)
        if status == "inconclusive" and result.is_conclusive
        else "",
        remedy=_remedy(name, status, result, summary),
    )


def _remedy(name: str, status: Status, result: MetricResult, summary: AuditSummary) -> str:
    if status == "inconclusive" and not result.is_conclusive:
        return remedy(name, summary)
    if result.findings:
        return caveat(name, result, summary)
    if status == "same for everyone" and result.mean == 1 and "test" not in summary.inputs:
        return if_joined(summary)
    return ""


def _headline(name: str, status: Status, result: MetricResult, summary: AuditSummary) -> str:
    if status == "inconclusive" and not result.is_conclusive:
        return why_inconclusive(name, result, summary)
    if status == "same for everyone":
        who = "everyone for whom it is defined" if result.n_undefined else "everyone"
        return f"It is {number(result.mean)} for {who}, so groups cannot differ in it."
    if not result.n_groups:
        return _no_groups(result, summary)
    looked_at = (
        f"{plural(result.n_groups, 'group')} of at least "
        f"{plural(summary.coverage.min_users, 'user')}"
    )
    if status == "not tested":
        return f"{looked_at}, without a test against chance."
    worse = [finding for finding in result.findings if is_worse(finding, result)]
    better = [finding for finding in result.findings if not is_worse(finding, result)]
    is_ended = result.higher_is_better is not None
    said = []
    if worse:
        said.append(_of_worse(worse, result, summary))
    else:
        shown = "is shown to be worse than" if is_ended else "is shown to differ from"
        said.append(
            f"None of {looked_at} {shown} the rest by more than chance "
            f"(significance level {summary.alpha:g})."
        )
    if better:
        are = "group is" if len(better) == 1 else "groups are"
        at_least = "At least " if is_cut(result) else ""
        said.append(f"{at_least}{len(better)} {are} served better: {_named(better[-1], summary)}.")
    return " ".join(said)


def _of_worse(worse: list[Finding], result: MetricResult, summary: AuditSummary) -> str:
    """How many groups are worse off, and the worst of them."""
    is_ended = result.higher_is_better is not None
    matters = None if result.verdict is None else result.verdict.matters
    are = "group is" if len(worse) == 1 else "groups are"
    if not is_ended:
        are = "group differs" if len(worse) == 1 else "groups differ"
    what = " worse off than" if is_ended else " from"
    head = f"{len(worse)} {are}{what} the rest by more than chance{_overlapping(worse, result)}"
    if matters is not None:
        head += _of_what_matters(worse, matters)
    which = "Served worst" if is_ended else "Furthest from the rest"
    said = f"{head}. {which}: {_named(worse[0], summary)}."
    return " ".join(filter(None, (said, because_of(worse[0], result))))


def because_of(finding: Finding, result: MetricResult) -> str:
    """The group without which this one would not stand out; nothing for most."""
    if finding.because_of is None:
        return ""
    which = "at the other end" if result.higher_is_better is None else "served better than they are"
    return f"Without {group_label(finding.because_of)}, {which}, they would not stand out."


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


def _of_what_matters(worse: list[Finding], matters: float) -> str:
    """How many of them are worse by more than matters, and how many are not."""
    n_more = sum(finding.outcome == "worse by more" for finding in worse)
    n_less = sum(finding.outcome == "not worse by more" for finding in worse)
    by_more = f"by more than {number(matters)}, which matters"
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
    if finding.simultaneous is not None:
        said += f", {confidence(summary.alpha)} interval {simultaneous_interval(finding)}"
    users = "user" if finding.n_users == 1 else "users"
    return f"{group_label(finding.group)} ({said}, {users_known(finding)} {users})"


def _no_groups(result: MetricResult, summary: AuditSummary) -> str:
    if result.n_defined >= summary.coverage.min_users and result.gap is not None:
        return "All users are in one group, so there is nothing to compare it with."
    scored = "" if summary.search.users_scored == summary.search.users_total else "scored and "
    smallest = plural(summary.coverage.min_users, "user")
    return f"No group has {smallest} {scored}for whom it is defined."


def _ruled_out(status: Status, result: MetricResult, summary: AuditSummary) -> str:
    """The certificate and its scope, and who varies more than others."""
    verdict = result.verdict
    if verdict is None or status in ("not tested", "same for everyone"):
        return ""
    varying = ""
    if result.varying:
        shown = ", ".join(
            f"{group_label(one.group)} ({plural(one.support, 'user')})"
            for one in result.varying[:VARYING_SHOWN]
        )
        more = len(result.varying) - VARYING_SHOWN
        rest = f" and {more:,} more" if more > 0 else ""
        be = "differ" if result.higher_is_better is None else "be worse or better"
        varying = (
            "Further from the others than groups of everyone's spread would be, but varying more "
            f"than others, so not shown to {be}: {shown}{rest}."
        )
    said = (_scope(verdict, result, summary), _certified(verdict, result, summary), varying)
    return " ".join(filter(None, said))


def _scope(verdict: MetricVerdict, result: MetricResult, summary: AuditSummary) -> str:
    """For which groups a harm that matters is ruled out."""
    if verdict.matters is None or not result.is_conclusive:
        return ""
    what = "Not worse" if result.higher_is_better is not None else "Not different"
    by = f"{what} by more than {number(verdict.matters)}"
    share = "" if verdict.open_share is None else f" ({percent(verdict.open_share)} of users)"
    if not verdict.n_ruled_out:
        return f"{by}: shown for no group; open for {verdict.n_open:,}{share}."
    if not verdict.n_open:
        return f"{by}: {plural(verdict.n_ruled_out, 'group')}; none is open."
    search = summary.search
    users = "users" if search.users_scored == search.users_total else "scored users"
    unless = " that are not shown to be" if verdict.n_worse + verdict.n_worse_by_more else ""
    if verdict.ruled_out_from is None:
        n_ruled_out = plural(verdict.n_ruled_out, "group")
        return f"{by}: {n_ruled_out}; open for {verdict.n_open:,} others{share}."
    return (
        f"{by} for groups of {verdict.ruled_out_from:,} {users} or more{unless}; open for "
        f"{plural(verdict.n_open, 'smaller one')}{share}."
    )


def _certified(verdict: MetricVerdict, result: MetricResult, summary: AuditSummary) -> str:
    """The largest harm that is not ruled out, by size of group."""
    if not verdict.certificate:
        return ""
    smallest = verdict.certificate[0]
    later = [
        next((point for point in verdict.certificate if point.support >= size), None)
        for size in SIZES_CERTIFIED
    ]
    steps = [
        point
        for point in dict.fromkeys(later)
        if point is not None and point != smallest and point.harm > 0
    ]
    if smallest.harm == 0:
        # all others are shown to be better off, which the findings say
        return ""
    worse = "worse" if result.higher_is_better is not None else "different"
    of_sd = f" ({number(smallest.harm / result.sd)} standard deviations)" if result.sd else ""
    said = (
        f"{_those_certified(smallest, verdict, summary)} {worse} by more than "
        f"{number(smallest.harm)}{of_sd}, at {confidence(summary.alpha)} for all at once"
    )
    parts = [f"of those of {point.support:,} and more by {number(point.harm)}" for point in steps]
    if verdict.n_not_compared:
        n = verdict.n_not_compared
        parts.append(f"of {plural(n, 'group')} that cannot be compared nothing is ruled out")
    return f"{'; '.join([said, *parts])}."


def _those_certified(smallest: CertifiedSize, verdict: MetricVerdict, summary: AuditSummary) -> str:
    """For whom a harm is ruled out."""
    which = "intersections of all attributes, "
    if summary.depth != "full":
        depth = min(summary.depth, len(summary.attributes))
        which = f"up to {depth} attributes, " if depth > 1 else ""
    users = "user" if summary.search.users_scored == summary.search.users_total else "scored user"
    scope = f"({which}at least {plural(smallest.support, users)})"
    is_named = verdict.n_worse + verdict.n_worse_by_more > 0
    if smallest.n_groups == 1:
        return f"The {'other' if is_named else 'one'} group tested {scope} is not"
    other = "other " if is_named else ""
    return f"None of the {other}{plural(smallest.n_groups, 'group')} tested {scope} is"


def _gap_sentence(result: MetricResult, summary: AuditSummary) -> str:
    if result.is_constant:
        return ""
    if result.gap is None or not result.most_advantaged:
        return _no_gap(result, summary)
    which = "Best and worst" if result.higher_is_better is not None else "Highest and lowest"
    ends = f"{which} full combination are {number(result.gap)} apart"
    if result.chance is None:
        return f"{ends}."
    chance = result.chance
    if summary.given is not None:
        # the gap is as it is, and what chance shows is within circumstances
        return (
            f"{ends}, whatever the circumstances; among users in the same ones "
            f"{p_of_gap(chance)} for this metric by itself."
        )
    # no verdict in these words: findings are adjusted for all metrics, this p-value is not
    return (
        f"{ends}; chance alone shows {number(chance.mean)} on average and up to "
        f"{number(chance.q95)} in 95% of cases ({p_of_gap(chance)} for this metric by "
        "itself, where a gap counts in standard errors)."
    )


def _no_gap(result: MetricResult, summary: AuditSummary) -> str:
    if result.gap is not None:
        ends = "best or worst" if result.higher_is_better is not None else "highest or lowest"
        return f"No two full combinations with enough users differ in it, so none is {ends}."
    if result.is_gap_hidden:
        return "The gap between full combinations is hidden: one of them has too few users."
    if summary.search.n_not_fully_scored:
        return "Fewer than two full combinations are fully scored, and a gap needs two."
    return "No full combination of attributes has enough users for a gap between them."


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
    if number(bound, beside=gap) == "0":
        return f"As far as the search can tell ({search.confidence:.0%}), that is the exact gap."
    return (
        f"The exact gap is at most {number(gap + bound)}, as far as the search can tell "
        f"({search.confidence:.0%})."
    )


def _power_sentence(result: MetricResult, summary: AuditSummary) -> str:
    if summary.given is not None:
        # how much would be shown depends on who shares a group's circumstances
        return ""
    if not result.detectable:
        return "No possible harm would be shown 4 times in 5 in groups of these sizes."
    sizes = ", ".join(
        f"{number(d.difference)} in a group of {d.support:,}" for d in result.detectable
    )
    what = "harm" if result.higher_is_better is not None else "difference"
    return f"A true {what} this large would be shown 4 times in 5: {sizes}."


def mean_over(result: MetricResult, summary: AuditSummary) -> str:
    """Whose mean the mean of a metric is; after a search it is an estimate, and said to be."""
    if summary.search.users_scored < summary.search.users_total:
        return f"mean, estimated from {plural(result.n_compared, 'user')} drawn at random"
    return f"mean over {'users with a value' if result.n_undefined else 'all users'}"


def difference_of(finding: Finding, shrunken: float | None = None) -> str:
    """Its difference, or what is left of it, with the digits of the interval beside it."""
    beside = finding.simultaneous or finding.interval
    size = finding.difference if shrunken is None else shrunken
    return with_sign(numbers(size, finding.difference, *beside)[0])


def value_of_others(finding: Finding) -> float:
    """The mean of all other users, whatever their circumstances, as that of the group is."""
    raw = finding.raw_difference
    return finding.value - (finding.difference if raw is None else raw)


def simultaneous_interval(finding: Finding) -> str:
    """The interval that holds for all groups and metrics at once; empty where there is none."""
    if finding.simultaneous is None:
        return ""
    return signed_interval(*finding.simultaneous, finding.difference)


def one_at_a_time(finding: Finding) -> str:
    """The interval of this group by itself."""
    return signed_interval(*finding.interval, finding.difference)


def outcome_words(finding: Finding, result: MetricResult) -> str:
    """What is known about one group, in a few words."""
    if finding.outcome is None:
        return ""
    if not is_worse(finding, result):
        return "served better"
    has_amount = result.verdict is not None and result.verdict.matters is not None
    return _words(finding.outcome, has_amount, result)


def users_known(finding: Finding) -> str:
    """How many users the finding rests on."""
    if finding.is_fully_scored:
        return f"{finding.support:,}"
    return f"{finding.support:,} of {finding.n_users:,}"
