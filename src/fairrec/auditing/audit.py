"""The conductor: one audit from tables to result, in the order the data flows."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairrec.auditing.call_repr import audit_call, follows_plan, said_of_scores, said_of_tables
from fairrec.core.audit_options import (
    AboutOptions,
    Alpha,
    AuditOptions,
    Author,
    Depth,
    MaxMemory,
    MaxUndefined,
    MinSupport,
    ModelName,
    ModelVersion,
    Permutations,
    Seed,
    Threads,
    Title,
    Tolerance,
    Top,
)
from fairrec.core.errors import InputError, errors_of_libraries
from fairrec.core.kernels import make_ready
from fairrec.core.options import documented, invalid, spelled
from fairrec.core.progress import Progress
from fairrec.core.threads import start_in_background
from fairrec.counts.options import (
    RESERVED_NAMES,
    Address,
    CountsFiles,
    CountsOptions,
    Disjoint,
    EngineName,
    EngineOptions,
    Scratch,
    Workers,
)
from fairrec.groups.grouping import grouping_of
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.room import is_large, most_rows
from fairrec.inputs.table_options import (
    Gain,
    MissingLists,
    Relevant,
    Side,
    TableOptions,
    UnitColumn,
)
from fairrec.metrics import METRICS, MetricAtK
from fairrec.metrics.measured import (
    Measured,
    measure_everyone,
    refuse_undefined,
)
from fairrec.metrics.reading import read_inputs
from fairrec.metrics.tolerance import parse_tolerance, refuse_unfit_to
from fairrec.result.tables import RESERVED
from fairrec.scoring.options import THE_TABLE, ScorerOptions
from fairrec.scoring.runs import Run, ScoreByRun
from fairrec.search.options import SearchOptions
from fairrec.search.searcher import SEARCHERS

if TYPE_CHECKING:
    from fairrec.counts.table import Counts
    from fairrec.result.audit_result import AuditResult
    from fairrec.scoring.model import Model, ScoringFunction

NAMELESS = AboutOptions()


@errors_of_libraries()
@follows_plan
@documented(AuditOptions, TableOptions, CountsOptions, ScorerOptions, AboutOptions, EngineOptions)
def audit(
    predictions: Any = None,
    *,
    test: Any = None,
    values: Any = None,
    users: Any = None,
    side: Side = TableOptions.side,
    unit: UnitColumn = TableOptions.unit,
    by: Sequence[str] | str = (),
    given: Sequence[str] | str = (),
    items: Any = None,
    history: Any = None,
    against_lists: Any = None,
    metrics: Sequence[str] | str | None = None,
    columns: Mapping[str, str] | str | None = None,
    relevant: Relevant | str = None,
    gain: Gain = None,
    missing_lists: MissingLists = TableOptions.missing_lists,
    better: Mapping[str, str] | str | None = None,
    counts: CountsFiles | Counts = CountsOptions.counts,
    disjoint: Disjoint = CountsOptions.disjoint,
    depth: Depth = AuditOptions.depth,
    min_support: MinSupport | str = AuditOptions.min_support,
    permutations: Permutations = AuditOptions.permutations,
    alpha: Alpha = AuditOptions.alpha,
    tolerance: Tolerance | float | str | Mapping[str, float | str] = AuditOptions.tolerance,
    max_undefined: MaxUndefined = AuditOptions.max_undefined,
    seed: Seed = AuditOptions.seed,
    threads: Threads = AuditOptions.threads,
    max_memory: MaxMemory = AuditOptions.max_memory,
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
    engine: EngineName = EngineOptions.engine,
    address: Address = EngineOptions.address,
    workers: Workers = EngineOptions.workers,
    scratch: Scratch = EngineOptions.scratch,
    progress: Progress | None = None,
    command: str | None = None,
) -> AuditResult:
    """Which user groups are served best and worst, by how much, and whether it is chance.

    Tables are paths (Parquet, CSV, Arrow) or Polars, pandas or Arrow tables.

    Parameters
    ----------
    predictions : recommendations with `test`: `user_id, item_id` and `score` or `rank`, one row
        each. Or scored candidates: `user_id, item_id, score, label`, one row per candidate. Either
        also as one row per user with lists
    test, relevant, gain, missing_lists, values, better : see TableOptions
    users, items, history, against_lists, columns, side, unit : see TableOptions
    by, given, metrics : see TableOptions
    counts, disjoint : see CountsOptions; also what `fairrec.count` gives
    depth, min_support, permutations, alpha, tolerance : see AuditOptions
    max_undefined, seed, threads, max_memory, top : see AuditOptions
    search : score users as a searcher asks for them, such as "adaptive", or with a budget
        `SearchOptions("adaptive", budget_users="10%")`; None takes all scores of the table
    scorer, scorer_identity : see ScorerOptions
    title, model_name, model_version, author : see AboutOptions
    plan : a file that `fairrec.plan` froze. Its options hold where no other value is given; the
        result lists what differs from it
    settings : a settings file, such as `fairrec.toml`; what is given or planned holds before it
    engine, address, workers, scratch : see EngineOptions
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
    call, started = locals(), time.perf_counter()
    options, about = AuditOptions.among(call), AboutOptions.among(call)
    tables, where = TableOptions.among(call), EngineOptions.among(call)
    asked = ScorerOptions(scorer, scorer_identity)
    how = _search_options(search, scorer)
    progress = progress or (lambda stage, done, total: None)
    progress("reading", 0, 0)
    if tables.side != "users":
        from fairrec.auditing.items import audit_items, refuse_for_items

        beside = {"counts": counts, "scorer": scorer, "search": search, "engine": where.engine}
        refuse_for_items(predictions, **beside)
        return audit_items(predictions, tables, options, progress, command=command, about=about)
    if sources := CountsOptions.of(counts=counts, disjoint=disjoint).counts:
        from fairrec.auditing.counted import audit_counts, refuse_beside

        refuse_beside(predictions, tables, search=search, scorer=scorer)
        return audit_counts(
            sources,
            options,
            progress,
            asked=tables,
            disjoint=disjoint,
            where=where,
            command=command,
            about=about,
        )
    if values is not None and (scorer is not None or how is not None):
        raise InputError(
            f"{spelled('values')} are measured already: nothing is left to score or to search. "
            f"Leave out {spelled('scorer') if scorer is not None else spelled('search')}."
        )
    run = predictions if isinstance(predictions, Run) else None
    if where.engine != "local":
        refuse_engine(how, scorer, tables.against_lists)
        if run is not None:
            # each worker loads the model, and scores the candidates of its parts
            predictions, scorer = run.file, ScoreByRun(run.folder)
    is_cut = where.engine != "local" or (
        is_large(predictions, tables, most_rows(options.max_memory))
        and not has_pooled(tables.metrics)
    )
    if is_cut and is_of_everyone(how, scorer):
        from fairrec.auditing.counted import audit_in_parts
        from fairrec.auditing.search import as_model
        from fairrec.counts.levels import LevelsError

        try:
            return audit_in_parts(
                predictions,
                tables,
                options,
                where,
                progress,
                model=as_model(scorer),
                scored=said_of_scores(how, asked.scorer),
                reserved=(*RESERVED, *RESERVED_NAMES),
                command=command,
                about=about,
            )
        except LevelsError:
            # nobody has said where to cut a metric; here it need not be, if all is read at once
            if where.engine != "local":
                raise
    # all that comes after reading is loaded meanwhile
    start_in_background(_load_the_rest)
    # a run scores its candidates by itself, once they are read
    inputs, wanted = read_inputs(
        predictions if run is None else run.candidates(),
        **vars(tables),
        has_scores=scorer is None and run is None,
        wants=("history",) if how is not None and SEARCHERS[how.name].uses_proxy else (),
        reserved=RESERVED,
        max_memory=options.max_memory,
    )
    from fairrec.auditing.named_result import named_result, strata_of
    from fairrec.auditing.search import measure_by_search
    from fairrec.statistics.analyse import analyse

    if inputs.circumstances and how is not None:
        _refuse_search(how)
    options = replace(options, tolerance=parse_tolerance(options.tolerance, wanted))
    grouping = grouping_of(inputs.attributes, options, n_metrics=len(wanted))
    if run is not None:
        progress("scoring", 0, 0)
        inputs = run.scored(inputs, progress)
    measured, searched = (
        (_measure_everyone(inputs, wanted, options, progress), None)
        if how is None
        else measure_by_search(inputs, wanted, grouping, how, asked, options, progress)
    )
    refuse_unfit_to(options.tolerance, measured)
    analysis = analyse(measured, grouping, options, progress, strata_of(inputs))
    return named_result(
        analysis,
        inputs,
        progress,
        searched=searched,
        wanted=wanted,
        command=command or _as_call(inputs, wanted, options, how, asked, about),
        about=about,
        started=started,
    )


def _load_the_rest() -> None:
    """What comes after reading, in the order in which it is needed."""
    make_ready()
    import_module("fairrec.auditing.named_result")


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
    from fairrec.auditing.named_result import named_result, strata_of
    from fairrec.statistics.analyse import analyse

    started = time.perf_counter()
    grouping = grouping_of(inputs.attributes, options, n_metrics=len(wanted))
    measured = _measure_everyone(inputs, wanted, options, progress)
    refuse_unfit_to(options.tolerance, measured)
    analysis = analyse(measured, grouping, options, progress, strata_of(inputs))
    return named_result(
        analysis,
        inputs,
        progress,
        wanted=wanted,
        command=command or _as_call(inputs, wanted, options, about=about),
        about=about,
        started=started,
    )


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
    is_limited = (how.budget_users, how.budget_seconds) != (None, None)
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
    said = said_of_tables(inputs.given, [metric.name for metric in wanted])
    return audit_call(said, options, about, said_of_scores(how, asked.scorer))


def is_of_everyone(how: SearchOptions | None, scorer: ScoringFunction | Model | None) -> bool:
    """Whether every user is scored, by nobody who has to be paid."""
    if how is None:
        return not _is_endpoint(scorer)
    return scorer is not None and how == SearchOptions("exact") and not _is_endpoint(scorer)


def has_pooled(metrics: Sequence[str] | None) -> bool:
    """Whether a metric is asked for that is no mean over users, and so not told by counts."""
    known = [name.lower() for name in metrics or ()]
    return any(METRICS[name].pooled for name in known if name in METRICS)


def _is_endpoint(scorer: ScoringFunction | Model | None) -> bool:
    if scorer is None:
        return False
    from fairrec.scoring.endpoint import Endpoint

    return isinstance(scorer, Endpoint)


def refuse_engine(
    how: SearchOptions | None,
    scorer: ScoringFunction | Model | None,
    against_lists: object = None,
) -> None:
    """An error where workers would have nothing to do, or would all call one endpoint."""
    if _is_endpoint(scorer):
        raise InputError(
            "An endpoint is asked by one process, which keeps what was paid for. Leave out "
            f"{spelled('engine')}."
        )
    if against_lists is not None:
        raise InputError(
            "Two lists of each user are compared in one process. Leave out "
            f"{spelled('engine')} or {spelled('against_lists')}."
        )
    if not is_of_everyone(how, scorer):
        raise InputError(
            "A search scores few users, one batch after the other, so workers have nothing to do. "
            f"Leave out {spelled('engine')} or {spelled('search')}."
        )
