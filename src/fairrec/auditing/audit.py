"""The conductor: one audit from tables to result, in the order the data flows."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fairrec.auditing.call_repr import describe_scoring, describe_tables
from fairrec.auditing.choices import follows_plan
from fairrec.auditing.measurement import Measurement, Request, build_strata
from fairrec.core.audit_options import About, AuditOptions, Engine, Statistics
from fairrec.core.errors import InputError
from fairrec.core.kernels import make_ready
from fairrec.core.options import documented, expand, invalid, public_function, select, spell
from fairrec.core.threads import start_in_background
from fairrec.core.tolerance import Tolerance
from fairrec.groups.grouping import build_grouping
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.partition import is_large, most_rows
from fairrec.inputs.table_options import TableOptions, Tables
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import measure_everyone, refuse_undefined
from fairrec.metrics.reading import read_inputs
from fairrec.metrics.tolerance import parse_tolerance
from fairrec.result.tables import RESERVED
from fairrec.scoring.model import Model, Run
from fairrec.search.options import Search
from fairrec.search.searcher import SEARCHERS
from fairrec.statistics.analysis import analyse

if TYPE_CHECKING:
    from fairrec.report.audit_result import AuditResult
    from fairrec.scoring.model import ScoringFunction

NAMELESS = About()


@public_function
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
    """The audit with these options: read, measure, analyse, summarise."""
    started, how = time.perf_counter(), _search_options(search, scorer)
    with ExitStack() as closing:
        found = measure(Request(predictions, tables, options, scorer, how, closing))
        return conclude(found, about, started)


def audit_inputs(
    inputs: AuditInputs,
    wanted: Sequence[MetricAtK],
    options: AuditOptions,
    about: About = NAMELESS,
) -> AuditResult:
    """An audit of tables that are read already and hold all scores."""
    started = time.perf_counter()
    return conclude(measure_inputs(inputs, wanted, options), about, started)


def conclude(found: Measurement, about: About, started: float) -> AuditResult:
    """The result of what was measured."""
    # loaded meanwhile, as it takes a while
    from fairrec.auditing.build_result import build_result

    analysis = analyse(
        *(found.measured, found.grouping, found.options, found.options.engine.report),
        *(found.strata, found.executor, found.blocks),
    )
    return build_result(found, analysis, about, started)


def measure(given: Request) -> Measurement:
    """Read and measure items, counts, tables in parts, or tables as a whole."""
    tables, scorer, search = given.tables, given.scorer, given.search
    engine = given.options.engine
    engine.report("reading")
    if tables.side != "users":
        from fairrec.auditing.items import measure_items

        return measure_items(given)
    if tables.counts:
        from fairrec.auditing.counts_audit import measure_counts

        return measure_counts(given)
    if tables.values is not None and (scorer is not None or search is not None):
        raise InputError(
            f"{spell('values')} are measured already: nothing is left to score or to search. "
            f"Leave out {spell('scorer') if scorer is not None else spell('search')}."
        )
    is_local = engine.engine == "local"
    if not is_local:
        refuse_engine(search, scorer, tables.against_lists)
    is_cut = not is_local or is_large(given.predictions, tables, most_rows(engine.max_memory))
    if is_cut and is_of_everyone(search, scorer):
        from fairrec.auditing.counts_audit import measure_parts
        from fairrec.counts.levels import LevelsError

        try:
            return measure_parts(given)
        except LevelsError:
            # without levels a metric cannot be counted in parts; read whole, it needs none
            if not is_local:
                raise
    inputs, wanted = _read_users(given)
    run = given.predictions if isinstance(given.predictions, Run) else None
    return measure_inputs(inputs, wanted, given.options, search, scorer, run)


def _read_users(given: Request) -> tuple[AuditInputs, Sequence[MetricAtK]]:
    """All tables, and the metrics; a run scores its candidates by itself."""
    # all that comes after reading is loaded meanwhile
    start_in_background(_load_the_rest)
    predictions, search = given.predictions, given.search
    run = predictions if isinstance(predictions, Run) else None
    inputs, wanted = read_inputs(
        predictions if run is None else run.candidates(),
        given.tables,
        has_scores=given.scorer is None and run is None,
        wants=("history",) if search is not None and SEARCHERS[search.name].uses_proxy else (),
        reserved=RESERVED,
        max_memory=given.options.max_memory,
    )
    has_budget = search is not None and (search.budget_users, search.budget_seconds) != (None, None)
    if inputs.covariates and search is not None and (search.name != "exact" or has_budget):
        raise InputError(
            f"{spell('adjust_for')} compares users with equal covariates, for which everyone has "
            f"to be scored. Leave it out, or search with {spell('search', 'exact')} and without "
            "a budget."
        )
    return inputs, wanted


def _load_the_rest() -> None:
    """What comes after reading, in the order in which it is needed."""
    make_ready()
    import_module("fairrec.auditing.build_result")


def measure_inputs(
    inputs: AuditInputs,
    wanted: Sequence[MetricAtK],
    options: AuditOptions,
    search: Search | None = None,
    scorer: ScoringFunction | Model | None = None,
    run: Run | None = None,
) -> Measurement:
    """The values of all users; a metric that is undefined for all of them is an error.

    Parameters
    ----------
    search : None where all scores are at hand, or a run gives them
    """
    progress = options.engine.report
    options = replace(options, tolerance=parse_tolerance(options.tolerance, wanted))
    grouping = build_grouping(inputs.attributes, options, n_metrics=len(wanted))
    if run is not None:
        progress("scoring")
        inputs = run.scored(inputs, progress)
    searched = None
    if search is None:
        measured = measure_everyone(inputs, wanted, options.n_threads, progress)
        refuse_undefined(measured, inputs.candidates)
    else:
        from fairrec.auditing.search import measure_by_search

        measured, searched = measure_by_search(inputs, wanted, grouping, search, scorer, options)
    names = [metric.name for metric in wanted]
    return Measurement(
        inputs,
        inputs.described,
        measured,
        grouping,
        {**describe_tables(inputs.given, names), **describe_scoring(search, scorer)},
        options,
        build_strata(inputs.covariates),
        searched,
    )


def _search_options(
    search: Search | str | None, scorer: ScoringFunction | Model | None
) -> Search | None:
    """None where all scores are at hand and all of them are wanted."""
    if not (scorer is None or callable(scorer) or isinstance(scorer, Model)):
        raise invalid("scorer", "a function of user ids and item ids, or a model", scorer)
    if search is None:
        return None if scorer is None else Search("exact")
    if isinstance(search, str):
        return Search(search)
    if not isinstance(search, Search):
        raise invalid("search", "a searcher's name or Search(...)", search)
    return search


def is_of_everyone(search: Search | None, scorer: ScoringFunction | Model | None) -> bool:
    """Whether every user is scored, without calls that cost."""
    if search is None:
        return True
    return scorer is not None and search == Search("exact") and not _is_endpoint(scorer)


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
