"""The conductor: one audit from tables to result, in the order the data flows."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from fairrec.core.audit_options import (
    Alpha,
    AuditOptions,
    Correction,
    Depth,
    MinSupport,
    Permutations,
    Seed,
    Threads,
    Top,
    smallest_group,
    take_smaller_groups,
)
from fairrec.core.errors import InputError
from fairrec.core.options import documented, invalid, spelled
from fairrec.core.progress import Progress
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.table_options import TableOptions
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import Measured, measure_everyone, refuse_undefined
from fairrec.metrics.reading import read_inputs
from fairrec.report.page.html import page_html
from fairrec.result.audit_result import AuditResult
from fairrec.result.group_table import RESERVED, group_table
from fairrec.result.naming import audit_summary
from fairrec.result.per_user_table import per_user_table
from fairrec.scoring.models.model import Model, ScoringFunction
from fairrec.scoring.models.scorer_options import THE_TABLE, ScorerOptions
from fairrec.search.options import SearchOptions
from fairrec.search.searched import Searched
from fairrec.search.searcher import SEARCHERS
from fairrec.statistics.analysis import Analysis, analyse
from fairrec.statistics.metric_analysis import analyse_metrics
from fairrec.statistics.pooled import analyse_pooled
from fairrec.workflows.search import measure_by_search


@documented(AuditOptions, TableOptions, ScorerOptions)
def audit(
    predictions: Any,
    *,
    users: Any,
    by: Sequence[str] | str,
    items: Any = None,
    history: Any = None,
    metrics: Sequence[str] | str | None = None,
    columns: Mapping[str, str] | str | None = None,
    depth: Depth = AuditOptions.depth,
    min_support: MinSupport | str = AuditOptions.min_support,
    permutations: Permutations = AuditOptions.permutations,
    alpha: Alpha = AuditOptions.alpha,
    correction: Correction = AuditOptions.correction,
    seed: Seed = AuditOptions.seed,
    threads: Threads = AuditOptions.threads,
    top: Top = AuditOptions.top,
    search: SearchOptions | str | None = None,
    scorer: ScoringFunction | Model | None = None,
    scorer_identity: str = "",
    progress: Progress | None = None,
    command: str | None = None,
) -> AuditResult:
    """Which user groups are served best and worst, by how much, and whether it is chance.

    Tables are paths (Parquet, CSV, Arrow) or Polars, pandas or Arrow tables.

    Parameters
    ----------
    predictions : `user_id, item_id, score, label`, one row a candidate; or one row a user with
        lists in the last three
    users, items, history, columns, by, metrics : see TableOptions
    depth, min_support, permutations, alpha, correction, seed, threads, top : see AuditOptions
    search : score users as a searcher asks for them, such as "adaptive", or with a budget
        `SearchOptions("adaptive", budget_users="10%")`; None takes all scores of the table
    scorer, scorer_identity : see ScorerOptions
    progress : called with stage, steps done and steps in all
    command : how to run this again, kept in the result

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
        seed=seed,
        threads=threads,
        top=top,
    )
    asked = ScorerOptions(scorer, scorer_identity)
    how = _search_options(search, scorer)
    progress = progress or (lambda stage, done, total: None)
    progress("reading", 0, 0)
    inputs, wanted = read_inputs(
        predictions,
        users=users,
        by=by,
        items=items,
        history=history,
        metrics=metrics,
        columns=columns,
        has_scores=scorer is None,
        wants=("history",) if how is not None and SEARCHERS[how.name].uses_proxy else (),
        reserved=RESERVED,
    )
    grouping = _grouping(inputs, options)
    measured, searched = (
        (_measure_everyone(inputs, wanted, options, progress), None)
        if how is None
        else measure_by_search(inputs, wanted, grouping, how, asked, options, progress)
    )
    analysis = analyse(measured, grouping, options, progress)
    progress("reporting", 0, 0)
    return _named(
        inputs,
        wanted,
        analysis,
        searched,
        command=command or _as_call(inputs, wanted, options, how, asked),
        started=started,
    )


def audit_inputs(
    inputs: AuditInputs,
    wanted: Sequence[MetricAtK],
    options: AuditOptions,
    progress: Progress = lambda stage, done, total: None,
    *,
    command: str | None = None,
) -> AuditResult:
    """An audit of tables that are read already and hold all scores."""
    started = time.perf_counter()
    grouping = _grouping(inputs, options)
    measured = _measure_everyone(inputs, wanted, options, progress)
    analysis = analyse(measured, grouping, options, progress)
    command = command or _as_call(inputs, wanted, options)
    return _named(inputs, wanted, analysis, command=command, started=started)


def _named(
    inputs: AuditInputs,
    wanted: Sequence[MetricAtK],
    analysis: Analysis,
    searched: Searched | None = None,
    *,
    command: str,
    started: float,
) -> AuditResult:
    """The result: all that was found, by its names."""
    pooled = analyse_pooled(wanted, inputs, analysis.grouping, analysis.options.top)
    summary = audit_summary(
        inputs,
        analysis,
        analyse_metrics(analysis),
        pooled,
        searched,
        wanted=wanted,
        command=command,
        seconds=time.perf_counter() - started,
    )
    per_user = per_user_table(inputs, analysis.measured)
    return AuditResult(summary, group_table(analysis, pooled), per_user, page_html)


def _grouping(inputs: AuditInputs, options: AuditOptions) -> Grouping:
    grouping = Grouping.of(inputs.attributes, options)
    if not len(grouping.lattice):
        raise InputError(
            f"No group has {grouping.min_users:,} users (smallest group: "
            f"{smallest_group(options.min_support)}; {grouping.n_users:,} users in all). "
            f"{take_smaller_groups()}, or name fewer attributes in {spelled('by')}."
        )
    return grouping


def _measure_everyone(
    inputs: AuditInputs, wanted: Sequence[MetricAtK], options: AuditOptions, progress: Progress
) -> Measured:
    """The values of all users; a metric that is undefined for all of them is an error."""
    progress("measuring", 0, 0)
    per_user = [metric for metric in wanted if not metric.metric.pooled]
    measured = measure_everyone(inputs, per_user, options.n_threads)
    refuse_undefined(measured, inputs.candidates)
    return measured


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
) -> str:
    """The call that repeats an audit made from Python."""
    search = "" if how is None else f", search={how!r}"
    scorer = "" if asked.scorer is None else ", scorer=scorer"
    return (
        f"fairrec.audit(predictions, users=users, by={list(inputs.by)!r}, "
        f"metrics={[metric.name for metric in wanted]!r}, depth={options.depth!r}, "
        f"min_support={options.min_support!r}, permutations={options.permutations!r}, "
        f"alpha={options.alpha!r}, correction={options.correction!r}, seed={options.seed!r}, "
        f"top={options.top!r}{search}{scorer})"
    )
