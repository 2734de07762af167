"""In what two audits differ other than in what they measured, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from fairrec.core.errors import listed, plain
from fairrec.inputs.users_sum import users_sum
from fairrec.result.audit_result import AuditResult
from fairrec.result.comparison_schema import MOST_DIFFERENCES, AuditDifference, Pairing
from fairrec.result.schema import AuditSummary
from fairrec.workflows.pairing import Common, axes

_OPTIONS = (
    *("by", "depth", "permutations", "alpha", "correction", "matters", "max_undefined", "seed"),
    *("relevant", "missing_lists"),
)
"""Fields of a result that say how it was made, by the names of their options."""
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
    yield "users", f"{summary.n_users:,}"
    if audit.per_user is not None:
        labels = [audit.per_user[name] for name in summary.attributes]
        ids = audit.per_user.to_series(0)
        yield "checksum of users and attributes", _shown(users_sum(ids, labels))
    yield from _tables(summary)
    yield "metrics", listed(sorted(summary.metrics))
    for name, about in summary.attributes.items():
        yield f"values of {plain(name)}", f"{about.n_values:,}"
        if about.binning is not None:
            yield f"binning of {plain(name)}", plain(about.binning)
    for name in _OPTIONS:
        yield name, _in_words(getattr(summary, name))
    yield "min_support", _in_words(summary.coverage.min_support)
    yield "given", listed(summary.given.named) if summary.given else "none"
    yield "search", f"{summary.search.name}, {summary.search.users_scored:,} users scored"
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
    n_groups: Mapping[str, int],
    base: AuditResult,
    candidate: AuditResult,
) -> tuple[str, ...]:
    """What was not compared, and what the reader should know of what was.

    Parameters
    ----------
    n_groups : that are compared, by metric
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
                "base: they count for the group they are in in the candidate"
            )
    for name, n in n_groups.items():
        n_known = [table.filter(pl.col("metric") == name) for table in common.tables]
        both = n_known[0].join(n_known[1], on=axes(common.attributes), how="semi", nulls_equal=True)
        single = [table.height - both.height for table in n_known]
        if any(single):
            notes.append(
                f"{plain(name)}: {single[0]:,} groups are in the base only and {single[1]:,} in "
                "the candidate only: they are not compared"
            )
        if both.height > n:
            notes.append(
                f"{plain(name)}: {both.height - n:,} groups are in both audits and have too few "
                "users in both: they are not compared"
            )
    return tuple(notes)


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
            yield f"Not compared: {listed(pooled)}, no mean over users and so without intervals"
