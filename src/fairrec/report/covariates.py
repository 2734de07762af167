"""The group, or its covariates: what these make of a difference, in sentences."""

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
_MOSTLY = 0.5
_OF_WHAT = {
    LIST_LENGTH: "rows in their lists",
    N_RELEVANT: "relevant items",
    HISTORY_LENGTH: "training interactions",
}


def covariate_lines(summary: AuditSummary) -> tuple[str, ...]:
    """What is to be known about covariates before any finding is read."""
    return (*_without_order(summary), *_given(summary), *_differing(summary))


def _without_order(summary: AuditSummary) -> tuple[str, ...]:
    """A model that gives every candidate of a user the same score."""
    if summary.ties is None or not summary.ties.is_without_order:
        return ()
    return ("No list has two different scores, so every value is that of a random order.",)


def _given(summary: AuditSummary) -> tuple[str, ...]:
    """What was asked to be alike."""
    given = summary.adjustment
    if given is None:
        return ()
    unit = summary.unit
    names = ", ".join(
        plain(name) + (f" ({about.binning})" if about.binning else "")
        for name, about in given.covariates.items()
    )
    lines = [
        f"Adjusted for {names}, in {given.n_strata:,} strat{'um' if given.n_strata == 1 else 'a'}: "
        "differences, intervals, p-values and verdicts. Values, gaps, ratios and missing "
        f"{unit.many} are unadjusted."
    ]
    lines += [
        f"{plain(name)} is not known for {unit.count(about.n_missing)}, {unit.which} are compared "
        "among themselves."
        for name, about in given.covariates.items()
        if about.n_missing
    ]
    if given.n_users_alone:
        are = "is" if given.n_users_alone == 1 else "are"
        lines.append(
            f"{unit.count(given.n_users_alone)} {are} alone in a stratum and cannot be compared; "
            "wider bins would help."
        )
    left_out = {name: n for name, n in given.n_not_comparable.items() if n}
    if left_out:
        counts = ", ".join(f"{n:,} in {plain(name)}" for name, n in left_out.items())
        lines.append(
            "Groups of which less than half share a stratum with others are inconclusive: "
            f"{counts}."
        )
    return tuple(lines)


def _differing(summary: AuditSummary) -> tuple[str, ...]:
    """Covariates not adjusted for that explain a part of a finding."""
    together: dict[tuple[str, str, bool], list[Confounder]] = {}
    for one in summary.confounders:
        key = (group_label(one.group), one.covariate, one.explains is None)
        together.setdefault(key, []).append(one)
    lines = [_difference(found, summary.command) for found in together.values()]
    n_more = len(lines) - SHOWN
    more = (f"{plural(n_more, 'more covariate')} of findings in result.json.",)
    return (*lines[:SHOWN], *(more if n_more > 0 else ()))


def _difference(found: list[Confounder], command: str) -> str:
    first = found[0]
    if first.covariate == TIED:
        how_many = (
            f"{percent(first.mean)} of the lists of {group_label(first.group)} have equal scores "
            f"at the cut-off, of all others {percent(first.mean_of_others)}"
        )
    else:
        how_many = (
            f"Users of {group_label(first.group)} have {_mean(first.mean)} "
            f"{_OF_WHAT[first.covariate]} on average, all others {_mean(first.mean_of_others)}"
        )
    advice = spell_in(command, "adjust_for", [first.covariate])
    if first.explains is not None:
        parts = ", ".join(
            f"{signed(one.explains or 0.0, one.difference)} of {signed(one.difference)} in "
            f"{plain(one.metric)}"
            for one in found
        )
        return (
            f"{how_many}, and {_metrics(found)} on it. Judged by all others, this accounts for "
            f"about {parts}. {advice} compares users who are alike in it."
        )
    apart = (
        "Hardly any other user shares their values, so these data cannot separate the two; with "
        f"{advice} the group is inconclusive."
    )
    names = ", ".join(plain(one.metric) for one in found)
    return f"{how_many}, and {names} may differ for that reason alone. {apart}"


def _mean(count: float) -> str:
    return f"{count:,.0f}" if count == round(count) else number(count)


def _metrics(found: list[Confounder]) -> str:
    names = ", ".join(plain(one.metric) for one in found)
    return f"{names} {'depends' if len(found) == 1 else 'depend'}"


def explained_lines(summary: AuditSummary) -> tuple[str, ...]:
    """How much of each difference the covariates adjusted for explain, and what they take away."""
    lines = [
        f"{plain(name)}, {group_label(finding.group)}: {explained(finding, summary)}"
        for name, result in summary.metrics.items()
        for finding in result.findings[:SHOWN]
        if summary.adjustment is not None
    ]
    return (*lines, *no_longer_lines(summary))


def no_longer_lines(summary: AuditSummary) -> tuple[str, ...]:
    """The groups that stand out, and not among users with equal covariates."""
    given = summary.adjustment
    if given is None:
        return ()
    lines = [_no_longer(one, summary) for one in given.no_longer[:SHOWN]]
    n_more = len(given.no_longer) - SHOWN
    if n_more > 0:
        lines.append(f"{plural(n_more, 'more group')} no longer found in result.json.")
    return tuple(lines)


def explained(finding: Finding, summary: AuditSummary) -> str:
    """The difference as it is and adjusted; nothing where no covariates are given."""
    if summary.adjustment is None or finding.raw_difference is None:
        return ""
    both = _both(finding.raw_difference, finding.difference, summary)
    share = _share(finding.raw_difference, finding.difference)
    return f"{both}: {share}.{_kept(finding)}"


def _kept(finding: Finding) -> str:
    share = finding.kept_share
    if share is None or share >= 1:
        return ""
    return f" The latter is about the {percent(share)} of the group in strata with others."


def _both(raw: float, adjusted: float, summary: AuditSummary) -> str:
    as_is, alike = map(with_sign, numbers(raw, adjusted))
    among = f"{summary.unit.many} with the same {covariate_names(summary)}"
    return f"{as_is} unadjusted, {alike} among {among}"


def compared_with(summary: AuditSummary) -> str:
    """Whom groups are compared with: all others, or those with equal covariates."""
    if summary.adjustment is None:
        return f"all other {summary.unit.many}"
    return f"other {summary.unit.many} with the same {covariate_names(summary)}"


def difference_name(summary: AuditSummary) -> str:
    """What a difference from them is called."""
    return "difference" if summary.adjustment is None else "adjusted difference"


def covariate_names(summary: AuditSummary) -> str:
    """What users are alike in when groups are compared."""
    assert summary.adjustment is not None
    return with_and([plain(name) for name in summary.adjustment.covariates])


def _share(raw: float, adjusted: float) -> str:
    """How much of a difference is gone."""
    if raw == 0 or (raw < 0) != (adjusted < 0):
        return "it has the other sign there"
    gone = 1 - adjusted / raw
    if gone < 0:
        return "the covariates hide a part of it"
    if gone < 0.005:
        return "the covariates explain none of it"
    return f"the covariates explain {percent(gone)} of it"


def _no_longer(one: NoLongerFound, summary: AuditSummary) -> str:
    who = f"{plain(one.metric)}, {group_label(one.group)} ({summary.unit.count(one.n_users)})"
    if one.difference is None or one.kept_share < _MOSTLY:
        return (
            f"{who}: differs significantly by {signed(one.raw_difference)}, but only "
            f"{percent(one.kept_share)} of them share a stratum with others: the group cannot be "
            "separated from the covariates."
        )
    both = _both(one.raw_difference, one.difference, summary)
    gone = _share(one.raw_difference, one.difference)
    return (
        f"{who}: not significant after adjustment: {both}: {gone}. Strata leave fewer "
        f"{summary.unit.many} to detect what is left."
    )
