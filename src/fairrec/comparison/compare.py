"""Two audits side by side: `fairrec.compare`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fairrec.auditing.saved_audits import (
    Audited,
    describe_settings,
    refuse_hidden,
    resolve_audit,
)
from fairrec.comparison.losses import (
    BEYOND_TOLERANCE,
    LOST,
    ComparedGroups,
    compare_paired,
    judge_groups,
    worst_loss,
)
from fairrec.comparison.pairing import (
    Common,
    PublishedGroups,
    find_common,
    paired_users,
    published_groups,
    shared_users,
)
from fairrec.comparison.result import (
    MOST_GROUPS,
    NUMBERS,
    RESERVED,
    AuditDifference,
    ComparedAudit,
    Comparison,
    ComparisonSummary,
    GroupComparison,
    MetricComparison,
    Pairing,
)
from fairrec.comparison.unpaired_audits import compare_unpaired
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import InputError, listed, plain
from fairrec.core.options import documented, list_options, public_function
from fairrec.core.redact_paths import redact_command
from fairrec.core.tolerance import Tolerance
from fairrec.core.version import __version__
from fairrec.inputs.users import users_sum
from fairrec.metrics.tolerance import by_name
from fairrec.metrics.value_columns import find_metric
from fairrec.report.audit_result import AuditResult
from fairrec.report.words import plural
from fairrec.result.folder import folder_name
from fairrec.result.metric_result import estimate_change, estimate_mean_change
from fairrec.result.metric_schema import Change, MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.result.tables import group_conditions, row_group, sort_by_id


@public_function
@documented(AuditOptions)
def compare(
    base: Audited,
    candidate: Audited,
    *,
    tolerance: Any = None,
    command: str | None = None,
) -> Comparison:
    """What became of every group from one audit to another, such as of a new model.

    How the mean changed, which groups lost, and which lost more than all others. Users are compared
    with themselves where both audits have them; else two sets of users are compared.

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
    if taken := [name for name in common.attributes if name in RESERVED]:
        raise InputError(
            f"Attribute '{plain(taken[0])}' has the name of a column of changes.parquet. Audit "
            "both with the attribute under another name."
        )
    amounts = _tolerance(tolerance, last, common)
    published = published_groups(common, first, last)
    pairing, shared = shared_users(first, last, common)
    sides = _sides(published, shared, first, last)
    attributes = dict(zip(common.axes, common.attributes, strict=True))
    metrics, tables = {}, []
    for name, side in sides.items():
        results = first.metrics[name], last.metrics[name]
        amount = None if amounts is None else amounts.in_units(name, results[1].mean)
        conditions = side.conditions.rename(attributes)
        metrics[name], table = compare_metric(
            name, conditions, side.groups, side.everyone, results, amount
        )
        tables.append(table)
    # a change in a metric without a better end is no harm beside those that have one
    with_end = [one.outcome for one in metrics.values() if one.higher_is_better is not None]
    summary = ComparisonSummary(
        fairrec_version=__version__,
        command=redact_command(command or "fairrec.compare(base, candidate)"),
        unit=last.summary.unit,
        base=_compared_audit(first, base_name),
        candidate=_compared_audit(last, candidate_name),
        pairing=pairing,
        attributes=common.attributes,
        alpha=last.summary.alpha,
        tolerance=None if amounts is None else str(amounts),
        outcome=worst_loss(with_end or [one.outcome for one in metrics.values()]),
        metrics=metrics,
        differences=audit_differences(first, last),
        notes=tuple(_notes(common, pairing, published, sides, first.summary, last.summary)),
    )
    return Comparison(summary, pl.concat(tables), first.is_pandas and last.is_pandas)


def _audit(which: str, given: Audited) -> tuple[AuditResult, str]:
    """One of the two, and the name of its folder."""
    result, folder = resolve_audit(which, given)
    refuse_hidden(which, result)
    return result, "" if folder is None else folder_name(Path(os.path.normpath(folder)))


def _compared_audit(audit: AuditResult, name: str) -> ComparedAudit:
    summary = audit.summary
    return ComparedAudit(
        name=name,
        title=summary.title,
        model=summary.model,
        fairrec_version=summary.fairrec_version,
        n_users=summary.n_users,
    )


def _tolerance(given: Any, candidate: AuditResult, common: Common) -> Tolerance | None:
    """The tolerance: as it is given, else as it was in the candidate's audit."""
    if given is not None:
        amounts = list_options(AuditOptions)["tolerance"].parse("tolerance", given)
        return None if amounts is None else by_name(amounts, common.metrics)
    planned = candidate.summary.tolerance
    return None if planned is None else Tolerance.parse(planned)


@dataclass(frozen=True, slots=True)
class _Sides:
    """One metric in both audits: the groups by their conditions, and everyone.

    Parameters
    ----------
    n_paired : groups that are compared by users who are in both
    """

    conditions: pl.DataFrame
    groups: ComparedGroups
    everyone: Change | None
    n_paired: int


def _sides(
    published: Mapping[str, PublishedGroups],
    shared: pl.DataFrame | None,
    base: AuditResult,
    candidate: AuditResult,
) -> dict[str, _Sides]:
    """By users in both audits, and by the published means of groups where they cannot be."""
    alpha, unit = candidate.summary.alpha, candidate.summary.unit
    known = [find_metric(name, unit.side) for name in published]
    bounds = [None if metric is None else metric.bounds for metric in known]
    tested = None
    if shared is not None:
        tested = np.concatenate([part.depth[part.is_in_both] for part in published.values()])
    by_means = compare_unpaired(
        [part.before for part in published.values()],
        [part.after for part in published.values()],
        [part.depth for part in published.values()],
        bounds,
        alpha,
        tested,
    )
    of_mean = alpha / len(published)
    if shared is None:
        return {
            name: _Sides(part.conditions, groups, _mean_change(base, candidate, name, of_mean), 0)
            for (name, part), groups in zip(published.items(), by_means, strict=True)
        }
    directions = [candidate.metrics[name].higher_is_better for name in published]
    users = paired_users(shared, published, base, candidate)
    by_users = compare_paired(*users, directions, bounds, alpha, tested)
    sides = {}
    for at, (name, part) in enumerate(published.items()):
        conditions = group_conditions(users.grouping).filter(users.is_compared[at])
        left = part.left_by(conditions)
        sides[name] = _Sides(
            pl.concat([conditions, part.conditions[left]]),
            by_users[at].append(by_means[at], left),
            estimate_change(users.before[at], users.after[at], directions[at], of_mean),
            conditions.height,
        )
    return sides


def _mean_change(
    base: AuditResult, candidate: AuditResult, name: str, alpha: float
) -> Change | None:
    """The change of all; of items without an error, as how far they are apart is none."""
    change = estimate_mean_change(base.metrics[name], candidate.metrics[name], alpha)
    if change is None or candidate.summary.unit.is_users:
        return change
    without = {"interval": None, "p_value": None, "verdict": "not significant"}
    return change.model_copy(update=without)


def compare_metric(
    name: str,
    conditions: pl.DataFrame,
    groups: ComparedGroups,
    everyone: Change | None,
    results: tuple[MetricResult, MetricResult],
    tolerance: float | None,
) -> tuple[MetricComparison, pl.DataFrame]:
    """One metric in both audits, and its table of changes: one row a group, worst first.

    Parameters
    ----------
    conditions : one row a group: a text column an attribute, and the depth
    results : of both audits, base first
    """
    higher_is_better = results[1].higher_is_better
    is_conclusive = all(result.is_conclusive for result in results)
    found = judge_groups(
        groups,
        conditions["depth"].to_numpy(),
        higher_is_better,
        tolerance=tolerance,
        is_conclusive=is_conclusive,
        everyone=None if everyone is None else everyone.interval,
    )
    own = groups.before, groups.after, groups.change, groups.low, groups.high
    others = groups.difference, groups.difference_low, groups.difference_high
    table = conditions.select(
        pl.lit(name).alias("metric"),
        pl.all(),
        pl.Series("support", groups.n.astype(np.int64)),
        *(
            pl.Series(column, np.where(np.isinf(values), np.nan, values), nan_to_null=True)
            for column, values in zip(NUMBERS, (*own, *others), strict=True)
        ),
        pl.Series("is_beyond_chance", groups.is_beyond_chance),
        pl.Series("is_known", groups.is_known),
        pl.Series("outcome", found.losses, pl.String),
        pl.Series("is_behind", found.is_behind),
    )[found.order]
    lost, behind = table.filter(pl.col("outcome").is_in(LOST)), table.filter("is_behind")
    n_of = dict(table.group_by("outcome").len().iter_rows())
    # a gain among the users with a value is no sign of what the others have
    n_ruled_out = sum(n_of.get(loss, 0) for loss in ("gained", "no loss", "no change"))
    n_ruled_out *= is_conclusive
    comparison = MetricComparison(
        called=results[1].called,
        higher_is_better=higher_is_better,
        everyone=everyone,
        tolerance=tolerance,
        is_conclusive=is_conclusive,
        outcome=found.outcome,
        n_groups=table.height,
        n_unknown=int((~table["is_known"]).sum()),
        n_lost=lost.height,
        n_lost_beyond_tolerance=sum(n for loss, n in n_of.items() if loss in BEYOND_TOLERANCE),
        n_behind=behind.height,
        n_gained=n_of.get("gained", 0),
        n_ruled_out=n_ruled_out,
        n_open=table.height - lost.height - n_ruled_out,
        certificate=found.certificate,
        lost=_groups(lost),
        behind=_groups(behind),
        gained=_groups(table.filter(pl.col("outcome") == "gained").reverse()),
    )
    return comparison, table


def _groups(rows: pl.DataFrame) -> tuple[GroupComparison, ...]:
    """The first groups of a part of the table; all numbers of these are known."""
    fields = {*GroupComparison.model_fields} & {*rows.columns}
    attributes = [name for name in rows.columns if name not in RESERVED]
    return tuple(
        GroupComparison(
            group=row_group({name: row[name] for name in attributes}),
            simultaneous=(row["simultaneous_low"], row["simultaneous_high"]),
            difference_simultaneous=(
                None
                if row["difference_low"] is None or row["difference_high"] is None
                else (row["difference_low"], row["difference_high"])
            ),
            **{name: row[name] for name in fields},
        )
        for row in rows.head(MOST_GROUPS).iter_rows(named=True)
    )


def audit_differences(base: AuditResult, candidate: AuditResult) -> tuple[AuditDifference, ...]:
    """What differs, one each."""
    first, last = dict(_facts(base)), dict(_facts(candidate))
    return tuple(
        AuditDifference(what=name, base=first.get(name, ""), candidate=last.get(name, ""))
        for name in {**first, **last}
        if first.get(name, "") != last.get(name, "")
    )


def _facts(audit: AuditResult) -> Iterator[tuple[str, str]]:
    """What may differ, in words, by what it is called."""
    summary = audit.summary
    many = summary.unit.many
    if summary.model is not None:
        yield "model", plain(f"{summary.model.name} {summary.model.version}".strip())
    yield many, f"{summary.n_users:,}"
    if audit.per_user is not None:
        users = sort_by_id(audit.per_user)
        labels = [users[name] for name in summary.attributes]
        yield f"checksum of {many} and attributes", users_sum(users.to_series(0), labels)[:12]
    for name, table in summary.inputs.items():
        # tables in memory have neither a checksum nor a name
        if table.sha256 is not None:
            yield f"checksum of {plain(name)}", table.sha256[:12]
    for name, about in summary.attributes.items():
        yield f"values of {plain(name)}", f"{about.n_values:,}"
    yield from describe_settings(summary).items()
    if summary.search.users_scored < summary.search.users_total:
        yield f"{many} scored", f"{summary.search.users_scored:,}"
    yield "FairRec", plain(summary.fairrec_version)
    for name, version in summary.versions.items():
        yield plain(name), plain(version)


def _notes(
    common: Common,
    pairing: Pairing,
    published: Mapping[str, PublishedGroups],
    sides: Mapping[str, _Sides],
    base: AuditSummary,
    candidate: AuditSummary,
) -> Iterator[str]:
    """What was not compared, and what the reader should know of what was.

    Parameters
    ----------
    published : the groups of both, by metric
    """
    for what, names in (
        ("metric", (base.metrics, candidate.metrics)),
        ("attribute", (base.attributes, candidate.attributes)),
    ):
        for which, mine, other in (("base", *names), ("candidate", *names[::-1])):
            if alone := [name for name in mine if name not in other]:
                yield f"Not compared: {what} {listed(alone)}, in the {which} only"
    both = [name for name in candidate.metrics if name in base.metrics]
    if pooled := [name for name in both if name not in common.metrics]:
        yield f"Not compared: {listed(pooled)}, no mean over {candidate.unit.many}"
    if base.adjustment is not None or candidate.adjustment is not None:
        yield "Values are compared without adjusting for covariates"
    if pairing.is_paired:
        for n, which in ((pairing.n_only_base, "base"), (pairing.n_only_candidate, "candidate")):
            if n:
                yield f"Left out: {plural(n, 'user')} in the {which} only"
        if pairing.n_moved:
            yield (
                f"Other attributes in the candidate: {plural(pairing.n_moved, 'user')}. Groups "
                "into or out of which few users moved have them as in the candidate"
            )
    for name, part in published.items():
        n_both = int(part.is_in_both.sum())
        n_base, n_candidate = (
            int((table["metric"] == name).sum()) - n_both for table in common.tables
        )
        if n_base or n_candidate:
            yield (
                f"{plain(name)}: {n_base:,} groups are in the base only and {n_candidate:,} in the "
                "candidate only: how they changed is not known"
            )
        n_by_means = n_both - sides[name].n_paired
        if pairing.is_paired and n_by_means > 0:
            yield (
                f"{plain(name)}: {plural(n_by_means, 'group')} compared by means in both audits: "
                "too many users moved into or out of them, are new, gone, or lack a value"
            )
