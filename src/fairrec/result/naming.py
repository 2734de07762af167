"""The parts of an audit, named: the result that everything printed or drawn comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fairrec.core.audit_options import AboutOptions
from fairrec.core.errors import as_unicode
from fairrec.core.told import told_command
from fairrec.core.version import __version__, installed_versions
from fairrec.inputs.described import Described
from fairrec.inputs.formats import checksum
from fairrec.inputs.tables import Table
from fairrec.metrics import MetricAtK
from fairrec.result.circumstances_schema import DifferingCircumstance, Given
from fairrec.result.coverage import attribute_summaries, coverage
from fairrec.result.metric_result import metric_results, pooled_results
from fairrec.result.missing_users import missing_users
from fairrec.result.notes import reader_notes
from fairrec.result.ratios import ratios_part
from fairrec.result.schema import AuditedModel, AuditSummary, InputSummary
from fairrec.result.search_result import search_summary
from fairrec.search.searched import Searched
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.inequality import Inequality
from fairrec.statistics.metric_analysis import MetricAnalysis
from fairrec.statistics.missing import Missing
from fairrec.statistics.outcome import outcome_of_all
from fairrec.statistics.pooled import PooledAnalysis
from fairrec.statistics.ratios import RatioAnalysis
from fairrec.statistics.standing import Standing
from fairrec.statistics.verdict import MetricVerdict


def audit_summary(
    described: Described,
    analysis: Analysis,
    found: Sequence[MetricAnalysis],
    missing: Sequence[Missing],
    standing: Sequence[Standing],
    verdicts: Sequence[MetricVerdict],
    pooled: Sequence[PooledAnalysis],
    ratios: RatioAnalysis,
    inequality: Sequence[Inequality],
    searched: Searched | None,
    given: Given | None = None,
    circumstances: tuple[DifferingCircumstance, ...] = (),
    *,
    wanted: Sequence[MetricAtK],
    command: str,
    about: AboutOptions,
) -> AuditSummary:
    """The content of `result.json`.

    Parameters
    ----------
    wanted : all metrics, in the order they were asked for
    """
    options = analysis.options
    of_pooled = pooled_results(analysis, pooled)
    results = metric_results(analysis, found, standing, verdicts) | of_pooled
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
        command=told_command(command),
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
        given=given,
        circumstances=circumstances,
        ties=described.ties,
        attributes=attribute_summaries(analysis.grouping),
        depth=options.depth,
        alpha=options.alpha,
        permutations=options.permutations,
        permutations_drawn=analysis.n_permutations,
        matters=None if options.matters is None else str(options.matters),
        outcome=outcome_of_all(
            (verdict.outcome, one.metric.higher_is_better)
            for verdict, one in zip(verdicts, analysis.measured.metrics, strict=True)
        )
        if verdicts and analysis.tested_by is not None
        else None,
        coverage=coverage(analysis.grouping, options.min_support),
        max_undefined=options.max_undefined,
        missing=missing_users(missing, options.max_undefined),
        warnings=reader_notes(described, analysis, results, of_pooled),
        search=search_summary(searched, described.n_users),
        metrics={metric.name: results[metric.name] for metric in wanted},
        ratios=ratios_part(ratios, inequality, analysis.measured.metrics, wanted),
    )


def input_summaries(tables: Mapping[str, Table]) -> dict[str, InputSummary]:
    """The tables with their checksums."""
    return {
        name: InputSummary(name=table.where, sha256=checksum(table.path) if table.path else None)
        for name, table in tables.items()
    }
