"""Two audits side by side: `fairrec.compare`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fairrec.auditing.saved_audits import Audited, refuse_hidden, resolve_audit
from fairrec.comparison.losses import (
    ComparedGroups,
    compare_paired,
    judge_groups,
    worst_loss,
)
from fairrec.comparison.pairing import (
    LEAST_OF_GROUP,
    MOST_MOVED,
    Common,
    PairedUsers,
    PublishedGroups,
    find_common,
    paired_users,
    published_groups,
    shared_users,
)
from fairrec.comparison.parts import (
    change_table,
    compared_audit,
    metric_comparison,
    refuse_reserved,
)
from fairrec.comparison.result import (
    MOST_DIFFERENCES,
    AuditDifference,
    Comparison,
    ComparisonSummary,
    Pairing,
)
from fairrec.comparison.unpaired_audits import compare_unpaired
from fairrec.core.arrays import IntArray
from fairrec.core.audit_options import AuditOptions
from fairrec.core.audited_entity import Side
from fairrec.core.errors import InputError, errors_of_libraries, listed, plain
from fairrec.core.options import documented, list_options
from fairrec.core.redact_paths import redact_command
from fairrec.core.tolerance import Tolerance
from fairrec.core.version import __version__
from fairrec.inputs.users import users_sum
from fairrec.metrics.tolerance import by_name
from fairrec.metrics.value_columns import find_metric
from fairrec.report.audit_result import AuditResult
from fairrec.report.words import percent
from fairrec.result.folder import folder_name
from fairrec.result.metric_result import estimate_change, estimate_mean_change
from fairrec.result.metric_schema import Change, MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.result.summary import result_options
from fairrec.result.tables import sort_by_id


@errors_of_libraries()
@documented(AuditOptions)
def compare(
    base: Audited,
    candidate: Audited,
    *,
    tolerance: Any = None,
    command: str | None = None,
) -> Comparison:
    """What became of every group from one audit to another, such as of a new model.

    It says how the mean changed, which groups lost, and which lost more than all others. Users are
    compared with themselves where both audits have them; else two sets of users are, and the result
    says why.

    Parameters
    ----------
    base, candidate : results, or the folders they were saved in; of a mitigation the re-ranked
        lists
    tolerance : see AuditOptions
    command : what was typed, for `comparison.json`

    Examples
    --------
    >>> import fairrec, polars as pl
    >>> users = pl.DataFrame({"user_id": range(400), "plan": ["free", "paid"] * 200})
    >>> def audited(**of_plan):
    ...     clicks = [of_plan[plan] + i % 5 for i, plan in enumerate(users["plan"])]
    ...     values = pl.DataFrame({"user_id": range(400), "clicks": clicks})
    ...     tables = fairrec.Tables(better={"clicks": "higher"})
    ...     return fairrec.audit(values=values, users=users, by="plan", tables=tables)
    >>> found = fairrec.compare(audited(free=3, paid=4), audited(free=1, paid=4), tolerance=0.5)
    >>> [(group.group, group.outcome) for group in found.metrics["clicks"].lost]
    [({'plan': 'free'}, 'lost beyond tolerance')]
    """
    (first, base_name), (last, candidate_name) = (
        _audit("base", base),
        _audit("candidate", candidate),
    )
    common = find_common(first, last)
    refuse_reserved(common.attributes)
    amounts = _tolerance(tolerance, last, common)
    told = published_groups(common, first, last)
    pairing, shared = shared_users(first, last, common)
    if shared is not None:
        sides = _paired(paired_users(shared, common, first, last), told, last)
    else:
        sides = _unpaired(told, first, last)
    compared = {
        name: judge_groups(
            side.groups,
            side.conditions["depth"].to_numpy(),
            last.metrics[name].higher_is_better,
            tolerance=_amount(amounts, last.metrics[name], name),
            is_conclusive=first.metrics[name].is_conclusive and last.metrics[name].is_conclusive,
            everyone=None if side.everyone is None else side.everyone.interval,
        )
        for name, side in sides.items()
    }
    counts = {name: (side.n_paired, side.n_moved) for name, side in sides.items()}
    summary = ComparisonSummary(
        fairrec_version=__version__,
        command=redact_command(command or "fairrec.compare(base, candidate)"),
        unit=last.summary.unit,
        base=compared_audit(first.summary, base_name),
        candidate=compared_audit(last.summary, candidate_name),
        pairing=pairing,
        attributes=common.attributes,
        alpha=last.summary.alpha,
        tolerance=None if amounts is None else str(amounts),
        outcome=worst_loss(
            [
                part.outcome
                for name, part in compared.items()
                if last.metrics[name].higher_is_better is not None
            ]
            # a change in a metric without a better end is no harm beside those that have one
            or [part.outcome for part in compared.values()]
        ),
        metrics={
            name: metric_comparison(
                compared[name],
                side.conditions,
                side.everyone,
                (first.metrics[name], last.metrics[name]),
            )
            for name, side in sides.items()
        },
        differences=audit_differences(first, last),
        notes=comparison_notes(common, pairing, told, counts, first, last),
    )
    changes = change_table({name: side.conditions for name, side in sides.items()}, compared)
    is_pandas = first.is_pandas and last.is_pandas
    return Comparison(summary, changes, is_pandas)


@dataclass(frozen=True, slots=True)
class _Sides:
    """One metric in both audits: the groups by their conditions, and everyone.

    Parameters
    ----------
    n_paired : groups that are compared by users who are in both
    n_moved : groups that are not, as many of these moved in or out
    """

    conditions: pl.DataFrame
    groups: ComparedGroups
    everyone: Change | None
    n_paired: int
    n_moved: int = 0


def _paired(
    users: PairedUsers, told: Mapping[str, PublishedGroups], candidate: AuditResult
) -> dict[str, _Sides]:
    """By the users of both, and groups that cannot be by what each audit tells of them."""
    alpha = candidate.summary.alpha
    directions = [candidate.metrics[name].higher_is_better for name in told]
    tested = np.concatenate([part.depth[part.is_in_both] for part in told.values()])
    found = compare_paired(
        users.before,
        users.after,
        users.grouping,
        users.is_compared,
        directions,
        _bounds(told, "users"),
        alpha,
        tested,
    )
    by_means = _by_means(told, "users", alpha, tested)
    sides = {}
    for at, (name, part) in enumerate(told.items()):
        conditions = users.conditions[at]
        left = part.left_by(conditions)
        sides[name] = _Sides(
            pl.concat([conditions, part.conditions[left]]),
            found[at].with_others(by_means[at], left),
            estimate_change(users.before[at], users.after[at], directions[at], alpha / len(told)),
            conditions.height,
            users.n_moved[at],
        )
    return sides


def _unpaired(
    told: Mapping[str, PublishedGroups], base: AuditResult, candidate: AuditResult
) -> dict[str, _Sides]:
    """By what each audit tells of its groups."""
    alpha = candidate.summary.alpha
    found = _by_means(told, candidate.summary.unit.side, alpha)
    if not any(part.is_known.any() for part in found):
        raise InputError(
            f"Neither the values of {candidate.summary.unit.many} nor intervals of groups are "
            "known in both audits, so nothing can be compared. Audit both again."
        )
    return {
        name: _Sides(
            part.conditions,
            groups,
            _everyone(base, candidate, name, alpha / len(told)),
            0,
        )
        for (name, part), groups in zip(told.items(), found, strict=True)
    }


def _everyone(base: AuditResult, candidate: AuditResult, name: str, alpha: float) -> Change | None:
    """The change of all; of items without an error, as how far they are apart is none."""
    unit = candidate.summary.unit
    change = estimate_mean_change(base.metrics[name], candidate.metrics[name], alpha)
    if change is None or unit.is_users:
        return change
    without = {"interval": None, "p_value": None, "verdict": "not significant"}
    return change.model_copy(update=without)


def _by_means(
    told: Mapping[str, PublishedGroups],
    side: Side,
    alpha: float,
    tested: IntArray | None = None,
) -> tuple[ComparedGroups, ...]:
    return compare_unpaired(
        [part.before for part in told.values()],
        [part.after for part in told.values()],
        [part.depth for part in told.values()],
        _bounds(told, side),
        alpha,
        tested,
    )


def _bounds(metrics: Iterable[str], side: Side) -> list[tuple[float, float] | None]:
    """The lowest and the highest value of metrics that are known by name."""
    return [known.bounds if (known := find_metric(name, side)) else None for name in metrics]


def _tolerance(given: Any, candidate: AuditResult, common: Common) -> Tolerance | None:
    """The tolerance: as it is given, else as it was in the candidate's audit."""
    if given is not None:
        amounts = list_options(AuditOptions)["tolerance"].parse("tolerance", given)
        return None if amounts is None else by_name(amounts, common.metrics)
    said = candidate.summary.tolerance
    return None if said is None else Tolerance.parse(said)


def _amount(tolerance: Tolerance | None, result: MetricResult, name: str) -> float | None:
    """In units of a metric; a share is one of the candidate's mean, as in its audit."""
    return None if tolerance is None else tolerance.in_units(name, result.mean)


def _audit(which: str, given: Audited) -> tuple[AuditResult, str]:
    """One of the two, and the name of its folder."""
    result, folder = resolve_audit(which, given)
    refuse_hidden(which, result)
    return result, "" if folder is None else folder_name(Path(os.path.normpath(folder)))


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
        users = sort_by_id(audit.per_user)
        labels = [users[name] for name in summary.attributes]
        yield f"checksum of {many} and attributes", _shown(users_sum(users.to_series(0), labels))
    yield from _tables(summary)
    yield "metrics", listed(sorted(summary.metrics))
    for name, about in summary.attributes.items():
        yield f"values of {plain(name)}", f"{about.n_values:,}"
        if about.binning is not None:
            yield f"binning of {plain(name)}", plain(about.binning)
    for name, value in {"by": summary.by, **result_options(summary)}.items():
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
            notes.append(_not_paired(name, n_both - n_paired, n_moved))
    return tuple(notes)


def _not_paired(name: str, n: int, n_moved: int) -> str:
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
