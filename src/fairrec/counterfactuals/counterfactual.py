"""The conductor of a counterfactual: the same people with another attribute, or another model."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fairrec.auditing.audit import audit_inputs
from fairrec.auditing.call_repr import audit_call, said_of_tables
from fairrec.auditing.options import (
    Attribute,
    BudgetUsers,
    CounterfactualOptions,
    LedgerFile,
    Margin,
    OtherModel,
    Reference,
)
from fairrec.comparison.parts import RESERVED
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
from fairrec.core.options import changed, declared, documented, spelled, told_path
from fairrec.core.progress import Progress
from fairrec.counterfactuals.changes import (
    Changes,
    counterfactual_summary,
    measure_changes,
    with_affected,
)
from fairrec.counterfactuals.ledgers import Asked, asked_about
from fairrec.counterfactuals.result import CounterfactualResult, CounterfactualSummary
from fairrec.counterfactuals.words import headline, notes
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.side import SideData
from fairrec.inputs.table_options import Gain, MissingLists, Relevant, TableOptions
from fairrec.inputs.tables import Table
from fairrec.metrics.reading import read_inputs
from fairrec.metrics.tolerance import parse_tolerance
from fairrec.metrics.value_columns import is_of_both
from fairrec.report.words import plural
from fairrec.scoring.features import refuse_unseen
from fairrec.scoring.model import FunctionModel, Model
from fairrec.scoring.options import ScorerOptions
from fairrec.search.options import users_allowed

if TYPE_CHECKING:
    from fairrec.result.audit_result import AuditResult
    from fairrec.scoring.model import ScoringFunction


@errors_of_libraries()
@documented(AuditOptions, TableOptions, ScorerOptions, AboutOptions, CounterfactualOptions)
def counterfactual(
    predictions: Any = None,
    *,
    run: str | Path | None = None,
    attribute: Attribute = CounterfactualOptions.attribute,
    reference: Reference = CounterfactualOptions.reference,
    other_model: OtherModel = CounterfactualOptions.other_model,
    scorer: ScoringFunction | Model | None = None,
    scorer_identity: str = "",
    features: Sequence[str] | str | None = None,
    budget_users: BudgetUsers = CounterfactualOptions.budget_users,
    margin: Margin = CounterfactualOptions.margin,
    ledger: LedgerFile = CounterfactualOptions.ledger,
    test: Any = None,
    users: Any = None,
    by: Sequence[str] | str = (),
    given: Sequence[str] | str = (),
    items: Any = None,
    history: Any = None,
    metrics: Sequence[str] | str | None = None,
    columns: Mapping[str, str] | str | None = None,
    relevant: Relevant | str = None,
    gain: Gain = None,
    missing_lists: MissingLists = TableOptions.missing_lists,
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
    title: Title = AboutOptions.title,
    model_name: ModelName = AboutOptions.model_name,
    model_version: ModelVersion = AboutOptions.model_version,
    author: Author = AboutOptions.author,
    progress: Progress | None = None,
    command: str | None = None,
) -> CounterfactualResult:
    """What changes for users if an attribute alone were another, and for whom most.

    Every user's candidates are scored as they are and with the attribute changed, all else equal.
    What changes is a value of each user, and these values are audited as any others are.

    Parameters
    ----------
    predictions : candidates, `user_id, item_id` and perhaps `label`; scores are not looked at
    run : a folder of a trained run instead: it has candidates, users and a model
    attribute, reference, other_model, budget_users, margin, ledger : see CounterfactualOptions
    scorer, scorer_identity : see ScorerOptions
    features : columns that a function is given beside the ids, such as "users:gender"
    test, relevant, gain, missing_lists, users, items, history, columns : see TableOptions
    by, given, metrics : see TableOptions; of metrics of two lists (changed, affected, rbo, tau) the
        value is taken, of any other its change
    depth, min_support, permutations, alpha, tolerance : see AuditOptions
    max_undefined, seed, threads, max_memory, top : see AuditOptions
    title, model_name, model_version, author : see AboutOptions
    progress : called with stage, steps done and steps in all
    command : how to run this again, kept in the result

    Examples
    --------
    >>> import fairrec, numpy as np, polars as pl
    >>> users = pl.DataFrame({"user_id": range(40), "gender": ["F", "M"] * 20})
    >>> lists = pl.DataFrame({"user_id": range(40), "item_id": [[1, 2, 3]] * 40})
    >>> def score(user_ids, item_ids, gender):
    ...     return np.where(gender == "F", item_ids, -item_ids)
    >>> found = fairrec.counterfactual(
    ...     lists, users=users, by="gender", scorer=score, features="users:gender",
    ...     attribute="gender", metrics="changed@1", permutations=0)
    >>> found.summary.affected.share
    1.0
    """
    call, started = locals(), time.perf_counter()
    options, about = AuditOptions.among(call), AboutOptions.among(call)
    plan = CounterfactualOptions.among(call)
    progress = progress or (lambda stage, done, total: None)
    progress("reading", 0, 0)
    named = {name: call[name] for name in declared(TableOptions) if name in call}
    asked_for = TableOptions.of(**named)
    model, predictions, named = _model_and_tables(predictions, run, scorer, features, named)
    if plan.attribute:
        users_table = named.get("users")
        refuse_unseen(
            model,
            plan.attribute,
            None if users_table is None else Table(users_table, "users", asked_for.columns or {}),
        )
    inputs, wanted = read_inputs(
        predictions,
        **named,
        has_scores=False,
        reserved=RESERVED,
        max_memory=options.max_memory,
        to_come=("against_lists",),
    )
    # for whoever takes some of the users; the model will say
    inputs = inputs.with_scores(np.zeros(len(inputs.candidates.items)))
    wanted = with_affected(wanted)
    names = [metric.name for metric in wanted]
    command = command or _as_call(asked_for, names, run, features, plan, options, about)
    with asked_about(inputs, plan, model, scorer_identity, progress) as asked:
        most = users_allowed(plan.budget_users, inputs.n_users)
        users_asked = asked.in_random_order(options.seed)[:most]
        found = measure_changes(asked, wanted, users_asked, plan.margin, options)
        as_is = _audit_as_is(asked, found, options, about, progress)
    summary = counterfactual_summary(asked, found, as_is, plan, options, command)
    audited = _audit_changes(inputs, found, summary, options, about, progress, command)
    assert audited.run is not None, "an audit that has just been made"
    seconds = round(time.perf_counter() - started, 3)
    audited = replace(audited, run=audited.run.model_copy(update={"seconds": seconds}))
    result = CounterfactualResult(summary, audited)
    return result if run is None else result.of_run(Path(run))


def _model_and_tables(
    predictions: Any,
    run: str | Path | None,
    scorer: ScoringFunction | Model | None,
    features: Sequence[str] | str | None,
    named: Mapping[str, Any],
) -> tuple[Model, Any, dict[str, Any]]:
    """The model to ask, the candidates, and the other tables: those of a run, or as given."""
    if run is not None:
        if predictions is not None or scorer is not None:
            raise InputError("A run has its own candidates and model. Name it alone, or a table.")
        from fairrec.scoring.runs import load_run

        loaded = load_run(Path(run))
        given = {name: one for name, one in named.items() if one is not None and one != ()}
        return loaded.model(), loaded.candidates(), {**named, **loaded.tables(), **given}
    if scorer is None:
        raise InputError(
            "A counterfactual asks a model twice, so there has to be one. Name a run, or "
            f"candidates and a model: {spelled('scorer')}"
        )
    if not isinstance(scorer, Model):
        scorer = FunctionModel(scorer, features=features)
    elif features is not None:
        raise InputError(f"{spelled('features')} of a model are said where it is made.")
    return scorer, predictions, dict(named)


def _audit_as_is(
    asked: Asked, found: Changes, options: AuditOptions, about: AboutOptions, progress: Progress
) -> AuditResult | None:
    """The audit of the same users as they are, by the metrics of one list."""
    metrics = [metric for metric in found.metrics if not is_of_both(metric)]
    if not metrics:
        return None
    users = np.sort(asked.inputs.user_of_list[found.lists])
    scores = asked.as_is.pay_for(asked.inputs.list_of_user[users])
    inputs = asked.inputs.for_users(users).with_scores(scores)
    if len(users) < asked.inputs.n_users:
        # beside some of the users, all who have no candidates would seem more than they are
        inputs = replace(inputs, absent=inputs.absent[:0], unseen=inputs.unseen[:0])
    # how much of a change matters says nothing of the metric itself
    options = replace(options, tolerance=None)
    return audit_inputs(inputs, metrics, options, progress, about=about)


def _audit_changes(
    inputs: AuditInputs,
    found: Changes,
    summary: CounterfactualSummary,
    options: AuditOptions,
    about: AboutOptions,
    progress: Progress,
    command: str,
) -> AuditResult:
    """The audit of what changes for each user, as of any values per user."""
    users = np.sort(inputs.user_of_list[found.lists])
    at = np.searchsorted(found.lists, inputs.list_of_user[users])
    wanted = found.changes
    values = {metric.name: row[at] for metric, row in zip(wanted, found.values, strict=True)}
    mine = inputs.for_users(users)
    no_lists = mine.candidates.take(np.empty(0, dtype=np.int64), np.empty(0))
    offsets = np.zeros(len(users) + 1, dtype=np.int64)
    frame = pl.DataFrame({"user_id": mine.user_ids, **values})
    audited = replace(
        mine,
        candidates=replace(no_lists, offsets=offsets, labels=None, held_out=None),
        side=SideData(values=values),
        is_expected=np.ones(len(users), dtype=bool),
        # nobody could be asked about them, whatever was drawn: they are told, not tested
        absent=inputs.absent[:0],
        unseen=inputs.unseen[:0],
        tables={**inputs.tables, "values": Table(frame, "values")},
        notes=(*notes(summary), *_without_candidates(inputs), *inputs.notes, *inputs.side.notes),
    )
    options = replace(options, tolerance=parse_tolerance(options.tolerance, wanted))
    # a page that is passed on has to say first that its groups are those of a counterfactual
    about = replace(about, title=about.title or headline(summary))
    return audit_inputs(audited, wanted, options, progress, command=command, about=about)


def _without_candidates(inputs: AuditInputs) -> tuple[str, ...]:
    n = len(inputs.absent) + len(inputs.unseen) + int(inputs.is_without_list.sum())
    if not n:
        return ()
    return (f"{plural(n, 'user')} of the users table have no candidates and are not asked about",)


def _as_call(
    tables: TableOptions,
    metrics: Sequence[str],
    run: str | Path | None,
    features: Sequence[str] | str | None,
    plan: CounterfactualOptions,
    options: AuditOptions,
    about: AboutOptions,
) -> str:
    """The call that repeats a counterfactual made from Python."""
    said, given = said_of_tables(tables, metrics), changed(plan)
    # models go by their names, as tables do
    if run is None:
        said.append("scorer=scorer")
    else:
        # it stands for candidates and model
        said[0] = f"run={told_path(run)!r}"
    if features is not None:
        said.append(f"features={features!r}")
    if given.pop("other_model", None) is not None:
        said.append("other_model=other_model")
    if plan.ledger is not None:
        given["ledger"] = told_path(plan.ledger)
    said += [f"{name}={value!r}" for name, value in given.items()]
    return audit_call(said, options, about, function="counterfactual")
