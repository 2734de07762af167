"""The conductor of a counterfactual: the same users with another value of an attribute."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from fairrec.auditing.audit import audit_inputs
from fairrec.auditing.call_repr import Variable, describe_tables, write_call
from fairrec.core.audit_options import RAY, About, AuditOptions, Engine, Statistics
from fairrec.core.errors import InputError
from fairrec.core.options import (
    documented,
    expand,
    list_changed,
    public_function,
    select,
    spell,
)
from fairrec.core.redact_paths import redact_path
from fairrec.core.tolerance import Tolerance
from fairrec.counterfactuals.changes import (
    Changes,
    build_summary,
    measure_changes,
    with_affected,
)
from fairrec.counterfactuals.ledgers import ScoredValues, open_ledgers, refuse_unseen
from fairrec.counterfactuals.options import CounterfactualOptions, Sample
from fairrec.counterfactuals.result import CounterfactualResult, CounterfactualSummary
from fairrec.counterfactuals.words import headline, notes
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.side_data import SideData
from fairrec.inputs.table_options import NOT_OF_CANDIDATES, TableOptions, Tables
from fairrec.inputs.tables import Table
from fairrec.metrics.reading import read_inputs
from fairrec.metrics.tolerance import parse_tolerance
from fairrec.metrics.value_columns import is_of_both
from fairrec.report.words import plural
from fairrec.result.tables import RESERVED
from fairrec.scoring.model import FunctionModel, Model
from fairrec.search.options import users_allowed

if TYPE_CHECKING:
    from fairrec.report.audit_result import AuditResult
    from fairrec.scoring.model import ScoringFunction


@public_function
@documented(AuditOptions, TableOptions, CounterfactualOptions)
def counterfactual(
    predictions: Any = None,
    *,
    run: str | Path | None = None,
    attribute: Sequence[str] | str = (),
    reference: Mapping[str, Any] | str | None = None,
    scorer: ScoringFunction | Model | None = None,
    test: Any = None,
    users: Any = None,
    items: Any = None,
    history: Any = None,
    by: Sequence[str] | str = (),
    metrics: Sequence[str] | str | None = None,
    tolerance: Tolerance | float | str | Mapping[str, float | str] | None = None,
    adjust_for: Sequence[str] | str = (),
    depth: int | Literal["full"] = 3,
    min_support: float | str | None = None,
    seed: int = 0,
    sample: Sample | None = None,
    statistics: Statistics | None = None,
    tables: Tables | None = None,
    engine: Engine | None = None,
    about: About | None = None,
) -> CounterfactualResult:
    """What changes for users if an attribute alone were another, and for which groups most.

    Every user's candidates are scored as they are and with the attribute changed, all else equal.
    What changes is a value of each user, and these values are audited as any others are.

    Parameters
    ----------
    predictions : candidates, `user_id, item_id` and perhaps `label`; scores are not looked at
    run : a folder of a trained run instead: it has candidates, users and a model
    attribute, reference : see CounterfactualOptions
    scorer : `(user_ids, item_ids, *features) -> scores`, or a model
    test, users, items, history, by, adjust_for : see TableOptions
    metrics : see TableOptions; of metrics of two lists (changed, affected, rbo) the
        value is taken, of any other its change
    depth, min_support, tolerance, seed : see AuditOptions
    sample : for how many users, and what the model is given, `Sample(budget_users="10%")`
    statistics : how groups are tested, `Statistics(permutations=200)`
    tables : which columns and rows of the tables are used, `Tables(columns="user_id=uid")`
    engine : how the work is done, `Engine(threads=2)`
    about : what the audit is called, `About(title="Spring")`

    Examples
    --------
    >>> import fairrec, numpy as np, polars as pl
    >>> users = pl.DataFrame({"user_id": range(40), "gender": ["F", "M"] * 20})
    >>> lists = pl.DataFrame({"user_id": range(40), "item_id": [[1, 2, 3]] * 40})
    >>> def score(user_ids, item_ids, gender):
    ...     return np.where(gender == "F", item_ids, -item_ids)
    >>> found = fairrec.counterfactual(
    ...     lists, users=users, by="gender", scorer=score, attribute="gender",
    ...     metrics="changed@1", sample=fairrec.Sample(features="users:gender"),
    ...     statistics=fairrec.Statistics(permutations=0))
    >>> found.summary.affected.share
    1.0
    """
    call = locals()
    return run_counterfactual(
        predictions,
        CounterfactualOptions(**expand(Sample, sample), **select(CounterfactualOptions, call)),
        TableOptions(
            **expand(Tables, tables, without=NOT_OF_CANDIDATES), **select(TableOptions, call)
        ),
        AuditOptions(
            **expand(Statistics, statistics),
            **select(AuditOptions, call),
            engine=Engine(**expand(Engine, engine, without=RAY)),
        ),
        About(**expand(About, about, without=("settings",))),
        run=run,
        scorer=scorer,
    )


def run_counterfactual(
    predictions: Any,
    plan: CounterfactualOptions,
    tables: TableOptions,
    options: AuditOptions,
    about: About,
    *,
    run: str | Path | None = None,
    scorer: ScoringFunction | Model | None = None,
) -> CounterfactualResult:
    """The counterfactual with these options."""
    started, progress, command = time.perf_counter(), options.engine.report, about.command
    progress("reading", 0, 0)
    model, predictions, named = _model_and_tables(predictions, run, scorer, plan.features, tables)
    refuse_unseen(model, plan.attribute)
    inputs, wanted = read_inputs(
        predictions,
        named,
        has_scores=False,
        reserved=RESERVED,
        max_memory=options.max_memory,
        to_come=("against_lists",),
    )
    # until the model has scored them
    inputs = inputs.with_scores(np.zeros(len(inputs.candidates.items)))
    wanted = with_affected(wanted)
    names = [metric.name for metric in wanted]
    command = command or _as_call(tables, names, run, plan, options, about)
    with open_ledgers(inputs, plan, model, progress) as scored:
        sample = scored.draw(options.seed, users_allowed(plan.budget_users, inputs.n_users))
        found = measure_changes(scored, wanted, sample, options.n_threads)
        as_is = _audit_as_is(scored, found, options, about)
    summary = build_summary(scored, found, as_is, plan, options, command)
    audited = _audit_changes(inputs, found, summary, options, about, command)
    assert audited.run is not None, "an audit that has just been made"
    seconds = round(time.perf_counter() - started, 3)
    audited = replace(audited, run=audited.run.model_copy(update={"seconds": seconds}))
    result = CounterfactualResult(summary, audited)
    return result if run is None else result.of_run(Path(run))


def _model_and_tables(
    predictions: Any,
    run: str | Path | None,
    scorer: ScoringFunction | Model | None,
    features: Any,
    tables: TableOptions,
) -> tuple[Model, Any, TableOptions]:
    """The model, the candidates and the other tables: those of a run, or as given."""
    if run is not None:
        if predictions is not None or scorer is not None:
            raise InputError("A run has its own candidates and model. Name it alone, or a table.")
        from fairrec.scoring.model import load_run

        loaded, known = load_run(Path(run)), expand(TableOptions, tables)
        given = {name: one for name, one in known.items() if one is not None and one != ()}
        tables = TableOptions(**{**known, **loaded.tables(), **given})
        return loaded.model(), loaded.candidates(), tables
    if scorer is None:
        raise InputError(
            "A counterfactual needs a model to score users again. Name a run, or candidates and a "
            f"model: {spell('scorer')}, an endpoint or an ONNX file."
        )
    if not isinstance(scorer, Model):
        scorer = FunctionModel(scorer, features=features)
    elif features is not None:
        raise InputError(f"{spell('features')} of a model are named where it is made.")
    return scorer, predictions, tables


def _audit_as_is(
    scored: ScoredValues, found: Changes, options: AuditOptions, about: About
) -> AuditResult | None:
    """The audit of the same users as they are, by the metrics of one list."""
    metrics = [metric for metric in found.metrics if not is_of_both(metric)]
    if not metrics:
        return None
    users = scored.inputs.user_of_list[found.lists]
    inputs = scored.inputs.for_users(users).with_scores(scored.as_is.pay_for(found.lists))
    if len(users) < scored.inputs.n_users:
        # users without candidates are those of all, and these are some
        inputs = replace(inputs, absent=inputs.absent[:0], unseen=inputs.unseen[:0])
    # the tolerance is for changes, not for the metric itself
    options = replace(options, tolerance=None)
    return audit_inputs(inputs, metrics, options, about)


def _audit_changes(
    inputs: AuditInputs,
    found: Changes,
    summary: CounterfactualSummary,
    options: AuditOptions,
    about: About,
    command: str,
) -> AuditResult:
    """The audit of what changes for each user, as of any values per user."""
    mine, wanted = inputs.for_users(inputs.user_of_list[found.lists]), found.changes
    values = {metric.name: row for metric, row in zip(wanted, found.values, strict=True)}
    no_lists = mine.candidates.take(np.empty(0, dtype=np.int64), np.empty(0))
    offsets = np.zeros(mine.n_users + 1, dtype=np.int64)
    frame = pl.DataFrame({"user_id": mine.user_ids, **values})
    remarks = [*notes(summary)]
    if n := len(inputs.absent) + len(inputs.unseen) + int(inputs.is_without_list.sum()):
        remarks.append(
            f"{plural(n, 'user')} of the users table have no candidates and are left out"
        )
    audited = replace(
        mine,
        candidates=replace(no_lists, offsets=offsets, labels=None, held_out=None),
        side=SideData(values=values),
        is_expected=np.ones(mine.n_users, dtype=bool),
        # they cannot be scored: counted in a note, not tested
        absent=inputs.absent[:0],
        unseen=inputs.unseen[:0],
        tables={**inputs.tables, "values": Table(frame, "values")},
        notes=(*remarks, *inputs.all_notes),
    )
    options = replace(options, tolerance=parse_tolerance(options.tolerance, wanted))
    # the title names the counterfactual, wherever the page goes
    about = replace(
        about, title=about.title or headline(summary).removesuffix("."), command=command
    )
    return audit_inputs(audited, wanted, options, about)


def _as_call(
    tables: TableOptions,
    metrics: Sequence[str],
    run: str | Path | None,
    plan: CounterfactualOptions,
    options: AuditOptions,
    about: About,
) -> str:
    """The call that repeats a counterfactual made from Python."""
    given = {**describe_tables(tables, metrics), **list_changed(plan)}
    # models go by their names, as tables do
    if run is None:
        given["scorer"] = Variable("scorer")
    else:
        # it stands for candidates and model
        del given["predictions"]
        given["run"] = redact_path(run)
    if plan.ledger is not None:
        given["ledger"] = redact_path(plan.ledger)
    return write_call(given, options, about, function="counterfactual")
