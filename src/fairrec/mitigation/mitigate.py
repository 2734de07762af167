"""The conductor of a mitigation: choose on some targets, re-rank, report on held-out ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from fairrec.auditing.audit import audit_inputs
from fairrec.core.arrays import finite_or_none
from fairrec.core.audit_options import RAY, About, AuditOptions, Engine, Statistics
from fairrec.core.errors import InputError, NothingToMitigateError, plain
from fairrec.core.options import documented, expand, public_function, select, spell
from fairrec.core.version import __version__
from fairrec.groups.group import Group, group_of_users, refuse_empty
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import AuditInputs, open_tables, read_tables
from fairrec.inputs.table_options import NOT_OF_CANDIDATES, TableOptions, Tables
from fairrec.mitigation.choosing import (
    Aim,
    Levels,
    Measures,
    TargetSplit,
    choose_groups,
    make_aim,
    measure_levels,
    metric_names,
    read_split,
    tune_strength,
)
from fairrec.mitigation.effect import BeforeAfter, build_summary
from fairrec.mitigation.options import MitigationOptions, ReportedMetrics, Validation
from fairrec.mitigation.reranker import RERANKERS, FittedReranker
from fairrec.mitigation.result import (
    MitigationResult,
    RerankerRecord,
    change_table,
    load_reranker,
    predictions_table,
)
from fairrec.report.audit_result import AuditResult
from fairrec.result.folder import table_places
from fairrec.result.schema import InputSummary
from fairrec.statistics.paired import group_changes


@public_function
@documented(
    AuditOptions,
    MitigationOptions,
    TableOptions,
    validation=Validation,
    metrics=ReportedMetrics,
)
def mitigate(
    predictions: Any,
    *,
    metric: str,
    users: Any,
    by: Sequence[str] | str,
    test: Any = None,
    items: Any = None,
    history: Any = None,
    validation: Any = None,
    groups: str | Path = "findings",
    reranker: str | None = None,
    strength: float | Literal["auto"] = "auto",
    max_loss: float = 0.02,
    metrics: Sequence[str] | str | None = None,
    depth: int | Literal["full"] = 3,
    min_support: float | str | None = None,
    seed: int = 0,
    statistics: Statistics | None = None,
    tables: Tables | None = None,
    engine: Engine | None = None,
    about: About | None = None,
) -> MitigationResult:
    """Re-rank the lists of badly served groups, and say what that did on held-out targets.

    Groups and strength are chosen on the validation targets and reported on those of
    `predictions`, which are held out; without validation targets, chosen on one half of the users
    and reported on the other.

    Parameters
    ----------
    predictions : as of an audit
    metric, groups, reranker, strength, max_loss : see MitigationOptions
    users, items, history, by, test : see TableOptions
    validation, metrics : as declared
    depth, min_support, seed : see AuditOptions
    statistics : how groups are tested, `Statistics(permutations=200)`
    tables : which columns and rows of the tables are used, `Tables(columns="user_id=uid")`
    engine : how the work is done, `Engine(threads=2)`
    about : what the audit is called, `About(title="Spring")`
    """
    call = locals()
    return run_mitigation(
        predictions,
        MitigationOptions(**select(MitigationOptions, call)),
        TableOptions(
            **expand(Tables, tables, without=NOT_OF_CANDIDATES), **select(TableOptions, call)
        ),
        AuditOptions(
            **expand(Statistics, statistics, without=("top", "max_undefined")),
            **select(AuditOptions, call),
            engine=Engine(**expand(Engine, engine, without=RAY)),
        ),
        About(**expand(About, about, without=("settings",))),
        validation,
    )


def run_mitigation(
    predictions: Any,
    plan: MitigationOptions,
    sources: TableOptions,
    options: AuditOptions,
    about: About,
    validation: Any = None,
) -> MitigationResult:
    """The mitigation with these options; its metrics are those to report."""
    started, progress = time.perf_counter(), options.engine.report
    progress("reading", 0, 0)
    metrics = metric_names(plan, sources, predictions, validation)
    sources = replace(sources, metrics=metrics)
    split = read_split(predictions, validation, sources, options.seed, options.max_memory)
    choosing, reported, everyone = split.choosing, split.reported, split.everyone
    measures = Measures.of(split.per_user_metrics, plan, options.n_threads)
    audit = partial(audit_inputs, wanted=split.metrics, options=options, about=about)

    progress("choosing", 0, 0)
    chosen_by = measures.values(choosing)
    choice = choose_groups(
        plan,
        split,
        chosen_by[measures.target],
        Grouping.of(choosing.attributes, replace(options, depth="full")),
        seed=options.seed,
        # of the target alone: other metrics do not choose, and would make it harder to find any
        find_groups=lambda: _find_groups(
            plan, options, partial(audit, choosing, wanted=(plan.target,))
        ),
    )
    chosen = group_of_users(choice.groups, choosing.attributes)
    aim = make_aim(plan.target, chosen_by[measures.target], chosen)

    progress("learning", 0, 0)
    name, rest = plan.reranker_name, _reranker_aim(plan, aim)
    fitted = FittedReranker(name, plan.k, rest, everyone, options.n_threads)

    progress("tuning the strength", 0, 0)
    tuners = choosing.for_users(np.flatnonzero(choice.is_tuned))
    groups = group_of_users(choice.tuned_groups, tuners.attributes)
    rescore = fitted.rescore(tuners, groups)

    def levels_at(strengths: Sequence[float]) -> Levels:
        measured = measures.at_strengths(rescore, tuners, strengths, progress)
        return measure_levels(measured, strengths, aim, groups)

    strength, levels = tune_strength(plan, aim, measures.cost_name, levels_at)
    record = RerankerRecord(
        fairrec_version=__version__,
        reranker=name,
        strength=strength,
        metric=plan.target.name,
        k=plan.k,
        by=tuple(everyone.given.by),
        groups=tuple(group.as_dict() for group in choice.groups),
        rest=rest,
    )

    progress("re-ranking", 0, 0)
    position = group_of_users(choice.groups, reported.attributes)
    reranked = reported.with_scores(fitted.rescore(reported, position)(strength))
    new_scores = fitted.rescore(everyone, group_of_users(choice.groups, everyone.attributes))

    progress("reporting", 0, 0)
    audits = [audit(inputs) for inputs in (reported, reranked)]
    seen = BeforeAfter(
        measures=measures,
        aim=aim,
        chosen=choice.groups,
        chosen_by=chosen_by,
        before=measures.values(reported),
        after=measures.values(reranked),
        position=position,
        choosers=choosing.attributes,
        users=reported.attributes,
        alpha=options.alpha,
    )
    changes = group_changes(
        measures.directions,
        seen.before,
        seen.after,
        Grouping.of(reported.attributes, options),
        options.alpha,
    )
    touched = reported.for_users(np.flatnonzero(position >= 0))
    again = fitted.rescore(touched, position[position >= 0])
    summary = build_summary(
        plan,
        options,
        split,
        record,
        seen,
        changes,
        audits=[result.metrics for result in audits],
        levels=levels,
        curve=measures.at_strengths(again, touched, [*levels], progress),
        n_tuned=tuners.n_users,
        command=about.command,
        leak=fitted.find_leak(everyone),
    )
    predictions = predictions_table(everyone, new_scores(strength))
    audited = _with_run(audits[1], split, time.perf_counter() - started)
    return MitigationResult(summary, record, audited, change_table(changes), predictions)


def _reranker_aim(plan: MitigationOptions, aim: Aim) -> float | None:
    """The mean of all others, where the re-ranker is made for the metric and it needs no labels."""
    metric = plan.target.metric
    is_aim = metric.name in RERANKERS[plan.reranker_name].serves and "labels" not in metric.needs
    return finite_or_none(aim.rest) if is_aim else None


def _find_groups(
    plan: MitigationOptions, options: AuditOptions, audit: Callable[[], AuditResult]
) -> list[Group]:
    """Findings that are served worse than the rest."""
    if not options.permutations:
        raise InputError(
            f"{spell('groups', 'findings')} needs tests against chance. Give "
            f"{spell('permutations', 1000)}, or name others: {spell('groups', 'worst:10%')}"
        )
    found = audit()
    findings = found.metric(plan.target.name).findings
    harm = plan.target.metric.harm
    worse = [Group.of(finding.group) for finding in findings if harm(finding.difference) >= 0]
    if not worse:
        raise NothingToMitigateError(
            f"Nothing to mitigate: no group is served significantly worse than all others in "
            f"{plan.target.name}, among the {found.summary.n_users:,} users to choose by. To "
            f"re-rank the worst ones all the same: {spell('groups', 'worst:10%')}"
        )
    return worse


def _with_run(audit: AuditResult, split: TargetSplit, seconds: float) -> AuditResult:
    """The same, with how long all of it took, and where what was read and written lies."""
    run, summary = audit.run, audit.summary
    assert run is not None, "an audit that has just been made"
    run = run.model_copy(update={"seconds": round(seconds, 3)})
    if split.protocol == "validation targets":
        run = run.with_inputs(table_places({"validation": split.choosing.tables["predictions"]}))
    # the new lists lie beside their audit
    lists = InputSummary(name="predictions.parquet", sha256=None)
    inputs = {**summary.inputs, "predictions": lists}
    return replace(audit, run=run, summary=summary.model_copy(update={"inputs": inputs}))


@public_function
def rerank(
    record: str | Path | RerankerRecord,
    predictions: Any,
    *,
    users: Any,
    items: Any = None,
    history: Any = None,
    columns: Mapping[str, str] | str | None = None,
    threads: int | None = None,
) -> pl.DataFrame:
    """New candidate lists with the groups of a re-ranker re-ranked.

    Parameters
    ----------
    record : `reranker.json`, as a mitigation wrote it
    predictions : `user_id, item_id, score`; a label is handed through and not looked at

    Returns
    -------
    the table with new scores, one row per candidate, and `model_score`, the score as it was
    """
    record = record if isinstance(record, RerankerRecord) else load_reranker(record)
    kind = RERANKERS[record.reranker]
    if kind.is_upper_bound:
        raise InputError(
            f"The re-ranker '{record.reranker}' sees the labels, so it is an upper bound and no "
            "remedy: it cannot be applied to new lists."
        )
    given = TableOptions(users=users, items=items, history=history, columns=columns, by=record.by)
    tables = open_tables(predictions, given)
    inputs = read_tables(tables, given, needs=(), wants=("items", "history"))
    _refuse_other_quantiles(record, inputs)
    _, attributes = inputs.everyone()
    if (group_of_users(record.parsed_groups, attributes) < 0).all():
        refuse_empty(record.parsed_groups, attributes, inputs.tables["users"].where)
    n_threads = Engine(threads=threads).n_threads
    fitted = FittedReranker(record.reranker, record.k, record.rest, inputs, n_threads)
    rescore = fitted.rescore(inputs, group_of_users(record.parsed_groups, inputs.attributes))
    return predictions_table(inputs, rescore(record.strength), with_model_score=True)


def _refuse_other_quantiles(record: RerankerRecord, inputs: AuditInputs) -> None:
    """An error where a group's quantile is none of these users, so that nobody could be in it."""
    for attribute in inputs.attributes:
        if not attribute.binning or "quantiles" not in attribute.binning:
            continue
        known = {str(value) for value in attribute.values}
        for group in record.parsed_groups:
            if str(group.as_dict().get(attribute.name, attribute.values[0])) not in known:
                raise InputError(
                    f"Attribute '{plain(attribute.name)}' falls into other quantiles for these "
                    "users than for those of the mitigation. Mitigate with bins of a width "
                    "(age:10), or give the same users."
                )
