"""The analysis of an audit -> its summary, with all names in place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

import numpy as np

from fairrec.core.audit_options import About
from fairrec.core.errors import as_unicode
from fairrec.core.options import Blank, spell
from fairrec.core.redact_paths import redact_command
from fairrec.core.version import __version__, installed_versions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import InputMetadata
from fairrec.inputs.formats import checksum
from fairrec.inputs.notes import CHECK_FIRST
from fairrec.inputs.tables import Table
from fairrec.inputs.users import MISSING, Attribute, describe_alike_values
from fairrec.result.metric_result import DescribedMetric
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import (
    AdjustedCovariate,
    Adjustment,
    AttributeSummary,
    AuditedModel,
    AuditSummary,
    Coverage,
    DepthCoverage,
    HistoryPoint,
    InputSummary,
    SearchedMetric,
    SearchSummary,
    Spent,
)
from fairrec.search.evidence import FoundGap
from fairrec.search.loop import Searched
from fairrec.search.searcher import hyper_parameters
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.confounders import Confounder, NoLongerFound
from fairrec.statistics.missing import MissingUsers
from fairrec.statistics.ratios import Ratios
from fairrec.statistics.simultaneous import least_permutations
from fairrec.statistics.verdict import worst_outcome

SMALL_VALUES_SHOWN = 20
VALUES_SHOWN = 50


def coverage(grouping: Grouping, min_support: float | None) -> Coverage:
    """Which groups and users are large enough to be looked at."""
    cells, lattice, min_users = grouping.cells, grouping.lattice, grouping.min_users
    depth = lattice.depth
    is_small = cells.n_users < min_users
    return Coverage(
        min_support=min_support,
        min_users=min_users,
        by_depth={
            str(size): DepthCoverage(n_groups=int((depth == size).sum()), n_groups_below=below)
            for size, below in sorted(lattice.n_below.items())
        },
        n_full_observed=len(cells),
        n_full=int((~is_small).sum()),
        n_users_below=int(cells.n_users[is_small].sum()),
    )


def attribute_summaries(grouping: Grouping) -> dict[str, AttributeSummary]:
    """What each attribute looks like, with the values that have too few users."""
    min_users, cells = grouping.min_users, grouping.cells
    summaries = {}
    for attribute, codes in zip(grouping.attributes, cells.codes, strict=True):
        n_users = np.bincount(codes, weights=cells.n_users, minlength=len(attribute.values))
        from_largest = np.argsort(-n_users, kind="stable")
        small = from_largest[n_users[from_largest] < min_users]
        summaries[attribute.name] = AttributeSummary(
            n_values=len(attribute.values),
            n_missing=attribute.n_missing,
            binning=attribute.binning,
            kind=value_kind(attribute),
            n_values_below_support=len(small),
            small_values={
                str(attribute.values[code]): int(n_users[code])
                for code in small[:SMALL_VALUES_SHOWN]
            },
            values={
                str(attribute.values[code]): int(n_users[code])
                for code in from_largest[:VALUES_SHOWN]
            },
        )
    return summaries


def value_kind(attribute: Attribute) -> Literal["integer", "number", "boolean", "text", "bins"]:
    """What the values of an attribute are."""
    if attribute.binning is not None:
        return "bins"
    types = {type(value) for value in attribute.values if value != MISSING}
    if types == {bool}:
        return "boolean"
    if types == {int}:
        return "integer"
    return "number" if types and types <= {int, float} else "text"


_MUCH_BELOW = 0.1
"""An auc so far below that of a random order is worse than a weak model has."""


def reader_notes(
    described: InputMetadata,
    analysis: Analysis,
    results: Mapping[str, MetricResult],
) -> tuple[str, ...]:
    """All that is worth a note about the data and the tests."""
    notes: list[str] = []
    many = described.unit.many
    attributes = described.attributes
    notes += _about_ties(described)
    notes += described.warnings
    notes += _about_reversed_scores(described, results)
    for attribute in (*attributes, *described.covariates):
        notes += attribute.warnings
        alike = "" if attribute.binning else describe_alike_values(attribute.name, attribute.values)
        notes += [alike] if alike else []
    if not len(analysis.grouping.full):
        notes.append(
            f"no intersection of the {len(attributes)} attributes has "
            f"{analysis.grouping.min_users:,} {many}, so there is no gap between full "
            "combinations; findings are of partial ones"
        )
    options = analysis.options
    if not options.permutations:
        notes.append(
            "no permutations: the null distribution, p-values and findings were not computed"
        )
    elif analysis.test is not None and 1 / (options.permutations + 1) > options.alpha:
        notes.append(
            f"{options.permutations:,} permutations cannot give a p-value of {options.alpha:g}; "
            f"use at least {least_permutations(options.alpha):,}"
        )
    notes += [
        f"{name}: the {len(result.findings):,} strongest findings are listed; "
        f"{result.n_not_listed:,} more groups are significant and not folded into them"
        for name, result in results.items()
        if result.n_not_listed
    ]
    return tuple(notes)


def _about_reversed_scores(
    described: InputMetadata, results: Mapping[str, MetricResult]
) -> list[str]:
    """Scores that put what is relevant last."""
    auc = results.get("auc")
    if auc is None or auc.sd is None or described.measured_by != "candidates":
        return []
    n = max(1, described.n_users - auc.n_undefined)
    if auc.mean >= 0.5 - max(_MUCH_BELOW, 3 * auc.sd / math.sqrt(n)):
        return []
    return [
        f"{CHECK_FIRST}the mean auc is {auc.mean:.2f}, and 0.5 in random order, so the candidates "
        "that are not relevant have the higher scores. Higher scores must mean better: if these "
        "are distances, or ranks with 1 for the first, give them with the opposite sign"
    ]


def _about_ties(described: InputMetadata) -> list[str]:
    """Lists of which chance decides what is in their first places."""
    ties = described.ties
    if ties is None or not ties.n_tied:
        return []
    if described.measured_by == "recommendations":
        return [
            f"{ties.n_tied:,} of {ties.n_lists:,} lists have equal scores in the first {ties.k} "
            "places: metrics are means over their orders, unless the order is given: "
            f"{spell('columns', {'rank': Blank('NAME')})}"
        ]
    if not ties.n_at_cutoff or ties.is_without_order:
        return []
    constant = f" ({ties.n_constant:,} of them one score throughout)" if ties.n_constant else ""
    return [
        f"the lists of {ties.n_at_cutoff:,} of {ties.n_lists:,} users have equal scores at place "
        f"{ties.k}{constant}, so that chance decides what comes first; metrics are means over all "
        "orders of equal scores"
    ]


def search_summary(searched: Searched | None, n_users: int) -> SearchSummary:
    """What was scored, what it cost, and what may have been missed.

    Parameters
    ----------
    searched : None where all scores were at hand
    """
    if searched is None:
        return SearchSummary(name="exact", users_scored=n_users, users_total=n_users)
    outcome, options, ledger = searched.outcome, searched.options, searched.ledger
    evidence = outcome.evidence
    space = evidence.space
    budget = options.make_budget(space)
    bounds, confidence = searched.may_be_larger_by()
    return SearchSummary(
        name=options.name,
        users_scored=evidence.users_scored,
        users_total=space.n_users,
        ending=outcome.ending,
        budget_users=budget.users,
        budget_seconds=budget.seconds,
        hyper_parameters=asdict(hyper_parameters(options.name, options.hyper)),
        users_reference=evidence.n_reference,
        confidence=confidence,
        n_fully_scored=searched.n_fully_scored,
        n_not_fully_scored=searched.n_full - searched.n_fully_scored,
        model_identity=searched.model_identity,
        users_paid=ledger.users,
        users_before=ledger.users_before,
        rows_paid=ledger.rows,
        calls=ledger.calls,
        faults=searched.faults,
        has_table=searched.has_table,
        spent_in_all=None
        if options.ledger is None
        else Spent(users=ledger.spent.users, rows=ledger.spent.rows, calls=ledger.spent.calls),
        metrics={
            metric.name: SearchedMetric(
                may_be_larger_by=bounds[i], history=_points(outcome.history, i)
            )
            for i, metric in enumerate(searched.metrics)
        },
    )


def _points(history: Sequence[FoundGap], metric: int) -> tuple[HistoryPoint, ...]:
    """The points at which the gap grew, and the last one."""
    points = [HistoryPoint(users=one.users, gap=one.gaps[metric]) for one in history]
    grown = [
        point
        for before, point in zip([None, *points], points, strict=False)
        if before is None or point.gap > before.gap
    ]
    return tuple(grown if grown[-1:] == points[-1:] else [*grown, points[-1]])


def given_part(
    described: InputMetadata, analysis: Analysis, confounded: tuple[NoLongerFound, ...]
) -> Adjustment | None:
    """What was given and what it changed; None where nothing was."""
    if not described.covariates:
        return None
    strata = analysis.moments.strata
    n_per_stratum = strata.sums(analysis.measured.n_scored)
    is_not = analysis.is_tested & ~analysis.is_comparable
    metrics = [metric.name for metric in analysis.measured.metrics]
    return Adjustment(
        named=described.adjust_for,
        covariates={
            covariate.name: AdjustedCovariate(
                n_values=len(covariate.values),
                n_missing=covariate.n_missing,
                binning=covariate.binning,
            )
            for covariate in described.covariates
        },
        n_strata=strata.n_strata,
        n_users_alone=int((n_per_stratum == 1).sum()),
        n_not_comparable={name: int(row.sum()) for name, row in zip(metrics, is_not, strict=True)},
        no_longer=confounded,
    )


def result_options(summary: AuditSummary) -> dict[str, Any]:
    """Those that change what is found, by name; attributes and metrics stand by themselves."""
    return {
        "depth": summary.depth,
        "permutations": summary.permutations,
        "alpha": summary.alpha,
        "tolerance": summary.tolerance,
        "max_undefined": summary.max_undefined,
        "seed": summary.seed,
        "relevant": summary.relevant,
        "gain": summary.gain,
        "missing_lists": summary.missing_lists,
        "side": summary.unit.side,
        "unit": summary.unit_column,
        "min_support": summary.coverage.min_support,
    }


def audit_summary(
    described: InputMetadata,
    analysis: Analysis,
    found: Sequence[DescribedMetric],
    missing: Sequence[MissingUsers],
    ratios: Ratios,
    searched: Searched | None,
    given: Adjustment | None = None,
    covariates: tuple[Confounder, ...] = (),
    *,
    command: str,
    about: About,
) -> AuditSummary:
    """The content of `result.json`."""
    options, metrics = analysis.options, analysis.measured.metrics
    results = {one.name: at.result for one, at in zip(metrics, found, strict=True)}
    return AuditSummary(
        fairrec_version=__version__,
        versions=installed_versions(),
        seed=options.seed,
        title=as_unicode(about.title),
        author=as_unicode(about.author),
        model=AuditedModel(
            name=as_unicode(about.model_name), version=as_unicode(about.model_version)
        )
        if about.model_name or about.model_version
        else None,
        command=redact_command(command),
        inputs=input_summaries(described.tables),
        unit=described.unit,
        unit_column=described.unit_column,
        n_users=described.n_users,
        n_candidates=described.n_candidates,
        measured_by=described.measured_by,
        by=described.by,
        columns=described.columns,
        relevant=described.relevant,
        gain=described.gain,
        missing_lists=described.missing_lists,
        adjustment=given,
        confounders=covariates,
        ties=described.ties,
        attributes=attribute_summaries(analysis.grouping),
        depth=options.depth,
        alpha=options.alpha,
        permutations=options.permutations,
        permutations_drawn=analysis.n_permutations,
        tolerance=None if options.tolerance is None else str(options.tolerance),
        outcome=worst_outcome(
            (one.judged.verdict.outcome, one.result.higher_is_better) for one in found
        )
        if found and analysis.tested_by is not None
        else None,
        coverage=coverage(analysis.grouping, options.min_support),
        max_undefined=options.max_undefined,
        missing=tuple(missing),
        warnings=reader_notes(described, analysis, results),
        search=search_summary(searched, described.n_users),
        metrics=results,
        ratios=ratios,
    )


def input_summaries(tables: Mapping[str, Table]) -> dict[str, InputSummary]:
    """The tables with their checksums."""
    return {
        name: InputSummary(name=table.where, sha256=checksum(table.path) if table.path else None)
        for name, table in tables.items()
    }
