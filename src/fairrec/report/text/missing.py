"""Users without a list or a value, in sentences: said before any verdict."""

from __future__ import annotations

import math

from fairrec.core.errors import plain
from fairrec.core.options import Blank, spelled
from fairrec.report.words import group_label, p_value, percent, plural
from fairrec.result.metric_schema import Finding, MetricResult
from fairrec.result.schema import AuditSummary, MissingUsers
from fairrec.statistics.permutation import least_p_value

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
        found = "No group with values differs from the rest by more than chance, but "
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
        "Groups do not differ in it by more than chance (from "
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


def if_joined(summary: AuditSummary) -> str:
    """What to do where every list is perfect, as those are that were cut down to what was found."""
    if "predictions" not in summary.inputs or not summary.unit.is_users:
        return ""
    return (
        "If these are recommendations that were joined with what was held out, give both tables "
        f"instead ({spelled('test', Blank('FILE'))}): what was not recommended is lost in a join."
    )


def remedy(name: str, summary: AuditSummary) -> str:
    """What to do about a metric that is inconclusive."""
    concerned = _concerned(name, summary)
    if not summary.unit.is_users:
        return _remedy_of_items(summary.metrics[name], concerned, summary)
    kinds = {one.kind for one in concerned if one.is_too_much}
    kinds = kinds or {one.kind for one in concerned}
    held_out = f"give the held-out interactions ({spelled('test', Blank('FILE'))})"
    if "no relevant item" in kinds:
        if summary.measured_by == "recommendations":
            test = summary.inputs.get("test")
            where = "the held-out interactions" if test is None else test.name
            return (
                "Who has no relevant held-out item cannot be judged by accuracy. If that is no "
                f"fault of the lists, leave these users out of {where}, or "
                f"raise {spelled('max_undefined')}."
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
    return (
        f"Find out why they have none, or raise {spelled('max_undefined')} if it does not matter."
    )


def _remedy_of_items(
    result: MetricResult, concerned: list[MissingUsers], summary: AuditSummary
) -> str:
    """The same of items, that have no value where they could have stood in no list."""
    shares = [_largest(group) for one in concerned if one.is_too_much for group in one.findings]
    enough = math.ceil(round(100 * max(result.undefined_share, *shares, 0.0), 9)) / 100
    judged = f"Judge the others all the same: {spelled('max_undefined', enough)}"
    if summary.measured_by == "recommendations":
        return f"They could not have been shown: the history has them for all. {judged}"
    return "They are never candidates. Leave them out of the items table. " + judged


def _concerned(name: str, summary: AuditSummary) -> list[MissingUsers]:
    """The ways to be missing that concern a metric."""
    return [one for one in summary.missing if name in one.metrics]
