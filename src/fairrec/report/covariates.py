"""Covariates in sentences: those adjusted for, and those that explain a part of a finding."""

from __future__ import annotations

from fairrec.core.errors import plain
from fairrec.core.options import spell_in
from fairrec.metrics.covariates import HISTORY_LENGTH, LIST_LENGTH, N_RELEVANT, TIED
from fairrec.report.words import (
    group_label,
    number,
    numbers,
    percent,
    plural,
    signed,
    with_and,
    with_sign,
)
from fairrec.result.schema import AuditSummary
from fairrec.statistics.confounders import Confounder, NoLongerFound
from fairrec.statistics.findings import Finding

SHOWN = 10
"""Lines about groups, of each kind."""
_OF_WHAT = {
    LIST_LENGTH: "rows in their lists on average",
    N_RELEVANT: "relevant items on average",
    HISTORY_LENGTH: "training interactions on average",
    TIED: "of lists have equal scores at the cut-off",
}


def covariate_lines(summary: AuditSummary) -> tuple[str, ...]:
    """What is to be known about covariates before any finding is read."""
    ties = summary.ties
    is_random = ties is not None and ties.is_without_order
    lines = ["No list has two different scores: every value is that of a random order."] * is_random
    if summary.adjustment is not None:
        lines.append(_adjusted(summary))
    together: dict[tuple[str, str], list[Confounder]] = {}
    for one in summary.confounders:
        together.setdefault((group_label(one.group), one.covariate), []).append(one)
    lines += [_confounded(found, summary.command) for found in [*together.values()][:SHOWN]]
    n_more = len(together) - SHOWN
    if n_more > 0:
        lines.append(f"{plural(n_more, 'more covariate')} of findings in result.json.")
    return tuple(lines)


def _adjusted(summary: AuditSummary) -> str:
    """The covariates, and the users that share theirs with no other."""
    adjustment = summary.adjustment
    assert adjustment is not None
    names = ", ".join(
        plain(name) + (f" ({about.binning})" if about.binning else "")
        for name, about in adjustment.covariates.items()
    )
    many = summary.unit.many
    line = (
        f"Adjusted for {names}, in {plural(adjustment.n_strata, 'combination')}: differences, "
        f"intervals, p-values and verdicts. Values, gaps, ratios and missing {many} are unadjusted."
    )
    n_unknown = sum(about.n_missing or 0 for about in adjustment.covariates.values())
    if n_unknown:
        line += f" Unknown covariates ({n_unknown:,} {many}) are a combination of their own."
    if adjustment.n_users_alone:
        alone = summary.unit.count(adjustment.n_users_alone)
        line += f" In a combination of their own, for want of wider bins: {alone}."
    n_groups = sum(adjustment.n_not_comparable.values())
    if n_groups:
        line += f" {plural(n_groups, 'group')} of mostly such {many}: inconclusive."
    return line


def _confounded(found: list[Confounder], command: str) -> str:
    """How a group differs in a covariate, and what that makes of its findings."""
    first = found[0]
    label = group_label(first.group)
    means = (number(first.mean), number(first.mean_of_others))
    if first.covariate == TIED:
        means = (percent(first.mean), percent(first.mean_of_others))
    parts = [
        f"{signed(one.explains, one.difference)} of {signed(one.difference)} in {plain(one.metric)}"
        for one in found
        if one.explains is not None
    ]
    effect = (
        f"This accounts for about {', '.join(parts)}."
        if parts
        else "Few or no others have the same, so these data cannot separate the two."
    )
    line = f"{label}: {means[0]} {_OF_WHAT[first.covariate]}, all others {means[1]}. {effect}"
    if not parts:
        return line
    return f"{line} Adjust for it: {spell_in(command, 'adjust_for', [first.covariate])}."


def no_longer_lines(summary: AuditSummary) -> tuple[str, ...]:
    """The groups that differ significantly, and not among users with equal covariates."""
    adjustment = summary.adjustment
    if adjustment is None:
        return ()
    lines = [_no_longer(one, summary) for one in adjustment.no_longer[:SHOWN]]
    n_more = len(adjustment.no_longer) - SHOWN
    if n_more > 0:
        lines.append(f"{plural(n_more, 'more group')} no longer found in result.json.")
    return tuple(lines)


def explained(finding: Finding, summary: AuditSummary) -> str:
    """The difference unadjusted and adjusted; empty where no covariates are adjustment."""
    if summary.adjustment is None or finding.raw_difference is None:
        return ""
    return _both(finding.raw_difference, finding.difference, finding.kept_share)


def _both(raw: float, adjusted: float | None, kept_share: float | None) -> str:
    before, after = numbers(raw, adjusted)
    kept = ""
    if kept_share is not None and kept_share < 1:
        kept = f" ({percent(kept_share)} of the group share covariates with others)"
    return f"{with_sign(before)} unadjusted, {with_sign(after)} adjusted{kept}."


def _no_longer(one: NoLongerFound, summary: AuditSummary) -> str:
    label = f"{plain(one.metric)}, {group_label(one.group)} ({summary.unit.count(one.n_users)})"
    if one.difference is None:
        return (
            f"{label}: differs by {signed(one.raw_difference)} and cannot be separated from the "
            f"covariates ({percent(one.kept_share)} of the group share them with others)."
        )
    both = _both(one.raw_difference, one.difference, one.kept_share)
    return f"{label}: not significant after adjustment: {both}"


def compared_with(summary: AuditSummary) -> str:
    """Whom groups are compared with: all others, or those with equal covariates."""
    if summary.adjustment is None:
        return f"all other {summary.unit.many}"
    return f"other {summary.unit.many} with the same {covariate_names(summary)}"


def difference_name(summary: AuditSummary) -> str:
    """What a difference from them is called."""
    return "difference" if summary.adjustment is None else "adjusted difference"


def covariate_names(summary: AuditSummary) -> str:
    """The covariates that groups are adjusted for."""
    assert summary.adjustment is not None
    return with_and([plain(name) for name in summary.adjustment.covariates])
