"""Users without a list or a value, in sentences: said before any verdict."""

from __future__ import annotations

from fairrec.core.errors import plain
from fairrec.core.options import Blank, spelled
from fairrec.report.words import group_label, p_value, percent, plural
from fairrec.result.schema import AuditSummary, Finding, MetricResult, MissingUsers

GROUPS_SHOWN = 3


def missing_lines(summary: AuditSummary) -> tuple[str, ...]:
    """A line for each way in which users are missing, with the groups that differ in it."""
    return tuple(f"{_who(one, summary)} {_where(one)}".strip() for one in summary.missing)


def why_inconclusive(name: str, result: MetricResult, summary: AuditSummary) -> str:
    """Why nothing found is no all-clear."""
    concerned = [one for one in summary.missing if name in one.metrics]
    reasons = []
    if result.undefined_share > summary.max_undefined:
        reasons.append(
            f"{percent(result.undefined_share)} of users have no value (up to "
            f"{percent(summary.max_undefined)} would be let pass)"
        )
    for one in concerned:
        worst = max(one.findings, key=_largest, default=None)
        if worst is not None and _largest(worst) > summary.max_undefined:
            reasons.append(_contrast(one, worst))
    found = (
        "No group with values differs from the rest by more than chance, but "
        if result.is_tested and result.n_groups
        else "Nothing can be said: "
    )
    return f"{found}{', and '.join(reasons)}."


def _who(one: MissingUsers, summary: AuditSummary) -> str:
    of_all = f"{one.n_missing:,} of {plural(one.n_users, 'user')} ({percent(one.share)})"
    with_held_out = " with held-out items" if "test" in summary.inputs else ""
    if one.kind == "no list":
        if "values" in summary.inputs:
            return f"{of_all} have no row in the table of values and are left out."
        if one.counts_as_zero:
            return f"{of_all}{with_held_out} got no list, and count as 0 in accuracy and coverage."
        if with_held_out:
            return f"{of_all}{with_held_out} got no list and are left out."
        return f"{of_all} of the users table have no predictions and are left out."
    metrics = ", ".join(plain(name) for name in one.metrics)
    are = "are" if len(one.metrics) > 1 else "is"
    why = "have no relevant item among their candidates and " if one.kind != "undefined" else ""
    return f"{metrics} {are} undefined for {of_all}{with_held_out}, who {why}are left out there."


def _where(one: MissingUsers) -> str:
    if one.findings:
        shown = sorted(one.findings, key=_largest, reverse=True)[:GROUPS_SHOWN]
        more = len(one.findings) - len(shown)
        rest = f"; {plural(more, 'more group')} in result.json" if more else ""
        return f"Groups differ in it: {'; '.join(_share(group) for group in shown)}{rest}."
    if not one.is_tested or not one.shares:
        return ""
    first, last = one.shares[0], one.shares[-1]
    return (
        "Groups do not differ in it by more than chance (from "
        f"{percent(last.value)} for {group_label(last.group)} to {percent(first.value)} for "
        f"{group_label(first.group)})."
    )


def _share(group: Finding) -> str:
    return (
        f"{percent(group.value)} of {group_label(group.group)} against "
        f"{percent(group.value - group.difference)} of all others (p adjusted "
        f"{p_value(group.p_adjusted)})"
    )


def _contrast(one: MissingUsers, group: Finding) -> str:
    what = "got no list" if one.kind == "no list" else "have no value"
    return (
        f"{percent(group.value)} of {group_label(group.group)} {what}, against "
        f"{percent(group.value - group.difference)} of all others"
    )


def _largest(group: Finding) -> float:
    """The share in the group, or in the others where it is larger."""
    return round(max(group.value, group.value - group.difference), 12)


def remedy(name: str, summary: AuditSummary) -> str:
    """What to do about a metric that is inconclusive."""
    kinds = {one.kind for one in summary.missing if name in one.metrics}
    if "no relevant item" in kinds and "test" not in summary.inputs:
        return (
            "If these are recommendations, give the held-out interactions "
            f"({spelled('test', Blank('FILE'))}): a list that misses everything then counts as 0. "
            "If they are candidates, give each user's relevant items among them."
        )
    if "no list" in kinds and "test" in summary.inputs:
        return "See who got no list before reading anything into it."
    if "no list" in kinds:
        return (
            "If these users were never to be served, leave them out of the users table; if they "
            f"were, give the held-out interactions ({spelled('test', Blank('FILE'))})."
        )
    return (
        f"Find out why they have none, or raise {spelled('max_undefined')} if it does not matter."
    )
