"""Users without a list, a value or an attribute, in sentences."""

from __future__ import annotations

from fairrec.core.errors import listed, plain
from fairrec.core.options import Blank, spell_in
from fairrec.metrics.direction import harm
from fairrec.report.words import group_label, p_value, percent, plural, signed, signed_interval
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.statistics.findings import Finding
from fairrec.statistics.missing import MissingKind, MissingUsers
from fairrec.statistics.permutation import least_p_value
from fairrec.statistics.verdict import WITHIN, outcome_position

GROUPS_SHOWN = METRICS_SHOWN = 3
_LACKS: dict[MissingKind, str] = {
    "no list": "got no list",
    "not evaluated": "have neither a list nor held-out items",
    "no held-out items": "have a list and no held-out items",
    "no relevant item": "have no relevant item",
    "undefined": "have no value",
}
"""Ways to be missing, as predicates."""


def missing_lines(summary: AuditSummary) -> tuple[str, ...]:
    """A line for each way in which users are missing, with the groups that differ in it."""
    return tuple(
        f"{_how_many(one, summary)} {_by_group(one, summary)}".strip() for one in summary.missing
    )


def _lacks(one: MissingUsers, summary: AuditSummary) -> str:
    # items have no lists, and a table of values has a row for each user
    is_of_lists = summary.unit.is_users and summary.measured_by != "values"
    return _LACKS[one.kind if is_of_lists else "undefined"]


def _how_many(one: MissingUsers, summary: AuditSummary) -> str:
    effect = "count as 0 in" if one.counts_as_zero else "are left out of"
    where = listed(one.metrics) if one.metrics else "the audit"
    return (
        f"{one.n_missing:,} of {summary.unit.count(one.n_users)} ({percent(one.share)}) "
        f"{_lacks(one, summary)} and {effect} {where}."
    )


def _by_group(one: MissingUsers, summary: AuditSummary) -> str:
    if one.findings:
        least = least_p_value(one.permutations) if one.permutations else 0.0
        named = "; ".join(
            f"{_shares(group)} (p adjusted {p_value(group.p_adjusted, least)})"
            for group in sorted(one.findings, key=_largest, reverse=True)[:GROUPS_SHOWN]
        )
        n_more = len(one.findings) - GROUPS_SHOWN
        rest = f"; {plural(n_more, 'more group')} in result.json" if n_more > 0 else ""
        return f"The share differs between groups: {named}{rest}."
    # a group that is hidden may differ
    if not one.is_tested or summary.hidden is not None:
        return ""
    return "The share does not differ significantly between groups."


def _shares(group: Finding) -> str:
    """The share in a group and in all others."""
    label, others = group_label(group.group), group.value - group.difference
    return f"{percent(group.value)} of {label}, {percent(others)} of all others"


def _largest(group: Finding) -> float:
    """The share in the group, or in the others where it is larger."""
    return round(max(group.value, group.value - group.difference), 12)


def why_inconclusive(name: str, result: MetricResult, summary: AuditSummary) -> str:
    """The missing users that leave a metric open."""
    reasons = []
    if result.undefined_share > summary.max_undefined:
        reasons.append(
            f"{percent(result.undefined_share)} of {summary.unit.many} have no value (limit "
            f"{percent(summary.max_undefined)})"
        )
    reasons += [
        f"{_lacks(one, summary)}: {_shares(max(one.findings, key=_largest))}"
        for one in summary.missing
        if name in one.metrics and one.is_too_much and one.findings
    ]
    return f"Too many {summary.unit.many} are missing{': ' * bool(reasons)}{'; '.join(reasons)}."


def remedy(summary: AuditSummary) -> str:
    """What to do about users that are missing."""
    limit, many = spell_in(summary.command, "max_undefined"), summary.unit.many
    advice = (
        f"Find out why these {many} are missing. If that is no fault of the lists, leave them out "
        f"of all tables, or raise {limit}."
    )
    if summary.unit.is_users and summary.measured_by == "candidates":
        test = spell_in(summary.command, "test", Blank("FILE"))
        advice = (
            f"If these are recommendations, give the held-out interactions ({test}), so that a "
            f"list that misses everything counts as 0. {advice}"
        )
    return advice


def if_joined(summary: AuditSummary) -> str:
    """What to do where every list is perfect, as after an inner join with the held-out items."""
    if "predictions" not in summary.inputs or not summary.unit.is_users:
        return ""
    test = spell_in(summary.command, "test", Blank("FILE"))
    return (
        "If these are recommendations that were joined with what was held out, give both tables "
        f"instead ({test}): what was not recommended is lost in a join."
    )


def unknown_lines(summary: AuditSummary) -> tuple[str, ...]:
    """For each attribute that is unknown for some users, the bounds of its worst served groups."""
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
        bounds = [
            f"{signed_interval(*one.bounds)} in {plain(metric)} for {group_label(one.group)}"
            for metric, one in [*first.items()][:METRICS_SHOWN]
        ]
        n_more = len(first) - METRICS_SHOWN
        rest = f"; {plural(n_more, 'more metric')} in result.json" if n_more > 0 else ""
        widest = max(first, key=lambda metric: first[metric].n_unknown)
        n_unknown, n = first[widest].n_unknown, summary.metrics[widest].n_defined
        lines.append(
            f"{plain(name)} is unknown for {n_unknown:,} of {summary.unit.count(n)} with a value "
            f"({percent(n_unknown / max(1, n))}). Whatever it is, unadjusted differences from all "
            f"others lie within {'; '.join(bounds)}{rest}."
        )
    return tuple(lines)


def describe_unknown(finding: Finding, result: MetricResult, summary: AuditSummary) -> str:
    """The bounds of one finding; empty where no other user may belong to the group."""
    for one in result.unknown:
        if one.group == finding.group:
            return (
                f"Unknown attributes: {summary.unit.count(one.n_unknown)} may belong to it too; "
                f"its unadjusted difference lies within {signed_interval(*one.bounds)}."
            )
    return ""


def if_like_others(
    result: MetricResult, summary: AuditSummary, finding: Finding | None = None
) -> str:
    """On what "within tolerance" rests; empty where no unknown value can undo it.

    Parameters
    ----------
    finding : the group that is within tolerance; None for all of them
    """
    verdict, many = result.verdict, f"{summary.unit.many} of unknown attributes"
    if verdict is None or verdict.tolerance is None or not verdict.n_exceeding_at_worst:
        return ""
    one = verdict.at_worst
    if finding is not None:
        one = next((one for one in result.unknown if one.group == finding.group), None)
        at_worst = 0.0 if one is None or one.at_worst is None else one.at_worst
        is_within = finding.outcome is not None and outcome_position(finding.outcome) == WITHIN
        if not is_within or harm(at_worst, result.higher_is_better) <= verdict.tolerance:
            return ""
    if one is None or one.at_worst is None:
        return f"if {many} are like the others"
    share = percent(one.n_unknown / max(1, result.n_defined))
    label = group_label(one.group)
    return f"if the {share} of {many} are like the others (at worst {label} {signed(one.at_worst)})"
