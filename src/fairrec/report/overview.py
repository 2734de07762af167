"""The answer: who is worse off, by how much, how sure that is, and what to do next."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from fairrec.core.audited_entity import USERS, Unit
from fairrec.core.errors import plain
from fairrec.core.options import spell_in
from fairrec.inputs.users import Value
from fairrec.metrics.value_columns import find_metric
from fairrec.report.covariates import covariate_names
from fairrec.report.findings import (
    SERVED,
    FoundGroup,
    Mark,
    Served,
    describe_random_sets,
    effect_in_sd,
    finding_marks,
    format_difference,
    found_groups,
    mean_outside,
    other_side,
    simultaneous_interval,
    undecided_headline,
    users_known,
)
from fairrec.report.metric_words import (
    USUAL_SIZE,
    end_words,
    exact_instead,
    harm_word,
    is_sampled,
    is_worse,
    of_two_lists,
    p_adjusted,
    summarize_ruled_out,
)
from fairrec.report.verdict import SAME, Tone, Verdict, is_cut
from fairrec.report.words import (
    confidence,
    group_label,
    number,
    numbers,
    p_is,
    percent,
    plural,
    signed,
)
from fairrec.result.schema import AuditSummary
from fairrec.statistics.simultaneous import least_permutations
from fairrec.statistics.verdict import WITHIN, outcome_position

SHOWN = 10
"""Groups in the first screen."""


@dataclass(frozen=True, slots=True)
class GroupLine:
    """One group in a line.

    Parameters
    ----------
    metric, shrunken, interval : of the finding that says most
    marks : all metrics in which it differs
    """

    label: str
    users: str
    served: Served
    metric: str
    shrunken: str
    interval: str
    marks: tuple[Mark, ...]

    @property
    def cells(self) -> tuple[str, ...]:
        """Its text under each of the columns of an overview."""
        marks = " ".join(f"{mark.metric}{mark.sign}" for mark in self.marks)
        return self.label, self.users, self.metric, self.shrunken, self.interval, marks


@dataclass(frozen=True, slots=True)
class Overview:
    """The first screen.

    Parameters
    ----------
    named, called : the group and the metric that the headline is about; empty where it is none
    who, how_much, how_sure, next_steps : in a few short lines each
    unit : what is audited
    ruled_out : what none of the other groups is, in all metrics
    """

    tone: Tone
    headline: str
    named: str
    detail: str
    who: tuple[str, ...]
    how_much: tuple[str, ...]
    how_sure: tuple[str, ...]
    next_steps: tuple[str, ...]
    ruled_out: str
    lines: tuple[GroupLine, ...]
    n_more: int
    called: str = ""
    unit: Unit = USERS

    @property
    def columns(self) -> tuple[str, ...]:
        """Of the groups in lines; shrunken difference and interval are of the metric named."""
        return "group", self.unit.many, "metric", "shrunken", "all at once", "finding in"


def overview(
    summary: AuditSummary,
    verdicts: tuple[Verdict, ...],
    folder: str = "AUDIT",
    *,
    is_saved: bool = True,
) -> Overview:
    """The answer of an audit.

    Parameters
    ----------
    folder : where it is written, as a shell takes it
    is_saved : whether it is written at all; commands that read it come after saving it
    """
    groups = found_groups(summary)
    lines = tuple(_line(group, summary) for group in groups[:SHOWN])
    is_found = bool(groups)
    headline, detail = _of_found(groups, summary) if is_found else _of_none(summary, verdicts)
    steps = _next_steps(groups, summary, folder)
    if not is_saved and any(f" {folder}" in step for step in steps):
        out = spell_in(summary.command, "out", folder)
        steps = (f"save this audit, which the next command reads: {out}", *steps)
    return Overview(
        tone=_tone(verdicts, summary),
        headline=headline,
        named=group_label(_told(groups, summary)) if is_found else "",
        detail=detail,
        who=_who(groups, summary),
        how_much=_how_much(groups, summary) if is_found else (),
        how_sure=_how_sure(summary),
        next_steps=steps,
        ruled_out=summarize_ruled_out(summary, groups[0].first[0] if is_found else ""),
        lines=lines,
        n_more=max(0, len(groups) - SHOWN),
        unit=summary.unit,
        called=_called(groups[0].first[0], summary) if is_found else "",
    )


def _called(metric: str, summary: AuditSummary) -> str:
    return plain(summary.metrics[metric].called or metric)


def _deciding(verdicts: tuple[Verdict, ...], summary: AuditSummary) -> tuple[Verdict, ...]:
    """Those of metrics with a better end; all where none has one."""
    has_end = [result.higher_is_better is not None for result in summary.metrics.values()]
    ended = zip(verdicts, has_end, strict=True)
    return tuple(verdict for verdict, has in ended if has) or verdicts


def _tone(verdicts: tuple[Verdict, ...], summary: AuditSummary) -> Tone:
    tones = {verdict.tone for verdict in _deciding(verdicts, summary)}
    if "found" in tones:
        return "found"
    # one metric that is open is no all-clear
    return "clear" if tones == {"clear"} else "open"


def _line(group: FoundGroup, summary: AuditSummary) -> GroupLine:
    name, finding = group.first
    return GroupLine(
        label=group_label(group.group),
        users=users_known(finding),
        served=group.served,
        metric=plain(name),
        shrunken=format_difference(finding, finding.shrunken_difference),
        interval=simultaneous_interval(finding),
        marks=finding_marks(group, summary),
    )


def _of_found(groups: list[FoundGroup], summary: AuditSummary) -> tuple[str, str]:
    """Headline and detail where groups stand out."""
    first = groups[0]
    name, finding = first.first
    n_alike = sum(group.served == first.served for group in groups)
    unit = summary.unit
    words = end_words(name, unit)
    verb = {"worse": words.worse, "better": words.better, "differs": "different"}
    here, there = numbers(finding.value, mean_outside(finding))
    known, n_known = users_known(finding), finding.support
    if not finding.is_fully_scored:
        n_known = finding.n_users
    told, alone = _told(groups, summary), verb[first.served]
    if told != first.group:
        alone = verb["differs" if first.served == "differs" else "better"]
        here, there = there, here
        n_known = _others_known(first, summary)
        known = f"{n_known:,}"
    share = n_known / summary.n_users
    label = group_label(told)
    who = f"{label} is {alone}"
    if n_alike > 1:
        at_least = "at least " if _is_cut(summary) else ""
        # those who lack one of several values come last, however far they are off
        lacking = any(other_side(group.group, summary) is not None for group in groups)
        most = "among them" if lacking else "most clearly"
        who = f"{at_least}{n_alike:,} groups are {verb[first.served]}, {most} {label}"
    has_end = any(one.higher_is_better is not None for one in summary.metrics.values())
    if first.served == "better" or (first.served == "differs" and has_end):
        who = f"No group is shown to be worse off; {who}"
    elif n_alike > 1:
        who = who[0].upper() + who[1:]
    if first.served == "worse" and _is_ruled_out(groups, summary):
        who += ", but within tolerance"
    called = _called(name, summary)
    about = "about " if is_sampled(summary) else ""
    headline = f"{who}: {called} {here} instead of {about}{there}"
    if summary.given is not None:
        # values are as they are, and may well be the other way round
        lower = "lower" if finding.difference < 0 else "higher"
        headline = (
            f"{who}: {called} {number(abs(finding.difference))} {lower} than that of others with "
            f"the same {covariate_names(summary)}"
        )
    p = p_is(p_adjusted(finding.p_adjusted, summary))
    detail = (
        f"{known} of {unit.count(summary.n_users)} ({percent(share)}) · {plain(name)} · "
        f"not chance ({p}, adjusted for all groups and metrics)"
    )
    if random_sets := describe_random_sets(finding, unit):
        detail += f" · {random_sets}"
    if summary.given is not None:
        detail += f" · {here} against {there} whatever the circumstances"
    if is_sampled(summary):
        n_sample = unit.count(summary.metrics[name].n_compared)
        detail += f" · all others estimated from {n_sample} drawn at random"
    if finding.because_of and finding.because_of != told:
        better = group_label(finding.because_of)
        detail += f" · they would not stand out without {better}, {words.better} than they are"
    return headline, detail


def _is_ruled_out(groups: list[FoundGroup], summary: AuditSummary) -> bool:
    """Whether every group that is worse is so within the tolerance."""
    found = [
        finding.outcome
        for group in groups
        if group.served == "worse"
        for name, finding in group.findings
        if is_worse(finding, summary.metrics[name])
    ]
    return all(one is not None and outcome_position(one) == WITHIN for one in found)


def _told(groups: list[FoundGroup], summary: AuditSummary) -> dict[str, Value]:
    """The group that the headline names: the first, or all others where these have a value.

    As they are measured, and of one group alone: what is adjusted or estimated is not said of all
    others, nor of fewer than a group must have.
    """
    first = groups[0]
    has_value = other_side(first.group, summary)
    is_first = (
        has_value is None
        or summary.given is not None
        or is_sampled(summary)
        or first.served == "better"
        or first.first[1].because_of not in (None, has_value)
        or any(group.served == first.served for group in groups[1:])
        or _others_known(first, summary) < summary.coverage.min_users
    )
    return first.group if is_first or has_value is None else has_value


def _others_known(first: FoundGroup, summary: AuditSummary) -> int:
    """How many of all others have a value."""
    name, finding = first.first
    return summary.n_users - summary.metrics[name].n_undefined - finding.support


def _of_none(summary: AuditSummary, verdicts: tuple[Verdict, ...]) -> tuple[str, str]:
    """Headline and detail where no group stands out."""
    if all(verdict.status == "not tested" for verdict in verdicts):
        return "Nothing was tested against chance", _why_untested(summary)
    if all(verdict.status in SAME for verdict in verdicts):
        has = "Everyone has" if summary.unit.is_users else f"All {summary.unit.many} have"
        return f"{has} the same value, so groups cannot differ", ""
    n_groups = max(result.n_groups for result in summary.metrics.values())
    if all(verdict.tone == "clear" for verdict in _deciding(verdicts, summary)):
        rests = next((f", {one.if_like_others}" for one in verdicts if one.if_like_others), "")
        return (
            f"Every group of a single attribute is within tolerance{rests}; none of "
            f"{plural(n_groups, 'group')} stood out",
            "",
        )
    not_enough = [
        verdict
        for verdict, result in zip(verdicts, summary.metrics.values(), strict=True)
        if verdict.status == "inconclusive" and not result.is_conclusive
    ]
    if not_enough:
        return f"Inconclusive: {not_enough[0].headline}", not_enough[0].remedy
    if undecided := _undecided(summary, verdicts):
        return undecided
    return f"No group of {n_groups:,} stood out; that is no all-clear", _would_have_been_seen(
        summary
    )


def _why_untested(summary: AuditSummary) -> str:
    """Where permutations are too few for any group to be found."""
    least = least_permutations(summary.alpha)
    if not summary.unit.is_users or summary.permutations >= least:
        return ""
    more = spell_in(summary.command, "permutations", least)
    return (
        f"{plural(summary.permutations, 'permutation')} cannot give a p-value of "
        f"{summary.alpha:g}: {more} or more can (1/alpha - 1)"
    )


def _undecided(summary: AuditSummary, verdicts: tuple[Verdict, ...]) -> tuple[str, str] | None:
    """Headline and detail where a test and its interval disagree, or another seed might."""
    for (name, result), verdict in zip(summary.metrics.items(), verdicts, strict=True):
        if verdict.undecided:
            return f"Inconclusive in {verdict.metric}", verdict.undecided.removesuffix(".")
        if result.undecided and result.is_conclusive:
            return undecided_headline(plain(name), result, summary), ""
    return None


def _would_have_been_seen(summary: AuditSummary) -> str:
    """The power of the audit, in the metric that comes first."""
    for name, result in summary.metrics.items():
        if not result.detectable:
            continue
        certificate = () if result.verdict is None else result.verdict.certificate
        # of a size that groups have
        size = max(USUAL_SIZE, certificate[0].support if certificate else 0)
        at = min(result.detectable, key=lambda one: abs(one.support - size))
        return (
            f"A {harm_word(result)} of {number(at.difference)} in {plain(name)} in a group of "
            f"{summary.unit.count(at.support)} would have been seen 4 times in 5"
        )
    if summary.given or not summary.unit.is_users:
        return ""
    return "Groups are too small for any possible harm to be seen"


def _is_cut(summary: AuditSummary) -> bool:
    return any(is_cut(result) for result in summary.metrics.values())


def _who(groups: list[FoundGroup], summary: AuditSummary) -> tuple[str, ...]:
    counts = {served: sum(group.served == served for group in groups) for served in SERVED}
    has_end = any(result.higher_is_better is not None for result in summary.metrics.values())
    said = []
    if has_end:
        said += [f"{plural(counts['worse'], 'group')} worse", f"{counts['better']:,} better"]
        if _is_cut(summary):
            said = [f"at least {line}" for line in said]
    if counts["differs"]:
        said.append(f"{plural(counts['differs'], 'group')} differing, no end is better")
    return tuple(said)


def _how_much(groups: list[FoundGroup], summary: AuditSummary) -> tuple[str, ...]:
    group = groups[0]
    name, finding = group.first
    result = summary.metrics[name]
    line = _line(group, summary)
    interval = f" ({line.interval})" if line.interval else ""
    measured = f"{signed(finding.difference)} as measured"
    if summary.given is not None and finding.raw_difference is not None:
        raw, adjusted = signed(finding.raw_difference), signed(finding.difference)
        measured = f"{adjusted} adjusted, {raw} as it is"
    said = [f"{line.shrunken}{interval}", f"shrunken; {measured}"]
    if _told(groups, summary) != group.group:
        # the headline names those who have what this group lacks
        said.insert(0, f"{line.label}:")
    effect = effect_in_sd(finding, result)
    if effect is not None:
        said.append(f"{signed(effect)} standard deviations among {summary.unit.many}")
    tolerance = None if result.verdict is None else result.verdict.tolerance
    if tolerance is not None:
        said.append(f"tolerance: {number(tolerance)}")
    tested = [one for one in summary.metrics.values() if one.is_tested]
    if len(tested) > 1:
        said.append(f"finding in {len(group.findings)} of {len(tested)} metrics")
    return tuple(said)


def _how_sure(summary: AuditSummary) -> tuple[str, ...]:
    tested = [result for result in summary.metrics.values() if result.is_tested]
    if not tested:
        return ("not tested against chance",)
    n_groups = max(result.n_groups for result in tested)
    said = [f"{plural(n_groups, 'group')} \u00d7 {plural(len(tested), 'metric')} tested"]
    said.append(f"{percent(summary.alpha)} risk of any false finding")
    said.append(f"intervals hold at {confidence(summary.alpha)} for all at once")
    search = summary.search
    if is_sampled(summary):
        said.append(
            f"{percent(search.users_scored / search.users_total)} of {summary.unit.many} scored"
        )
    return tuple(said)


def _next_steps(groups: list[FoundGroup], summary: AuditSummary, folder: str) -> tuple[str, ...]:
    """What a reader can do, the nearest first."""
    steps = [*filter(None, (exact_instead(summary),))]
    unit = summary.unit
    if summary.circumstances and summary.given is None:
        circumstance = summary.circumstances[0].circumstance
        alike = f"compare {unit.many} in the same circumstances"
        steps.append(f"{alike}: {spell_in(summary.command, 'adjust_for', [circumstance])}")
    if any(group.served == "worse" for group in groups):
        has_lists = "predictions" in summary.inputs
        if of_two_lists(groups[0].first[0]):
            steps.append("look at what changes in their lists")
        elif not unit.is_users:
            steps.append(f"look at how these {unit.many} are ranked, and for whom")
        elif has_lists and summary.search.users_scored == summary.n_users:
            steps.append(f"re-rank their lists: {_mitigation(groups[0].first[0], summary, folder)}")
        else:
            steps.append("look at what these users got")
    elif is_sampled(summary):
        if not summary.search.has_table:
            budget = spell_in(summary.command, "budget_users")
            steps.append(f"score more {unit.many}: raise {budget}")
    elif not groups and any(not result.is_conclusive for result in summary.metrics.values()):
        # more users would be missing as these are
        steps.append(f"find out {unit.which} {'is' if unit.is_users else 'are'} missing, and why")
    elif summary.outcome == "within tolerance":
        steps.append(f"write a policy for the next release: fairrec init {folder}")
    elif not groups and unit.is_users:
        steps.append(f"see how many users it takes to rule out a harm: fairrec plan {folder}")
    if summary.tolerance is None:
        steps.append(f"set a tolerance: {spell_in(summary.command, 'tolerance', '5%')}")
    return tuple(steps)


def _mitigation(name: str, summary: AuditSummary, folder: str) -> str:
    """The command that re-ranks lists for a metric, with the table that it lacks."""
    command = f"fairrec mitigate {folder} --metric {shlex.quote(plain(name))}"
    metric = find_metric(name)
    # order is learned from what users chose before; a trained run has its own table of it
    lacks = metric is not None and "labels" in metric.needs
    return (
        f"{command} --history FILE"
        if lacks and not {"history", "run"} & {*summary.inputs}
        else command
    )
