"""The conductor: one audit from tables to result, in the order the data flows."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.audit_options import (
    AboutOptions,
    Alpha,
    AuditOptions,
    Author,
    Correction,
    Depth,
    Matters,
    MaxUndefined,
    MinSupport,
    ModelName,
    ModelVersion,
    Permutations,
    Seed,
    Threads,
    Title,
    Top,
)
from fairrec.core.errors import InputError
from fairrec.core.options import declared, documented, invalid, spelled
from fairrec.core.progress import Progress
from fairrec.core.told import told_path
from fairrec.groups.grouping import grouping_of
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.table_options import MissingLists, Relevant, TableOptions, ends_in_words
from fairrec.metrics import MetricAtK
from fairrec.metrics.circumstances import HISTORY_LENGTH, counted_circumstances
from fairrec.metrics.matters import matters_of, refuse_unfit_to
from fairrec.metrics.measured import (
    Measured,
    measure_everyone,
    refuse_undefined,
    values_in_random_order,
)
from fairrec.metrics.reading import read_inputs
from fairrec.models.runs.loading import LoadingRun
from fairrec.report.page.card import card_html
from fairrec.report.page.html import page_html
from fairrec.result.audit_result import AuditResult
from fairrec.result.circumstances import differing_part, given_part
from fairrec.result.circumstances_schema import DifferingCircumstance
from fairrec.result.group_table import RESERVED, group_table
from fairrec.result.naming import audit_summary
from fairrec.result.per_user_table import per_user_table
from fairrec.result.run_file import audit_run
from fairrec.scoring.models.model import Model, ScoringFunction
from fairrec.scoring.models.scorer_options import THE_TABLE, ScorerOptions
from fairrec.search.options import SearchOptions
from fairrec.search.searched import Searched
from fairrec.search.searcher import SEARCHERS
from fairrec.statistics.analysis import Analysis, analyse
from fairrec.statistics.circumstances import Counted, differing_circumstances
from fairrec.statistics.explained import Explained, no_longer_found
from fairrec.statistics.inequality import analyse_inequality
from fairrec.statistics.metric_analysis import MetricAnalysis, analyse_metrics
from fairrec.statistics.missing import Missing, analyse_missing
from fairrec.statistics.pooled import analyse_pooled
from fairrec.statistics.ratios import analyse_ratios
from fairrec.statistics.standing import standing_of
from fairrec.statistics.strata import Strata
from fairrec.statistics.verdict import verdicts_of
from fairrec.workflows.planned import follows_plan
from fairrec.workflows.search import measure_by_search

NAMELESS = AboutOptions()


@follows_plan
@documented(AuditOptions, TableOptions, ScorerOptions, AboutOptions)
def audit(
    predictions: Any = None,
    *,
    test: Any = None,
    values: Any = None,
    users: Any = None,
    by: Sequence[str] | str = (),
    given: Sequence[str] | str = (),
    items: Any = None,
    history: Any = None,
    metrics: Sequence[str] | str | None = None,
    columns: Mapping[str, str] | str | None = None,
    relevant: Relevant | str = None,
    missing_lists: MissingLists = TableOptions.missing_lists,
    better: Mapping[str, str] | str | None = None,
    depth: Depth = AuditOptions.depth,
    min_support: MinSupport | str = AuditOptions.min_support,
    permutations: Permutations = AuditOptions.permutations,
    alpha: Alpha = AuditOptions.alpha,
    correction: Correction = AuditOptions.correction,
    matters: Matters | float | str | Mapping[str, float | str] = AuditOptions.matters,
    max_undefined: MaxUndefined = AuditOptions.max_undefined,
    seed: Seed = AuditOptions.seed,
    threads: Threads = AuditOptions.threads,
    top: Top = AuditOptions.top,
    search: SearchOptions | str | None = None,
    scorer: ScoringFunction | Model | None = None,
    scorer_identity: str = "",
    title: Title = AboutOptions.title,
    model_name: ModelName = AboutOptions.model_name,
    model_version: ModelVersion = AboutOptions.model_version,
    author: Author = AboutOptions.author,
    plan: str | Path | None = None,
    settings: str | Path | None = None,
    progress: Progress | None = None,
    command: str | None = None,
) -> AuditResult:
    """Which user groups are served best and worst, by how much, and whether it is chance.

    Tables are paths (Parquet, CSV, Arrow) or Polars, pandas or Arrow tables.

    Parameters
    ----------
    predictions : recommendations with `test`: `user_id, item_id` and `score` or `rank`, one row
        each. Or scored candidates: `user_id, item_id, score, label`, one row a candidate. Either
        also as one row a user with lists
    test, relevant, missing_lists, values, better : see TableOptions
    users, items, history, columns, by, given, metrics : see TableOptions
    depth, min_support, permutations, alpha, correction, matters : see AuditOptions
    max_undefined, seed, threads, top : see AuditOptions
    search : score users as a searcher asks for them, such as "adaptive", or with a budget
        `SearchOptions("adaptive", budget_users="10%")`; None takes all scores of the table
    scorer, scorer_identity : see ScorerOptions
    title, model_name, model_version, author : see AboutOptions
    plan : a file that `fairrec.plan` froze. Its options hold where no other value is given; the
        result lists what differs from it
    settings : a settings file, such as `fairrec.toml`; what is given or planned holds before it
    progress : called with stage, steps done and steps in all
    command : how to run this again, kept in the result: in full in `run.json`, without the
        auditor's folders elsewhere

    Examples
    --------
    >>> import fairrec, polars as pl
    >>> users = pl.DataFrame({"user_id": [1, 2, 3, 4], "gender": ["F", "F", "M", "M"]})
    >>> predictions = pl.DataFrame({
    ...     "user_id": [1, 2, 3, 4], "item_id": [[7, 8]] * 4, "label": [[1, 0]] * 4,
    ...     "score": [[0.2, 0.9], [0.3, 0.4], [0.9, 0.1], [0.8, 0.2]]})
    >>> result = fairrec.audit(
    ...     predictions, users=users, by="gender", metrics="mrr@5", min_support=1)
    >>> result.gap("mrr@5").size
    0.5
    >>> result.gap("mrr@5").disadvantaged.group
    {'gender': 'F'}
    """
    started = time.perf_counter()
    options = AuditOptions.of(
        depth=depth,
        min_support=min_support,
        permutations=permutations,
        alpha=alpha,
        correction=correction,
        matters=matters,
        max_undefined=max_undefined,
        seed=seed,
        threads=threads,
        top=top,
    )
    about = AboutOptions.of(
        title=title, model_name=model_name, model_version=model_version, author=author
    )
    asked = ScorerOptions(scorer, scorer_identity)
    how = _search_options(search, scorer)
    progress = progress or (lambda stage, done, total: None)
    progress("reading", 0, 0)
    if values is not None and (scorer is not None or how is not None):
        raise InputError(
            f"{spelled('values')} are measured already: nothing is left to score or to search. "
            f"Leave out {spelled('scorer') if scorer is not None else spelled('search')}."
        )
    # a run scores its candidates by itself, once they are read
    run = predictions if isinstance(predictions, LoadingRun) else None
    inputs, wanted = read_inputs(
        predictions if run is None else run.candidates(),
        test=test,
        values=values,
        relevant=relevant,
        missing_lists=missing_lists,
        better=better,
        users=users,
        by=by,
        given=given,
        items=items,
        history=history,
        metrics=metrics,
        columns=columns,
        has_scores=scorer is None and run is None,
        wants=("history",) if how is not None and SEARCHERS[how.name].uses_proxy else (),
        reserved=RESERVED,
    )
    if inputs.circumstances and how is not None:
        _refuse_search(how)
    options = replace(options, matters=matters_of(options.matters, wanted))
    grouping = grouping_of(inputs.attributes, options)
    if run is not None:
        progress("scoring", 0, 0)
        inputs = run.scored(inputs, progress)
    measured, searched = (
        (_measure_everyone(inputs, wanted, options, progress), None)
        if how is None
        else measure_by_search(inputs, wanted, grouping, how, asked, options, progress)
    )
    refuse_unfit_to(options.matters, measured)
    analysis = analyse(measured, grouping, options, progress, strata_of(inputs))
    progress("looking for who is missing", 0, 0)
    missing = analyse_missing(measured, inputs, grouping, options)
    progress("reporting", 0, 0)
    return _named(
        inputs,
        wanted,
        analysis,
        missing,
        searched,
        command=command or _as_call(inputs, wanted, options, how, asked, about),
        about=about,
        started=started,
    )


def audit_inputs(
    inputs: AuditInputs,
    wanted: Sequence[MetricAtK],
    options: AuditOptions,
    progress: Progress = lambda stage, done, total: None,
    *,
    command: str | None = None,
    about: AboutOptions = NAMELESS,
) -> AuditResult:
    """An audit of tables that are read already and hold all scores."""
    started = time.perf_counter()
    grouping = grouping_of(inputs.attributes, options)
    measured = _measure_everyone(inputs, wanted, options, progress)
    analysis = analyse(measured, grouping, options, progress, strata_of(inputs))
    missing = analyse_missing(measured, inputs, grouping, options)
    command = command or _as_call(inputs, wanted, options, about=about)
    return _named(inputs, wanted, analysis, missing, command=command, about=about, started=started)


def _named(
    inputs: AuditInputs,
    wanted: Sequence[MetricAtK],
    analysis: Analysis,
    missing: Sequence[Missing],
    searched: Searched | None = None,
    *,
    command: str,
    about: AboutOptions,
    started: float,
) -> AuditResult:
    """The result: all that was found, by its names."""
    measured, grouping, options = analysis.measured, analysis.grouping, analysis.options
    found = analyse_metrics(analysis)
    standing = standing_of(measured, inputs, missing, options.max_undefined)
    verdicts = verdicts_of(analysis, [stands.is_conclusive for stands in standing])
    pooled = analyse_pooled(wanted, inputs, grouping, options.top)
    summary = audit_summary(
        inputs,
        analysis,
        found,
        missing,
        standing,
        verdicts,
        pooled,
        analyse_ratios(measured, grouping, options),
        analyse_inequality(measured, grouping, options),
        searched,
        given_part(inputs, analysis, _no_longer(analysis)),
        _differing(inputs, analysis, found),
        wanted=wanted,
        command=command,
        about=about,
    )
    return AuditResult(
        summary,
        group_table(analysis, verdicts, pooled),
        per_user_table(inputs, measured),
        audit_run(
            inputs.tables,
            searched,
            command=command,
            made_at=datetime.now(UTC),
            seconds=time.perf_counter() - started,
        ),
        page_html,
        card_html,
        inputs.is_pandas,
    )


def strata_of(inputs: AuditInputs) -> Strata | None:
    """Users in the same circumstances; None where none are given."""
    given = inputs.circumstances
    if not given:
        return None
    return Strata.of([one.codes for one in given], [len(one.values) for one in given])


def _no_longer(analysis: Analysis) -> tuple[Explained, ...]:
    """The findings that the circumstances given take away, which takes a test without them."""
    if not analysis.is_adjusted or analysis.test is None:
        return ()
    raw = analyse(analysis.measured, analysis.grouping, analysis.options)
    return no_longer_found(analyse_metrics(raw), analysis)


def _differing(
    inputs: AuditInputs, analysis: Analysis, found: Sequence[MetricAnalysis]
) -> tuple[DifferingCircumstance, ...]:
    """The circumstances that nobody asked about and that make a part of a finding."""
    measured = analysis.measured
    findings = [[finding.position for finding in about.findings] for about in found]
    if not measured.is_complete or not any(findings):
        return ()
    counted = counted_circumstances(inputs)
    # what is recommended stays so in any order, and only candidates have a chance level
    is_of_candidates = inputs.candidates.labels is not None and inputs.candidates.held_out is None

    def at_random(users: IntArray) -> FloatArray:
        return values_in_random_order(inputs, measured.metrics, users, analysis.options.seed)

    differing = differing_circumstances(
        analysis,
        findings,
        [
            Counted(one.numbers, one.bins.codes, len(one.bins.values), one.name != HISTORY_LENGTH)
            for one in counted
        ],
        at_random if is_of_candidates else None,
    )
    return differing_part(differing, [one.name for one in counted], analysis)


def _measure_everyone(
    inputs: AuditInputs, wanted: Sequence[MetricAtK], options: AuditOptions, progress: Progress
) -> Measured:
    """The values of all users; a metric that is undefined for all of them is an error."""
    per_user = [metric for metric in wanted if not metric.metric.pooled]
    measured = measure_everyone(inputs, per_user, options.n_threads, progress)
    refuse_undefined(measured, inputs.candidates)
    return measured


def _refuse_search(how: SearchOptions) -> None:
    """An error where not everyone would be scored, and circumstances are given."""
    is_limited = (how.budget_users, how.budget_seconds, how.budget) != (None, None, None)
    if how.name != "exact" or is_limited:
        raise InputError(
            f"{spelled('given')} compares users in the same circumstances, for which everyone has "
            f"to be scored. Leave it out, or search with {spelled('search', 'exact')} and without "
            "a budget."
        )


def _search_options(
    search: SearchOptions | str | None, scorer: ScoringFunction | Model | None
) -> SearchOptions | None:
    """None where all scores are at hand and all of them are wanted."""
    if search is None:
        return None if scorer is None else SearchOptions("exact")
    if isinstance(search, str):
        return SearchOptions(search)
    if not isinstance(search, SearchOptions):
        raise invalid("search", "a searcher's name or SearchOptions(...)", search)
    return search


def _as_call(
    inputs: AuditInputs,
    wanted: Sequence[MetricAtK],
    options: AuditOptions,
    how: SearchOptions | None = None,
    asked: ScorerOptions = THE_TABLE,
    about: AboutOptions = NAMELESS,
) -> str:
    """The call that repeats an audit made from Python."""
    given, tables = inputs.given, inputs.tables
    is_values = "values" in tables
    parts = [] if is_values else ["predictions"]
    parts += [
        f"{name}={name}"
        for name in ("test", "values", "users", "items", "history")
        if getattr(given, name) is not None
    ]
    parts.append(f"by={list(inputs.by)!r}")
    if given.given:
        parts.append(f"given={list(given.given)!r}")
    parts.append(f"metrics={[metric.name for metric in wanted]!r}")
    if given.columns:
        parts.append(f"columns={inputs.columns!r}")
    if given.relevant is not None:
        parts.append(f"relevant={str(given.relevant)!r}")
    if given.missing_lists != TableOptions.missing_lists:
        parts.append(f"missing_lists={given.missing_lists!r}")
    if given.better:
        parts.append(f"better={ends_in_words(given.better)!r}")
    parts += [
        f"{name}={getattr(options, name)!r}"
        for name in declared(AuditOptions)
        if name not in ("threads", "matters")
    ]
    if options.matters is not None:
        parts.append(f"matters={str(options.matters)!r}")
    if how is not None:
        ledger = None if how.ledger is None else told_path(how.ledger)
        parts.append(f"search={replace(how, ledger=ledger)!r}")
    if asked.scorer is not None:
        parts.append("scorer=scorer")
    parts += [f"{name}={value!r}" for name, value in vars(about).items() if value]
    return f"fairrec.audit({', '.join(parts)})"
