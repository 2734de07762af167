"""Users without a list, a value or an attribute, in sentences: said before any verdict."""

from __future__ import annotations

import math

from fairrec.core.errors import plain
from fairrec.core.options import Blank, spell_in
from fairrec.metrics.direction import harm
from fairrec.report.words import (
    group_label,
    interval,
    number,
    p_value,
    percent,
    plural,
    signed,
    signed_interval,
)
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.statistics.findings import Finding
from fairrec.statistics.missing import MissingUsers
from fairrec.statistics.permutation import least_p_value
from fairrec.statistics.unknown import Unknown
from fairrec.statistics.verdict import WITHIN, outcome_position

GROUPS_SHOWN = 3


def missing_lines(summary: AuditSummary) -> tuple[str, ...]:
    """A line for each way in which users are missing, with the groups that differ in it."""
    return tuple(f"{_who(one, summary)} {_where(one, summary)}".strip() for one in summary.missing)


def why_inconclusive(name: str, result: MetricResult, summary: AuditSummary) -> str:
    """Why nothing found is no all-clear."""
    concerned = _concerned(name, summary)
    reasons = []
    if result.undefined_share > summary.max_undefined:
        reasons.append(
            f"{percent(result.undefined_share)} of {summary.unit.many} have no value (up to "
            f"{percent(summary.max_undefined)} would be let pass)"
        )
    for one in concerned:
        if one.is_too_much and one.findings:
            reasons.append(_contrast(one, max(one.findings, key=_largest), summary))
    if result.findings:
        found = f"{summary.unit.what} is missing may change the picture: "
    elif result.is_tested and result.n_groups:
        found = "No group with values differs significantly, but "
    else:
        found = "Nothing can be said: "
    return f"{found}{', and '.join(reasons)}."


def _who(one: MissingUsers, summary: AuditSummary) -> str:
    of_all = f"{one.n_missing:,} of {summary.unit.count(one.n_users)} ({percent(one.share)})"
    if not summary.unit.is_users and one.kind != "undefined":
        # lists and held-out interactions are those of users
        return f"{of_all} have no value and are left out."
    if one.kind == "no list":
        return f"{of_all}{_without_list(one, summary)}"
    if one.kind == "not evaluated":
        return (
            f"{of_all} of the users table have neither recommendations nor held-out items, and are "
            "no part of this audit."
        )
    if one.kind == "no held-out items":
        return (
            f"{of_all} have recommendations and no held-out items, and so no accuracy; they count "
            "in every other metric."
        )
    metrics = ", ".join(plain(name) for name in one.metrics)
    are = "are" if len(one.metrics) > 1 else "is"
    is_test = summary.measured_by == "recommendations"
    where = "held-out items" if is_test else "candidates"
    why = f"have no relevant item among their {where} and " if one.kind != "undefined" else ""
    whose = " with held-out items" if is_test and one.kind != "undefined" else ""
    which = summary.unit.which
    return f"{metrics} {are} undefined for {of_all}{whose}, {which} {why}are left out there."


def _without_list(one: MissingUsers, summary: AuditSummary) -> str:
    if summary.measured_by == "values":
        return " have no row in the table of values and are left out."
    if one.counts_as_zero:
        return " with held-out items got no list, and count as 0 in accuracy and coverage."
    if summary.measured_by == "recommendations":
        return " with held-out items got no list and are left out."
    return " of the users table have no predictions and are left out."


def _where(one: MissingUsers, summary: AuditSummary) -> str:
    if one.findings:
        shown = sorted(one.findings, key=_largest, reverse=True)[:GROUPS_SHOWN]
        more = len(one.findings) - len(shown)
        rest = f"; {plural(more, 'more group')} in result.json" if more else ""
        said = "; ".join(_share(group, one.permutations) for group in shown)
        return f"Groups differ in it: {said}{rest}."
    # groups that are hidden may differ in it, and those left are not the ends
    if not one.is_tested or not one.shares or summary.hidden is not None:
        return ""
    first, last = one.shares[0], one.shares[-1]
    return (
        "Groups do not differ significantly in it (from "
        f"{percent(last.value)} for {group_label(last.group)} to {percent(first.value)} for "
        f"{group_label(first.group)})."
    )


def _share(group: Finding, permutations: int) -> str:
    least = least_p_value(permutations) if permutations else 0.0
    more, fewer = _both_shares(group)
    return f"{more} against {fewer} (p adjusted {p_value(group.p_adjusted, least)})"


def _both_shares(group: Finding) -> tuple[str, str]:
    """The share in a group and in all others, that of those who lack more first."""
    label, of_others = group_label(group.group), group.value - group.difference
    mine = f"{percent(group.value)} of {label}"
    if of_others > group.value:
        return f"{percent(of_others)} of all but {label}", mine
    return mine, f"{percent(of_others)} of all others"


def _contrast(one: MissingUsers, group: Finding, summary: AuditSummary) -> str:
    what = "have no value"
    kind = one.kind if summary.unit.is_users else "undefined"
    if kind == "not evaluated":
        what = "are no part of this audit"
    elif kind == "no held-out items":
        what = "have no held-out items"
    elif kind == "no list":
        what = "have no row of values" if summary.measured_by == "values" else "got no list"
    more, fewer = _both_shares(group)
    return f"{more} {what}, against {fewer}"


def _largest(group: Finding) -> float:
    """The share in the group, or in the others where it is larger."""
    return round(max(group.value, group.value - group.difference), 12)


def caveat(name: str, result: MetricResult, summary: AuditSummary) -> str:
    """What qualifies the findings of a metric: users who are left out of it, where they matter."""
    left_out = [one for one in _concerned(name, summary) if not one.counts_as_zero]
    if result.undefined_share > summary.max_undefined or any(one.is_too_much for one in left_out):
        return f"{why_inconclusive(name, result, summary)} {remedy(name, summary)}"
    return ""


def _option(summary: AuditSummary, name: str, value: object = None) -> str:
    return spell_in(summary.command, name, value)


def if_joined(summary: AuditSummary) -> str:
    """What to do where every list is perfect, as those are that were cut down to what was found."""
    if "predictions" not in summary.inputs or not summary.unit.is_users:
        return ""
    return (
        "If these are recommendations that were joined with what was held out, give both tables "
        f"instead ({_option(summary, 'test', Blank('FILE'))}): what was not recommended is lost in "
        "a join."
    )


def remedy(name: str, summary: AuditSummary) -> str:
    """What to do about a metric that is inconclusive."""
    concerned = _concerned(name, summary)
    if not summary.unit.is_users:
        return _remedy_of_items(summary.metrics[name], concerned, summary)
    kinds = {one.kind for one in concerned if one.is_too_much}
    kinds = kinds or {one.kind for one in concerned}
    held_out = f"give the held-out interactions ({_option(summary, 'test', Blank('FILE'))})"
    if "no relevant item" in kinds:
        if summary.measured_by == "recommendations":
            test = summary.inputs.get("test")
            where = "the held-out interactions" if test is None else test.name
            return (
                "Who has no relevant held-out item cannot be judged by accuracy. If that is no "
                f"fault of the lists, leave these users out of {where}, or "
                f"raise {_option(summary, 'max_undefined')}."
            )
        return (
            f"If these are recommendations, {held_out}: a list that misses everything then counts "
            "as 0. If they are candidates, give each user's relevant items among them."
        )
    if "no list" in kinds and summary.measured_by == "recommendations":
        return "See who got no list before reading anything into it."
    if kinds & {"no list", "not evaluated", "no held-out items"}:
        is_lists = "no list" in kinds and summary.measured_by != "values"
        otherwise = held_out if is_lists else "find out why they are not there"
        return (
            "If these users were never to be served, leave them out of the users table; if they "
            f"were, {otherwise}."
        )
    option = _option(summary, "max_undefined")
    return f"Find out why they have none, or raise {option} if it does not matter."


def _remedy_of_items(
    result: MetricResult, concerned: list[MissingUsers], summary: AuditSummary
) -> str:
    """The same of items, that have no value where they could have stood in no list."""
    shares = [_largest(group) for one in concerned if one.is_too_much for group in one.findings]
    enough = math.ceil(round(100 * max(result.undefined_share, *shares, 0.0), 9)) / 100
    judged = f"Judge the others all the same: {_option(summary, 'max_undefined', enough)}"
    if summary.measured_by == "recommendations":
        return f"They could not have been shown: the history has them for all. {judged}"
    return "They are never candidates. Leave them out of the items table. " + judged


def _concerned(name: str, summary: AuditSummary) -> list[MissingUsers]:
    """The ways to be missing that concern a metric."""
    return [one for one in summary.missing if name in one.metrics]


METRICS_SHOWN = 3


def unknown_lines(summary: AuditSummary) -> tuple[str, ...]:
    """A sentence for each attribute that is unknown for some users.

    Of each metric it tells the group worst served, where that is a finding or its sign is certain.
    """
    lines = []
    for name in summary.attributes:
        first = {
            metric: one
            for metric, result in summary.metrics.items()
            if not result.is_constant
            for one in reversed(result.unknown)
            if [*one.group] == [name]
        }
        if not first:
            continue
        widest = max(first, key=lambda metric: first[metric].n_unknown)
        told = [metric for metric, one in first.items() if _is_told(one, summary.metrics[metric])]
        is_open = [metric for metric in first if metric not in told]
        said = [
            f"in {plain(metric)}, {group_label(first[metric].group)} "
            f"{_range(first[metric], summary.metrics[metric])}"
            f"{'' if _is_found(first[metric], summary.metrics[metric]) else ' as measured'}"
            for metric in told[:METRICS_SHOWN]
        ]
        if len(told) > METRICS_SHOWN:
            said.append(f"{plural(len(told) - METRICS_SHOWN, 'more metric')} in result.json")
        if is_open:
            said.append(f"in {_listed(is_open)} even the sign of a difference is open")
        lines.append(
            f"{plain(name)} is unknown for "
            f"{_how_many(first[widest].n_unknown, summary.metrics[widest].n_defined, summary)}. "
            f"Whatever it is{_as_it_is(summary)}: {'; '.join(said)}."
        )
    return tuple(lines)


def _how_many(n_unknown: int, n_defined: int, summary: AuditSummary) -> str:
    """Users with a value, of all that have one."""
    share = percent(n_unknown / max(1, n_defined))
    if n_defined == summary.n_users:
        return f"{summary.unit.count(n_unknown)} ({share})"
    return f"{n_unknown:,} of {summary.unit.count(n_defined)} with a value ({share})"


def _as_it_is(summary: AuditSummary) -> str:
    return "" if summary.adjustment is None else " (unadjusted)"


def _is_told(one: Unknown, result: MetricResult) -> bool:
    low, high = one.bounds
    return _is_found(one, result) or not low < 0 < high


def _is_found(one: Unknown, result: MetricResult) -> bool:
    return any(finding.group == one.group for finding in result.findings)


def _listed(metrics: list[str]) -> str:
    shown = ", ".join(plain(metric) for metric in metrics[:METRICS_SHOWN])
    n_more = len(metrics) - METRICS_SHOWN
    return f"{shown} and {plural(n_more, 'more metric')}" if n_more > 0 else shown


def describe_unknown(finding: Finding, result: MetricResult, summary: AuditSummary) -> str:
    """What they leave open of one finding; nothing where nobody else may belong to it."""
    for one in result.unknown:
        if one.group == finding.group:
            more = f"{one.n_unknown:,} more {summary.unit.noun(one.n_unknown)}"
            does = f"Whichever of them do{_as_it_is(summary)}, it {_range(one, result)}"
            return f"Unknown attributes: {more} may belong to it. {does}."
    return ""


def if_like_others(result: MetricResult, summary: AuditSummary) -> str:
    """What "within tolerance" rests on; empty where no unknown value can undo it."""
    verdict = result.verdict
    if verdict is None or not verdict.n_exceeding_at_worst:
        return ""
    if verdict.at_worst is None:
        return f"if {summary.unit.many} of unknown attributes are like the others"
    return (
        f"{_if_like(verdict.at_worst, result, summary)} for {group_label(verdict.at_worst.group)}"
    )


def finding_condition(finding: Finding, result: MetricResult, summary: AuditSummary) -> str:
    """The same of one finding."""
    tolerance = None if result.verdict is None else result.verdict.tolerance
    if tolerance is None or finding.outcome is None or outcome_position(finding.outcome) != WITHIN:
        return ""
    for one in result.unknown:
        is_it = one.group == finding.group and one.at_worst is not None
        if is_it and harm(one.at_worst or 0.0, result.higher_is_better) > tolerance:
            return _if_like(one, result, summary)
    return ""


def _if_like(one: Unknown, result: MetricResult, summary: AuditSummary) -> str:
    unknown = [plain(name) for name in one.group if summary.attributes[name].n_missing != 0]
    share = percent(one.n_unknown / max(1, result.n_defined))
    at_worst = "" if one.at_worst is None else f"; at worst {signed(one.at_worst)}"
    return f"if the {share} of unknown {' or '.join(unknown)} are like the others{at_worst}"


def _range(one: Unknown, result: MetricResult) -> str:
    low, high = one.bounds
    if result.higher_is_better is None:
        return f"differs from all others by {signed_interval(low, high)}"
    low, high = sorted(harm(end, result.higher_is_better) for end in one.bounds)
    if low >= 0:
        return f"is worse than all others by {interval(low, high)}"
    if high <= 0:
        return f"is better than all others by {interval(-high, -low)}"
    return (
        f"may be worse than all others by up to {number(high)} or better by up to {number(-low)}, "
        "so the direction cannot be determined"
    )
