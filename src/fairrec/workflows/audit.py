"""The conductor: one audit from tables to result, in the order the data flows."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray
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
)
from fairrec.core.errors import InputError, as_unicode
from fairrec.core.options import documented
from fairrec.core.progress import Progress
from fairrec.core.version import __version__, installed_versions
from fairrec.groups.cells import Cells, cells_by
from fairrec.groups.lattice import Lattice, build_lattice
from fairrec.inputs.audit_inputs import AuditInputs, read_inputs
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.table_options import TableOptions
from fairrec.metrics import MetricAtK
from fairrec.metrics.measure import values_per_user
from fairrec.result.audit_result import AuditResult
from fairrec.result.coverage import attribute_summaries, coverage
from fairrec.result.group_table import group_table
from fairrec.result.metric_result import metric_results
from fairrec.result.notes import reader_notes
from fairrec.result.per_user_table import per_user_table
from fairrec.result.pooled_result import pooled_results
from fairrec.result.schema import AuditSummary
from fairrec.result.search_result import exact_summary, search_summary
from fairrec.scoring.models.model import Model, ScoringFunction
from fairrec.search.evidence import Evidence
from fairrec.search.options import SearchOptions
from fairrec.search.space import Space
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.moments import Moments, group_moments, sampled_moments
from fairrec.statistics.permutation import PermutationTest, permutation_test
from fairrec.statistics.sampled_test import sampled_test
from fairrec.workflows.search import run_search


@documented(AuditOptions, TableOptions)
def audit(
    predictions: Any,
    *,
    users: Any,
    by: Sequence[str] | str,
    items: Any = None,
    history: Any = None,
    metrics: Sequence[str] | str | None = None,
    columns: Mapping[str, str] | None = None,
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
    scorer : `(user_ids, item_ids) -> scores`, one number per pair, where the predictions table
        has no scores; or a model that is asked, `Endpoint(...)` or `OnnxModel(...)`
    scorer_identity : names the model, so that a ledger is never used for another; needed with a
        ledger and a function
    progress : called with stage, steps done and steps in all
    command : how to run this again, kept in the result

    Examples
    --------
    >>> import fairrec, polars as pl
    >>> users = pl.DataFrame({"user_id": [1, 2, 3, 4], "gender": ["F", "F", "M", "M"]})
    >>> predictions = pl.DataFrame({
    ...     "user_id": [1, 2, 3, 4], "item_id": [[7, 8]] * 4, "label": [[1, 0]] * 4,
    ...     "score": [[0.2, 0.9], [0.3, 0.4], [0.9, 0.1], [0.8, 0.2]]})
    >>> result = fairrec.audit(predictions, users=users, by="gender", metrics="mrr@5")
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
    how = _search_options(search, scorer)
    told = progress or (lambda stage, done, total: None)
    told("reading", 0, 0)
    inputs = read_inputs(
        predictions,
        users=users,
        by=by,
        items=items,
        history=history,
        metrics=metrics,
        columns=columns,
        has_scores=scorer is None,
        wants=() if how is None else ("history",),
    )
    return audit_inputs(
        inputs, options, how, scorer, scorer_identity, told, command=command, started=started
    )


def audit_inputs(
    inputs: AuditInputs,
    options: AuditOptions,
    how: SearchOptions | None = None,
    scorer: ScoringFunction | Model | None = None,
    scorer_identity: str = "",
    told: Progress = lambda stage, done, total: None,
    *,
    command: str | None = None,
    started: float | None = None,
) -> AuditResult:
    """The same for tables that are read already."""
    started = time.perf_counter() if started is None else started
    cells = cells_by(inputs.attributes)
    min_users = options.min_users(inputs.n_users)
    lattice = _lattice(cells, min_users, inputs.n_users, options)

    n_threads = options.n_threads
    if how is None:
        told("measuring", 0, 0)
        values = _values(inputs, n_threads)
        moments = group_moments(values, cells, lattice, n_threads)
    else:
        space = Space(cells, lattice, min_users)
        outcome, cost = run_search(
            inputs, space, how, options.seed, scorer, scorer_identity, n_threads, told
        )
        values = outcome.evidence.values_per_user
        moments = _moments_of_search(inputs, outcome.evidence, cells, lattice, n_threads)
    is_tested = moments.n >= min_users
    test = _test(moments, cells, lattice, is_tested, min_users, options, told)

    told("reporting", 0, 0)
    per_user = inputs.per_user_metrics
    analysis = Analysis(
        per_user, inputs.attributes, cells, lattice, moments, is_tested, test, options
    )
    pooled, pooled_groups = pooled_results(
        inputs.metrics, inputs.candidates, inputs.list_of_user, analysis
    )
    results = metric_results(analysis) | pooled
    seconds = time.perf_counter() - started
    summary = AuditSummary(
        fairrec_version=__version__,
        versions=installed_versions(),
        seed=options.seed,
        command=as_unicode(command or _as_call(inputs, options, how, scorer)),
        inputs=inputs.summaries(),
        n_users=inputs.n_users,
        n_candidates=len(inputs.candidates.items),
        by=inputs.by,
        columns=inputs.columns,
        attributes=attribute_summaries(analysis),
        depth=options.depth,
        alpha=options.alpha,
        correction=options.correction,
        permutations=options.permutations,
        coverage=coverage(analysis),
        warnings=reader_notes(
            inputs.n_without_predictions, inputs.attributes, inputs.side, results, pooled, analysis
        ),
        search=(
            exact_summary(inputs.n_users, seconds)
            if how is None
            else search_summary(
                outcome, how, per_user, cost.ledger, cost.asked, cost.faults, seconds
            )
        ),
        metrics={metric.name: results[metric.name] for metric in inputs.metrics},
    )
    return AuditResult(
        summary,
        group_table(analysis, pooled_groups),
        per_user_table(inputs.user_ids, inputs.attributes, per_user, values),
    )


def _lattice(cells: Cells, min_users: int, n_users: int, options: AuditOptions) -> Lattice:
    lattice = build_lattice(cells, options.lattice_depth, min_users, options.n_threads)
    if not len(lattice):
        raise InputError(
            f"No group has {min_users:,} users (--min-support {options.min_support:g} of "
            f"{n_users:,} users). Lower --min-support or name fewer attributes in --by."
        )
    return lattice


def _search_options(
    search: SearchOptions | str | None, scorer: ScoringFunction | Model | None
) -> SearchOptions | None:
    """None where all scores are at hand and all of them are wanted."""
    if search is None:
        return None if scorer is None else SearchOptions("exact")
    if isinstance(search, str):
        return SearchOptions(search)
    if not isinstance(search, SearchOptions):
        raise InputError(
            f"invalid search: expected a searcher's name or SearchOptions(...), got {search!r}"
        )
    return search


def _moments_of_search(
    inputs: AuditInputs, evidence: Evidence, cells: Cells, lattice: Lattice, threads: int
) -> Moments:
    """Exact where the search came to score everyone."""
    values = evidence.values_per_user
    known = values if evidence.is_scored.all() else values[:, evidence.is_reference]
    if not known.shape[1]:
        raise InputError("The time was spent before any user was scored. Raise --budget-seconds.")
    for metric, row in zip(inputs.per_user_metrics, known, strict=True):
        if np.isnan(row).all():
            raise InputError(
                f"Metric '{metric.name}' is undefined for all of {row.size:,} users that were "
                "scored at random. Leave it out, or raise the budget or --reference."
            )
    if evidence.is_scored.all():
        return group_moments(values, cells, lattice, threads)
    return sampled_moments(
        values, evidence.is_scored, evidence.is_reference, cells, lattice, threads
    )


def _test(
    moments: Moments,
    cells: Cells,
    lattice: Lattice,
    is_tested: BoolArray,
    min_users: int,
    options: AuditOptions,
    told: Progress,
) -> PermutationTest | None:
    """The test against chance, where permutations are asked for."""
    if not options.permutations or not len(moments.mean):
        return None
    n_done = 0

    def advance() -> None:
        nonlocal n_done
        n_done += 1
        told("testing against chance", n_done, options.permutations)

    settings = (options.permutations, options.seed, options.n_threads, advance)
    if moments.sample is None:
        return permutation_test(moments, cells, lattice, is_tested, *settings)
    return sampled_test(moments, moments.sample, cells, lattice, is_tested, min_users, *settings)


def _values(inputs: AuditInputs, threads: int) -> FloatArray:
    """(n_metrics, n_users), NaN where undefined; a metric undefined for all is an error."""
    metrics = inputs.per_user_metrics
    values = values_per_user(metrics, inputs.candidates, inputs.side, threads)
    for metric, row in zip(metrics, values, strict=True):
        if np.isnan(row).all():
            raise InputError(
                f"Metric '{metric.name}' is undefined for every user: "
                f"{_why_undefined(metric, inputs.candidates)}. Mend the table or leave the metric "
                "out."
            )
    # laid out as a search has them, so that sums agree to the last digit
    return np.ascontiguousarray(values[:, inputs.list_of_user])


def _why_undefined(metric: MetricAtK, candidates: CandidateLists) -> str:
    needs = metric.metric.needs
    if "labels" in needs and candidates.labels is not None and not (candidates.labels > 0).any():
        return "no candidate has a label above 0"
    if "items" in needs:
        return "no user has two candidates with categories in the items table"
    if "history" in needs:
        return "no user has candidates and a history in the history table"
    return "no user has both a relevant and another candidate"


def _as_call(
    inputs: AuditInputs,
    options: AuditOptions,
    how: SearchOptions | None,
    scorer: ScoringFunction | Model | None,
) -> str:
    """The call that repeats an audit made from Python."""
    search = "" if how is None else f", search={how!r}"
    asked = "" if scorer is None else ", scorer=scorer"
    return (
        f"fairrec.audit(predictions, users=users, by={list(inputs.by)!r}, "
        f"metrics={[metric.name for metric in inputs.metrics]!r}, depth={options.depth!r}, "
        f"min_support={options.min_support!r}, permutations={options.permutations!r}, "
        f"alpha={options.alpha!r}, correction={options.correction!r}, seed={options.seed!r}, "
        f"top={options.top!r}{search}{asked})"
    )
