"""The last steps of every audit: what was found, by its names."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from fairrec.auditing.call_repr import write_call
from fairrec.auditing.measurement import Measurement
from fairrec.core.audit_options import About
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.metrics.covariates import counted_covariates
from fairrec.metrics.measured import Measured, tied_lists
from fairrec.report.audit_result import AuditResult
from fairrec.result.folder import audit_run
from fairrec.result.metric_result import DescribedMetric, describe_metrics
from fairrec.result.summary import audit_summary, given_part
from fairrec.result.tables import group_table, per_user_table
from fairrec.search.loop import Searched
from fairrec.statistics.analysis import Analysis, analyse
from fairrec.statistics.confounders import (
    BinnedCovariate,
    Confounder,
    NoLongerFound,
    confounded_findings,
    find_confounders,
)
from fairrec.statistics.findings import list_findings
from fairrec.statistics.missing import (
    analyse_outcomes,
    assess_conclusiveness,
    count_expected,
    possible_outcomes,
)
from fairrec.statistics.ratios import analyse_ratios


def build_result(
    measurement: Measurement, analysis: Analysis, about: About, started: float
) -> AuditResult:
    """The result: missing users, and all that was found, by its names."""
    source, searched = measurement.source, measurement.searched
    measured, grouping, options = analysis.measured, analysis.grouping, analysis.options
    described, progress = measurement.described, options.engine.report
    command = about.command or write_call(measurement.call, options, about)
    inputs = _with_scores(source, searched, measured) if isinstance(source, AuditInputs) else None
    if inputs is not None:
        ties = tied_lists(inputs.candidates, measured.metrics, options.n_threads)
        described = replace(described, ties=ties)
    progress("testing missing users")
    if isinstance(source, AuditInputs):
        outcomes = possible_outcomes(measured, source)
        expected = count_expected(measured, source)
    else:
        outcomes, expected = [*source.outcomes], source.expected
    missing = analyse_outcomes(outcomes, grouping, options)
    progress("reporting")
    standing = assess_conclusiveness(measured, expected, missing, options.max_undefined)
    found = describe_metrics(analysis, standing)
    summary = audit_summary(
        described,
        analysis,
        found,
        missing,
        analyse_ratios(measured, grouping, options),
        searched,
        given_part(described, analysis, _no_longer(analysis)),
        () if inputs is None else _differing(inputs, analysis, found),
        command=command,
        about=about,
    )
    return AuditResult(
        summary.model_copy(update={"catalogue": measurement.catalogue}),
        group_table(analysis, found),
        None if inputs is None else per_user_table(inputs, measured),
        audit_run(
            described.tables,
            searched,
            command=command,
            made_at=datetime.now(UTC),
            seconds=time.perf_counter() - started,
        ),
        described.is_pandas,
        measurement.per_user_parts,
    )


def _with_scores(inputs: AuditInputs, searched: Searched | None, measured: Measured) -> AuditInputs:
    """The same with the scores of a model, where all of them are paid for."""
    if searched is None or not measured.is_complete:
        return inputs
    return inputs.with_scores(searched.ledger.pay_for(np.arange(inputs.candidates.n_users)))


def _no_longer(analysis: Analysis) -> tuple[NoLongerFound, ...]:
    """The findings that the covariates adjusted for take away, which takes a test without them."""
    if not analysis.is_adjusted or analysis.test is None:
        return ()
    raw = analyse(analysis.measured, analysis.grouping, analysis.options)
    listed = [list_findings(i, raw)[0] for i in range(len(raw.measured.metrics))]
    return confounded_findings([[one.position for one in each] for each in listed], analysis)


def _differing(
    inputs: AuditInputs, analysis: Analysis, found: Sequence[DescribedMetric]
) -> tuple[Confounder, ...]:
    """The confounders: covariates not adjusted for that explain a part of a finding."""
    measured = analysis.measured
    findings = [about.findings for about in found]
    if not measured.is_complete or not any(findings):
        return ()
    return find_confounders(
        analysis,
        findings,
        [
            BinnedCovariate(one.name, one.numbers, one.bins.codes, len(one.bins.values))
            for one in counted_covariates(inputs, measured.metrics)
        ],
    )
