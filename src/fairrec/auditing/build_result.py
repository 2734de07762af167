"""The last steps of every audit: what was found, by its names."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.audit_options import About
from fairrec.core.progress import Progress
from fairrec.inputs.audit_inputs import AuditInputs, InputMetadata
from fairrec.metrics import MetricAtK
from fairrec.metrics.covariates import OF_LISTS, counted_circumstances
from fairrec.metrics.measured import Measured, tied_lists, values_in_random_order
from fairrec.report.audit_result import AuditResult
from fairrec.result.folder import audit_run
from fairrec.result.summary import audit_summary, given_part
from fairrec.result.tables import group_table, per_user_table
from fairrec.search.searched import Searched
from fairrec.statistics.analysis import Analysis, analyse
from fairrec.statistics.explanations import (
    BinnedCircumstance,
    DifferingCircumstance,
    NoLongerFound,
    confounded_findings,
    differing_circumstances,
)
from fairrec.statistics.findings import MetricAnalysis, analyse_metrics, analyse_pooled
from fairrec.statistics.inequality import analyse_inequality
from fairrec.statistics.missing import (
    analyse_missing,
    analyse_outcomes,
    assess_conclusiveness,
    count_expected,
)
from fairrec.statistics.ratios import analyse_ratios
from fairrec.statistics.strata import Strata
from fairrec.statistics.verdict import decide_verdicts

if TYPE_CHECKING:
    from fairrec.counts.rows import Counted as CountedUsers


def named_result(
    analysis: Analysis,
    seen: AuditInputs | CountedUsers,
    progress: Progress,
    *,
    described: InputMetadata | None = None,
    searched: Searched | None = None,
    wanted: Sequence[MetricAtK],
    command: str,
    about: About,
    started: float,
) -> AuditResult:
    """The result: who is missing, and all that was found, by its names.

    Parameters
    ----------
    seen : what was analysed; of users who were counted nobody's lists and values are at hand
    described : what the result tells of it; None for what it tells of itself
    wanted : all metrics, in the order they were asked for
    """
    measured, grouping, options = analysis.measured, analysis.grouping, analysis.options
    inputs = seen if isinstance(seen, AuditInputs) else None
    described = described or seen.described
    if inputs is not None:
        inputs = _with_scores(inputs, searched, measured)
        ties = tied_lists(inputs.candidates, measured.metrics, options.n_threads)
        described = replace(described, ties=ties)
    progress("looking for who is missing", 0, 0)
    if isinstance(seen, AuditInputs):
        missing = analyse_missing(measured, seen, grouping, options)
        expected = count_expected(measured, seen)
    else:
        missing, expected = analyse_outcomes(seen.outcomes, grouping, options), seen.expected
    progress("reporting", 0, 0)
    found = analyse_metrics(analysis)
    standing = assess_conclusiveness(measured, expected, missing, options.max_undefined)
    verdicts = decide_verdicts(analysis, [stands.is_conclusive for stands in standing])
    pooled = () if inputs is None else analyse_pooled(wanted, inputs, grouping, options.top)
    summary = audit_summary(
        described,
        analysis,
        found,
        missing,
        standing,
        verdicts,
        pooled,
        analyse_ratios(measured, grouping, options),
        analyse_inequality(measured, grouping, options),
        searched,
        given_part(described, analysis, _no_longer(analysis)),
        () if inputs is None else _differing(inputs, analysis, found),
        wanted=wanted,
        command=command,
        about=about,
    )
    return AuditResult(
        summary,
        group_table(analysis, verdicts, pooled, [about.unknown for about in found]),
        None if inputs is None else per_user_table(inputs, measured),
        audit_run(
            described.tables,
            searched,
            command=command,
            made_at=datetime.now(UTC),
            seconds=time.perf_counter() - started,
        ),
        described.is_pandas,
    )


def _with_scores(inputs: AuditInputs, searched: Searched | None, measured: Measured) -> AuditInputs:
    """The same with the scores of a model, where all of them are paid for."""
    if searched is None or not measured.is_complete:
        return inputs
    return inputs.with_scores(searched.ledger.pay_for(np.arange(inputs.candidates.n_users)))


def build_strata(inputs: AuditInputs) -> Strata | None:
    """Users in the same circumstances; None where none are given."""
    given = inputs.circumstances
    if not given:
        return None
    return Strata.from_codes([one.codes for one in given], [len(one.values) for one in given])


def _no_longer(analysis: Analysis) -> tuple[NoLongerFound, ...]:
    """The findings that the circumstances given take away, which takes a test without them."""
    if not analysis.is_adjusted or analysis.test is None:
        return ()
    raw = analyse(analysis.measured, analysis.grouping, analysis.options)
    return confounded_findings(analyse_metrics(raw), analysis)


def _differing(
    inputs: AuditInputs, analysis: Analysis, found: Sequence[MetricAnalysis]
) -> tuple[DifferingCircumstance, ...]:
    """The circumstances that nobody asked about and that make a part of a finding."""
    measured = analysis.measured
    findings = [[finding.position for finding in about.findings] for about in found]
    if not measured.is_complete or not any(findings):
        return ()
    counted = counted_circumstances(inputs, measured.metrics)
    # what is recommended stays so in any order, and only candidates have a chance level
    is_of_candidates = inputs.candidates.labels is not None and inputs.candidates.held_out is None

    def at_random(users: IntArray) -> FloatArray:
        return values_in_random_order(inputs, measured.metrics, users, analysis.options.seed)

    return differing_circumstances(
        analysis,
        findings,
        [
            BinnedCircumstance(
                one.name, one.numbers, one.bins.codes, len(one.bins.values), one.name in OF_LISTS
            )
            for one in counted
        ],
        at_random if is_of_candidates else None,
    )
