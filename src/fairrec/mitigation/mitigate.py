"""The conductor of a mitigation: choose on some targets, re-rank, report on held-out ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fairrec.auditing.audit import audit_inputs
from fairrec.core.audit_options import (
    AboutOptions,
    Alpha,
    AuditOptions,
    Author,
    Depth,
    MaxMemory,
    MinSupport,
    ModelName,
    ModelVersion,
    Permutations,
    Seed,
    Threads,
    Title,
)
from fairrec.core.errors import InputError, NothingToMitigateError, errors_of_libraries, plain
from fairrec.core.options import documented, spelled
from fairrec.core.progress import Progress
from fairrec.groups.group import Group, group_of_users, refuse_empty
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import AuditInputs, open_tables, read_tables
from fairrec.inputs.catalogue import Catalogue
from fairrec.inputs.table_options import Gain, MissingLists, Relevant, TableOptions
from fairrec.mitigation.effect import BeforeAfter, summary_of
from fairrec.mitigation.exposure import catalogue_of, exposure_changes
from fairrec.mitigation.groups import choose_groups
from fairrec.mitigation.mitigation_result import MitigationResult
from fairrec.mitigation.options import (
    Groups,
    MaxLoss,
    MitigationOptions,
    ReportedMetrics,
    Strength,
    Validation,
)
from fairrec.mitigation.remedy import Remedy, RerankerRecord, load_reranker, record_of
from fairrec.mitigation.reranker import RERANKERS
from fairrec.mitigation.split import Measures, TargetSplit, metric_names, read_split
from fairrec.mitigation.tables import change_table, predictions_table
from fairrec.mitigation.tuning import Levels, aim_of, is_level, levels_of, tuned_strength
from fairrec.result.audit_result import AuditResult
from fairrec.result.saved import places_of
from fairrec.result.schema import InputSummary
from fairrec.statistics.paired import group_changes


@errors_of_libraries()
@documented(
    AboutOptions,
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
    groups: Groups = MitigationOptions.groups,
    reranker: str | None = MitigationOptions.reranker,
    strength: Strength = MitigationOptions.strength,
    max_loss: MaxLoss = MitigationOptions.max_loss,
    by_items: Sequence[str] | str = (),
    metrics: Sequence[str] | str | None = None,
    columns: Mapping[str, str] | str | None = None,
    relevant: Relevant | str = None,
    gain: Gain = None,
    missing_lists: MissingLists = TableOptions.missing_lists,
    depth: Depth = AuditOptions.depth,
    min_support: MinSupport | str = AuditOptions.min_support,
    permutations: Permutations = AuditOptions.permutations,
    alpha: Alpha = AuditOptions.alpha,
    seed: Seed = AuditOptions.seed,
    threads: Threads = AuditOptions.threads,
    max_memory: MaxMemory = AuditOptions.max_memory,
    title: Title = AboutOptions.title,
    model_name: ModelName = AboutOptions.model_name,
    model_version: ModelVersion = AboutOptions.model_version,
    author: Author = AboutOptions.author,
    progress: Progress | None = None,
    command: str | None = None,
) -> MitigationResult:
    """Re-rank the lists of badly served groups, and say what that did on held-out targets.

    Groups and strength are chosen on the validation targets and reported on those of
    `predictions`, which are held out; without validation targets, chosen on one half of the users
    and reported on the other.

    Parameters
    ----------
    predictions : as of an audit
    metric, groups, reranker, strength, max_loss : see MitigationOptions
    by_items : see MitigationOptions
    users, items, history, columns, by, test, relevant, gain, missing_lists : see TableOptions
    validation, metrics : as declared
    depth, min_support, permutations, alpha, seed, threads, max_memory : see AuditOptions
    title, model_name, model_version, author : see AboutOptions
    """
    call, started = locals(), time.perf_counter()
    about, options = AboutOptions.among(call), AuditOptions.among(call)
    plan, sources = MitigationOptions.among(call), TableOptions.among(call)
    progress = progress or (lambda stage, done, total: None)
    progress("reading", 0, 0)
    catalogue = catalogue_of(sources, plan.by_items)
    metrics = metric_names(plan, sources, predictions, validation)
    sources = replace(sources, metrics=metrics)
    split = read_split(predictions, validation, sources, options.seed, options.max_memory)
    result = _mitigate(plan, split, catalogue, options, about, progress, command)
    return _with_run(result, split, time.perf_counter() - started)


def _mitigate(
    plan: MitigationOptions,
    split: TargetSplit,
    catalogue: Catalogue | None,
    options: AuditOptions,
    about: AboutOptions,
    progress: Progress,
    command: str | None,
) -> MitigationResult:
    """The same for tables that are read already."""
    choosing, reported, everyone = split.choosing, split.reported, split.everyone
    measures = Measures.of(split.per_user_metrics, plan, options.n_threads)
    audit = partial(
        audit_inputs, wanted=split.metrics, options=options, progress=progress, about=about
    )

    progress("choosing", 0, 0)
    chosen_by = measures.values(choosing)
    choice = choose_groups(
        plan,
        split,
        chosen_by[measures.target],
        Grouping.of(choosing.attributes, replace(options, depth="full")),
        seed=options.seed,
        # of the target alone: other metrics do not choose, and would make it harder to find any
        find_groups=lambda: _found_groups(
            plan, options, partial(audit, choosing, wanted=(plan.target,))
        ),
    )
    chosen = group_of_users(choice.groups, choosing.attributes)
    aim = aim_of(plan.target, chosen_by[measures.target], chosen)

    progress("learning", 0, 0)
    record = record_of(plan, everyone.by, choice, aim)
    remedy = Remedy(record.with_groups(choice.learned_groups), everyone, options.n_threads)

    progress("tuning the strength", 0, 0)
    tuners = choosing.for_users(np.flatnonzero(choice.is_tuned))
    groups = group_of_users(choice.learned_groups, tuners.attributes)
    rescored = remedy.scores_of(tuners, groups)

    def levels_at(strengths: Sequence[float]) -> Levels:
        measured = measures.at_strengths(rescored, tuners, strengths, progress)
        return levels_of(measured, strengths, aim, groups)

    strength, levels = tuned_strength(plan, aim, measures.cost_name, levels_at)

    progress("re-ranking", 0, 0)
    position = group_of_users(choice.groups, reported.attributes)
    reranked = reported.with_scores(remedy.scores_of(reported, position).at(strength))
    before, after = measures.values(reported), measures.values(reranked)

    progress("reporting", 0, 0)
    audits = [audit(inputs, command=command) for inputs in (reported, reranked)]
    seen = BeforeAfter(
        measures,
        aim,
        choice,
        chosen_by,
        before,
        after,
        position,
        choosing.attributes,
        reported.attributes,
        options.alpha,
    )
    changes = group_changes(
        measures.directions,
        before,
        after,
        Grouping.of(reported.attributes, options),
        options.alpha,
    )
    touched = reported.for_users(np.flatnonzero(position >= 0))
    again = remedy.scores_of(touched, position[position >= 0])
    curve = measures.at_strengths(again, touched, levels.strengths, progress)
    record = record.model_copy(update={"strength": strength})
    return MitigationResult(
        summary_of(
            plan,
            options,
            split,
            record,
            seen,
            changes,
            [result.metrics for result in audits],
            is_level(levels, aim, 0.0),
            seen.trade_off(levels, curve),
            ()
            if catalogue is None
            else exposure_changes(
                *(reported.candidates, reranked.candidates, catalogue),
                *(record.k, options.alpha, options.n_threads),
            ),
            command,
            remedy.find_leak(everyone),
        ),
        record,
        _of_reranked(audits[1]),
        change_table(changes),
        predictions_table(
            everyone,
            remedy.scores_of(everyone, group_of_users(choice.groups, everyone.attributes)).at(
                strength
            ),
        ),
    )


def _found_groups(
    plan: MitigationOptions, options: AuditOptions, audit: Callable[[], AuditResult]
) -> list[Group]:
    """Findings that are served worse than the rest."""
    if not options.permutations:
        raise InputError(
            f"{spelled('groups', 'findings')} needs tests against chance. Give "
            f"{spelled('permutations', 1000)}, or name others: {spelled('groups', 'worst:10%')}"
        )
    found = audit()
    findings = found.metric(plan.target.name).findings
    harm = plan.target.metric.harm
    worse = [Group.of(finding.group) for finding in findings if harm(finding.difference) >= 0]
    if not worse:
        raise NothingToMitigateError(
            f"Nothing to mitigate: no group is served significantly worse than all others in "
            f"{plan.target.name}, among the {found.summary.n_users:,} users to choose by. To "
            f"re-rank the worst ones all the same: {spelled('groups', 'worst:10%')}"
        )
    return worse


def _of_reranked(result: AuditResult) -> AuditResult:
    """The audit of the new lists, which lie beside it."""
    named = InputSummary(name="predictions.parquet", sha256=None)
    inputs = {**result.summary.inputs, "predictions": named}
    return replace(result, summary=result.summary.model_copy(update={"inputs": inputs}))


def _with_run(result: MitigationResult, split: TargetSplit, seconds: float) -> MitigationResult:
    """The same, with how long all of it took, and where the targets lie that it chose by."""
    run = result.audit.run
    assert run is not None, "an audit that has just been made"
    run = run.model_copy(update={"seconds": round(seconds, 3)})
    if split.protocol == "validation targets":
        read = {"validation": split.choosing.tables["predictions"]}
        run = run.with_inputs(places_of(read))
    return replace(result, audit=replace(result.audit, run=run))


@errors_of_libraries()
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
    given = TableOptions.of(
        users=users, items=items, history=history, columns=columns, by=record.by
    )
    tables = open_tables(predictions, given)
    inputs = read_tables(tables, given, needs=(), wants=("items", "history"))
    _refuse_other_quantiles(record, inputs)
    _, attributes = inputs.everyone()
    if (group_of_users(record.parsed_groups, attributes) < 0).all():
        refuse_empty(record.parsed_groups, attributes, inputs.tables["users"].where)
    remedy = Remedy(record, inputs, AuditOptions(threads=threads).n_threads)
    scores = remedy.scores_of(inputs).at(record.strength)
    return predictions_table(inputs, scores, with_model_score=True)


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
