"""In what two audits differ other than in what they measured, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairrec.core.errors import listed, plain
from fairrec.inputs.users import users_sum
from fairrec.report.words import percent
from fairrec.result.audit_result import AuditResult
from fairrec.result.comparison import MOST_DIFFERENCES, AuditDifference, Pairing
from fairrec.result.schema import AuditSummary
from fairrec.result.summary import options_of
from fairrec.result.tables import in_order_of_ids
from fairrec.workflows.membership import LEAST_OF_GROUP, MOST_MOVED
from fairrec.workflows.pairing import Common
from fairrec.workflows.published import PublishedGroups

_SUM_SHOWN = 12


def audit_differences(base: AuditResult, candidate: AuditResult) -> tuple[AuditDifference, ...]:
    """What differs, one each; of very many the first."""
    sides = [dict(_facts(audit)) for audit in (base, candidate)]
    names = dict.fromkeys(name for side in sides for name in side)
    found = [
        AuditDifference(what=name, base=sides[0].get(name, ""), candidate=sides[1].get(name, ""))
        for name in names
        if sides[0].get(name, "") != sides[1].get(name, "")
    ]
    return tuple(found[:MOST_DIFFERENCES])


def _facts(audit: AuditResult) -> Iterator[tuple[str, str]]:
    """What may differ, in words, by what it is called."""
    summary = audit.summary
    if summary.model is not None:
        yield "model", plain(f"{summary.model.name} {summary.model.version}".strip())
    many = summary.unit.many
    yield many, f"{summary.n_users:,}"
    if audit.per_user is not None:
        users = in_order_of_ids(audit.per_user)
        labels = [users[name] for name in summary.attributes]
        yield f"checksum of {many} and attributes", _shown(users_sum(users.to_series(0), labels))
    yield from _tables(summary)
    yield "metrics", listed(sorted(summary.metrics))
    for name, about in summary.attributes.items():
        yield f"values of {plain(name)}", f"{about.n_values:,}"
        if about.binning is not None:
            yield f"binning of {plain(name)}", plain(about.binning)
    for name, value in {"by": summary.by, **options_of(summary)}.items():
        yield name, _in_words(value)
    yield "given", listed(summary.given.named) if summary.given else "none"
    yield "search", f"{summary.search.name}, {summary.search.users_scored:,} {many} scored"
    yield "FairRec", plain(summary.fairrec_version)
    yield from _versions(summary.versions)


def _tables(summary: AuditSummary) -> Iterator[tuple[str, str]]:
    for name, table in summary.inputs.items():
        # tables in memory have no checksum, and their names say nothing
        if table.sha256 is not None:
            yield f"checksum of {plain(name)}", _shown(table.sha256)


def _versions(versions: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, version in versions.items():
        yield plain(name), plain(version)


def _shown(checksum: str) -> str:
    return checksum[:_SUM_SHOWN]


def _in_words(value: object) -> str:
    if isinstance(value, tuple):
        return listed(value)
    return "not given" if value is None else plain(value)


def comparison_notes(
    common: Common,
    pairing: Pairing,
    told: Mapping[str, PublishedGroups],
    counts: Mapping[str, tuple[int, int]],
    base: AuditResult,
    candidate: AuditResult,
) -> tuple[str, ...]:
    """What was not compared, and what the reader should know of what was.

    Parameters
    ----------
    told : the groups of both, by metric
    counts : by metric, groups that are compared by users who are in both, and groups that are not
        as many of these moved in or out
    """
    notes = [*_only_in_one(common, base.summary, candidate.summary)]
    if base.summary.given is not None or candidate.summary.given is not None:
        notes.append("Values are compared whatever the circumstances that were given")
    if pairing.is_paired:
        alone = pairing.n_only_base, pairing.n_only_candidate
        if any(alone):
            notes.append(
                f"{alone[0]:,} users are in the base only and {alone[1]:,} in the candidate only: "
                "they are left out"
            )
        if pairing.n_moved:
            notes.append(
                f"{pairing.n_moved:,} users have other attributes in the candidate than in the "
                "base: in groups where these are few they count where they are in the candidate"
            )
    for name, part in told.items():
        n_both = int(part.is_in_both.sum())
        n_single = [int((table["metric"] == name).sum()) - n_both for table in common.tables]
        n_left = sum(n_single) + n_both - len(part.is_in_both)
        if any(n_single):
            notes.append(
                f"{plain(name)}: {n_single[0]:,} groups are in the base only and {n_single[1]:,} "
                "in the candidate only: how they changed is not known"
                + (f"; {n_left:,} of them the other audit did not look for" if n_left else "")
            )
        n_paired, n_moved = counts[name]
        if pairing.is_paired and n_both > n_paired:
            notes.append(_by_means(name, n_both - n_paired, n_moved))
    return tuple(notes)


def _by_means(name: str, n: int, n_moved: int) -> str:
    """How many groups are not compared user by user, and why."""
    said = "1 group is compared by its mean" if n == 1 else f"{n:,} groups are compared by means"
    why = []
    if n_moved:
        why.append(f"of {n_moved:,} more than {percent(MOST_MOVED)} of the users moved in or out")
    if n > n_moved:
        share = percent(LEAST_OF_GROUP)
        why.append(f"of {n - n_moved:,} fewer than {share} of the users have both values")
    return f"{plain(name)}: {said} in both audits: {', '.join(why)}"


def _only_in_one(common: Common, base: AuditSummary, candidate: AuditSummary) -> Iterator[str]:
    """Metrics and attributes that are not compared."""
    for what, known, sides in (
        ("metric", common.metrics, (base.metrics, candidate.metrics)),
        ("attribute", common.attributes, (base.attributes, candidate.attributes)),
    ):
        for which, mine, other in (("base", *sides), ("candidate", *sides[::-1])):
            alone = [name for name in mine if name not in other]
            if alone:
                yield f"Not compared: {what} {listed(alone)}, in the {which} only"
        pooled = [name for name in sides[1] if name in sides[0] and name not in known]
        if pooled:
            yield (
                f"Not compared: {listed(pooled)}, no mean over {candidate.unit.many} and so "
                "without intervals"
            )
