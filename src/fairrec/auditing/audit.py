"""The conductor: one audit from tables to result, in the order the data flows."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fairrec.auditing.call_repr import audit_call, describe_scoring, describe_tables, follows_plan
from fairrec.core.audit_options import About, AuditOptions, Engine, Statistics
from fairrec.core.errors import InputError, errors_of_libraries
from fairrec.core.kernels import make_ready
from fairrec.core.options import documented, expand, invalid, select, spell
from fairrec.core.progress import Progress
from fairrec.core.threads import start_in_background
from fairrec.core.tolerance import Tolerance
from fairrec.counts.options import RESERVED_NAMES
from fairrec.groups.grouping import build_grouping
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.memory_estimate import is_large, most_rows
from fairrec.inputs.table_options import TableOptions, Tables
from fairrec.metrics import METRICS, MetricAtK
from fairrec.metrics.measured import (
    Measured,
    measure_everyone,
    refuse_undefined,
)
from fairrec.metrics.reading import read_inputs
from fairrec.metrics.tolerance import parse_tolerance, refuse_unfit_to
from fairrec.result.tables import RESERVED
from fairrec.scoring.model import Run, ScoreByRun
from fairrec.search.options import Search
from fairrec.search.searcher import SEARCHERS

if TYPE_CHECKING:
    from fairrec.report.audit_result import AuditResult
    from fairrec.scoring.model import Model, ScoringFunction

NAMELESS = About()


@errors_of_libraries()
@follows_plan
@documented(AuditOptions, TableOptions)
def audit(
    predictions: Any = None,
    *,
    test: Any = None,
    values: Any = None,
    users: Any = None,
    items: Any = None,
    history: Any = None,
    counts: Any = (),
    by: Sequence[str] | str = (),
    metrics: Sequence[str] | str | None = None,
    tolerance: Tolerance | float | str | Mapping[str, float | str] | None = None,
    adjust_for: Sequence[str] | str = (),
    depth: int | Literal["full"] = 3,
    min_support: float | str | None = None,
    seed: int = 0,
    scorer: ScoringFunction | Model | None = None,
    search: Search | str | None = None,
    plan: str | Path | None = None,
    statistics: Statistics | None = None,
    tables: Tables | None = None,
    engine: Engine | None = None,
    about: About | None = None,
) -> AuditResult:
    """Which user groups are served best and worst, by how much, and whether it is chance.

    Tables are paths (Parquet, CSV, Arrow) or Polars, pandas or Arrow tables.

    Parameters
    ----------
    predictions : recommendations with `test`: `user_id, item_id` and `score` or `rank`, one row
        each. Or scored candidates: `user_id, item_id, score, label`, one row per candidate. Either
        also as one row per user with lists
    test, values, users, items, history : see TableOptions
    counts : see TableOptions
    by, metrics, adjust_for : see TableOptions
    depth, min_support, tolerance, seed : see AuditOptions
    scorer : `(user_ids, item_ids) -> scores`, one number per pair, where the predictions table has
        no scores; or a model, `Endpoint(...)` or `OnnxModel(...)`
    search : score users as a searcher asks for them, such as "adaptive", or with a budget
        `Search("adaptive", budget_users="10%")`; None takes all scores of the table
    plan : a file that `fairrec.plan` froze. Its options hold where no other value is given; the
        result lists what differs from it
    statistics : how groups are tested, `Statistics(permutations=200)`
    tables : which columns and rows of the tables are used, `Tables(columns="user_id=uid")`
    engine : how the work is done, `Engine(threads=2)`
    about : what the audit is called, `About(title="Spring")`, and where its options come from

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
    call = locals()
    return run_audit(
        predictions,
        TableOptions(**expand(Tables, tables), **select(TableOptions, call)),
        AuditOptions(
            **expand(Statistics, statistics),
            **select(AuditOptions, call),
            engine=Engine(**expand(Engine, engine)),
        ),
        About(**expand(About, about)),
        scorer=scorer,
        search=search,
    )


def run_audit(
    predictions: Any,
    tables: TableOptions,
    options: AuditOptions,
    about: About = NAMELESS,
    *,
    scorer: ScoringFunction | Model | None = None,
    search: Search | str | None = None,
) -> AuditResult:
    """The audit with these options."""
    started, command, where = time.perf_counter(), about.command, options.engine
    if not (scorer is None or callable(scorer) or is_model(scorer)):
        raise invalid("scorer", "a function of user ids and item ids, or a model", scorer)
    how = _search_options(search, scorer)
    progress = where.report
    progress("reading", 0, 0)
    if tables.side != "users":
        from fairrec.auditing.items import audit_items, refuse_for_items

        beside = {"counts": tables.counts, "scorer": scorer, "search": search}
        refuse_for_items(predictions, **beside, engine=where.engine)
        return audit_items(predictions, tables, options, progress, command=command, about=about)
    if tables.counts:
        from fairrec.auditing.counts_audit import audit_counts, refuse_beside

        refuse_beside(predictions, tables, search=search, scorer=scorer)
        return audit_counts(tables, options, about)
    if tables.values is not None and (scorer is not None or how is not None):
        raise InputError(
            f"{spell('values')} are measured already: nothing is left to score or to search. "
            f"Leave out {spell('scorer') if scorer is not None else spell('search')}."
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
        from fairrec.auditing.counts_audit import audit_in_parts
        from fairrec.auditing.search import as_model
        from fairrec.counts.levels import LevelsError

        try:
            return audit_in_parts(
                predictions,
                tables,
                options,
                about,
                model=as_model(scorer),
                scored=describe_scoring(how, scorer),
                reserved=(*RESERVED, *RESERVED_NAMES),
            )
        except LevelsError:
            # without levels a metric cannot be counted in parts; read whole, it needs none
            if where.engine != "local":
                raise
    # all that comes after reading is loaded meanwhile
    start_in_background(_load_the_rest)
    # a run scores its candidates by itself, once they are read
    inputs, wanted = read_inputs(
        predictions if run is None else run.candidates(),
        tables,
        has_scores=scorer is None and run is None,
        wants=("history",) if how is not None and SEARCHERS[how.name].uses_proxy else (),
        reserved=RESERVED,
        max_memory=options.max_memory,
    )
    from fairrec.auditing.build_result import build_strata, named_result
    from fairrec.auditing.search import measure_by_search
    from fairrec.statistics.analysis import analyse

    if inputs.circumstances and how is not None:
        _refuse_search(how)
    options = replace(options, tolerance=parse_tolerance(options.tolerance, wanted))
    grouping = build_grouping(inputs.attributes, options, n_metrics=len(wanted))
    if run is not None:
        progress("scoring", 0, 0)
        inputs = run.scored(inputs, progress)
    measured, searched = (
        (_measure_everyone(inputs, wanted, options, progress), None)
        if how is None
        else measure_by_search(inputs, wanted, grouping, how, scorer, options, progress)
    )
    refuse_unfit_to(options.tolerance, measured)
    analysis = analyse(measured, grouping, options, progress, build_strata(inputs))
    return named_result(
        analysis,
        inputs,
        progress,
        searched=searched,
        wanted=wanted,
        command=command or _as_call(inputs, wanted, options, how, scorer, about),
        about=about,
        started=started,
    )


def _load_the_rest() -> None:
    """What comes after reading, in the order in which it is needed."""
    make_ready()
    import_module("fairrec.auditing.build_result")


def audit_inputs(
    inputs: AuditInputs,
    wanted: Sequence[MetricAtK],
    options: AuditOptions,
    progress: Progress = lambda stage, done, total: None,
    *,
    command: str | None = None,
    about: About = NAMELESS,
) -> AuditResult:
    """An audit of tables that are read already and hold all scores."""
    from fairrec.auditing.build_result import build_strata, named_result
    from fairrec.statistics.analysis import analyse

    started = time.perf_counter()
    grouping = build_grouping(inputs.attributes, options, n_metrics=len(wanted))
    measured = _measure_everyone(inputs, wanted, options, progress)
    refuse_unfit_to(options.tolerance, measured)
    analysis = analyse(measured, grouping, options, progress, build_strata(inputs))
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


def _refuse_search(how: Search) -> None:
    """An error where not everyone would be scored, and circumstances are given."""
    is_limited = (how.budget_users, how.budget_seconds) != (None, None)
    if how.name != "exact" or is_limited:
        raise InputError(
            f"{spell('adjust_for')} compares users with equal covariates, for which everyone has "
            f"to be scored. Leave it out, or search with {spell('search', 'exact')} and without "
            "a budget."
        )


def _search_options(
    search: Search | str | None, scorer: ScoringFunction | Model | None
) -> Search | None:
    """None where all scores are at hand and all of them are wanted."""
    if search is None:
        return None if scorer is None else Search("exact")
    if isinstance(search, str):
        return Search(search)
    if not isinstance(search, Search):
        raise invalid("search", "a searcher's name or Search(...)", search)
    return search


def _as_call(
    inputs: AuditInputs,
    wanted: Sequence[MetricAtK],
    options: AuditOptions,
    how: Search | None = None,
    scorer: object = None,
    about: About = NAMELESS,
) -> str:
    """The call that repeats an audit made from Python."""
    said = describe_tables(inputs.given, [metric.name for metric in wanted])
    return audit_call(said, options, about, describe_scoring(how, scorer))


def is_of_everyone(how: Search | None, scorer: ScoringFunction | Model | None) -> bool:
    """Whether every user is scored, without calls that cost."""
    if how is None:
        return not _is_endpoint(scorer)
    return scorer is not None and how == Search("exact") and not _is_endpoint(scorer)


def has_pooled(metrics: Sequence[str] | None) -> bool:
    """Whether a metric is no mean over users, so that counts cannot give it."""
    known = [name.lower() for name in metrics or ()]
    return any(METRICS[name].pooled for name in known if name in METRICS)


def is_model(scorer: object) -> bool:
    """Whether it is a model that is asked in batches."""
    from fairrec.scoring.model import Model

    return isinstance(scorer, Model)


def _is_endpoint(scorer: ScoringFunction | Model | None) -> bool:
    if scorer is None:
        return False
    from fairrec.scoring.endpoint import Endpoint

    return isinstance(scorer, Endpoint)


def refuse_engine(
    how: Search | None,
    scorer: ScoringFunction | Model | None,
    against_lists: object = None,
) -> None:
    """An error where workers would have nothing to do, or would all call one endpoint."""
    if _is_endpoint(scorer):
        raise InputError(
            "An endpoint is asked by one process, which keeps what was paid for. Leave out "
            f"{spell('engine')}."
        )
    if against_lists is not None:
        raise InputError(
            "Two lists of each user are compared in one process. Leave out "
            f"{spell('engine')} or {spell('against_lists')}."
        )
    if not is_of_everyone(how, scorer):
        raise InputError(
            "A search scores few users, one batch after the other, so workers have nothing to do. "
            f"Leave out {spell('engine')} or {spell('search')}."
        )
