"""The conductor of a mitigation: choose on some targets, re-rank, report on held-out ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from fairrec.auditing.audit import audit_inputs, conclude, measure_inputs
from fairrec.auditing.call_repr import Variable, describe_tables, write_call
from fairrec.core.arrays import FloatArray, IntArray, finite_or_none
from fairrec.core.audit_options import RAY, About, AuditOptions, Engine, Statistics
from fairrec.core.errors import InputError, NothingToMitigateError
from fairrec.core.options import (
    documented,
    expand,
    list_changed,
    public_function,
    select,
    spell,
)
from fairrec.core.redact_paths import redact_command
from fairrec.core.version import __version__
from fairrec.groups.group import Group, group_of_users, refuse_empty
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import AuditInputs, open_tables, read_tables
from fairrec.inputs.table_options import NOT_OF_CANDIDATES, TableOptions, Tables
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import measure_everyone
from fairrec.mitigation.choosing import (
    TargetSplit,
    choose_groups,
    metric_names,
    n_shared_targets,
    read_split,
)
from fairrec.mitigation.effect import BeforeAfter, harmed_groups, judge_outcome, regression
from fairrec.mitigation.options import MitigationOptions, ReportedMetrics, Validation
from fairrec.mitigation.reranker import RERANKERS, FittedReranker
from fairrec.mitigation.result import (
    MitigationResult,
    MitigationSummary,
    RerankerRecord,
    TradeOffPoint,
    change_table,
    load_reranker,
    predictions_table,
)
from fairrec.mitigation.tuning import (
    Aim,
    AtStrength,
    Levels,
    make_aim,
    measure_level,
    tune_strength,
)
from fairrec.report.audit_result import AuditResult
from fairrec.result.folder import table_places
from fairrec.result.schema import InputSummary
from fairrec.statistics.paired import GroupChanges, group_changes


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
    names, target = metric_names(plan, sources, predictions, validation), plan.target
    if plan.strength == "auto" and plan.cost_name not in names:
        raise InputError(
            f"{spell('strength', 'auto')} weighs the metric against NDCG, which needs labels. "
            "Give tables with a label column, validation targets too, or a "
            f"{spell('strength')} from 0 to 1."
        )
    split = read_split(
        predictions, validation, replace(sources, metrics=names), options.seed, options.max_memory
    )
    # of the target alone: other metrics do not choose, and would make it harder to find any
    audit = partial(audit_inputs, split.choosing, (target,), options, about)
    find_groups = partial(_find_groups, plan, options, audit)

    tuned = choose_and_tune(plan, options, split, find_groups)

    progress("re-ranking", 0, 0)
    reported, everyone = split.reported, split.everyone
    group_of_user = group_of_users(tuned.groups, reported.attributes)
    reranked = reported.with_scores(tuned.rescore(reported, group_of_user))
    new_scores = tuned.rescore(everyone, group_of_users(tuned.groups, everyone.attributes))

    progress("reporting", 0, 0)
    found = [measure_inputs(inputs, split.metrics, options) for inputs in (reported, reranked)]
    audits = [conclude(one, about, started) for one in found]
    before, after = (one.measured.by_metric() for one in found)
    changes = group_changes(
        {metric.name: metric.metric.higher_is_better for metric in split.metrics},
        np.stack([*before.values()]),
        np.stack([*after.values()]),
        Grouping.of(reported.attributes, options),
        options.alpha,
    )
    aim = tuned.reported_aim(before[target.name], group_of_user)
    seen = BeforeAfter(target, aim, before, after, group_of_user, options.alpha)
    given = {**describe_tables(sources, names), "metric": plan.metric, **list_changed(plan)}
    if validation is not None:
        given["validation"] = Variable("validation")
    command = about.command or write_call(given, options, about, function="mitigate")
    summary = build_summary(plan, options, split, tuned, seen, changes, audits, command)
    return MitigationResult(
        summary,
        tuned.record(plan, split),
        _with_run(audits[1], split, time.perf_counter() - started),
        change_table(changes),
        predictions_table(everyone, new_scores),
    )


def measure(
    inputs: AuditInputs, metrics: Sequence[MetricAtK], threads: int
) -> dict[str, FloatArray]:
    """Metric -> (n_users,), NaN where undefined."""
    return measure_everyone(inputs, metrics, threads).by_metric()


@dataclass(frozen=True, slots=True)
class Tuned:
    """The groups, the re-ranker and its strength, all chosen without the held-out targets.

    Parameters
    ----------
    chosen_by : (n_choosers,), the target metric on the targets that were chosen by
    group_of_chooser : (n_choosers,), the chosen group of each of these users, -1 for all others
    levels : of the groups at each strength that was tried
    n_users : whom the strength was tuned on
    """

    groups: tuple[Group, ...]
    aim: Aim
    chosen_by: FloatArray
    group_of_chooser: IntArray
    fitted: FittedReranker
    strength: float
    levels: Levels
    n_users: int

    def rescore(self, inputs: AuditInputs, group_of_user: IntArray) -> FloatArray:
        """New scores of all candidates, at the strength that was chosen."""
        return self.fitted.rescore(inputs, group_of_user)(self.strength)

    def reported_aim(self, values: FloatArray, group_of_user: IntArray) -> Aim:
        """The aim for held-out targets; the side of each group is the one it was chosen on."""
        sides = self.aim.sides(self.chosen_by, self.group_of_chooser, len(self.groups))
        return self.aim.on_held_out(values, group_of_user, sides)

    def record(self, plan: MitigationOptions, split: TargetSplit) -> RerankerRecord:
        """The content of `reranker.json`."""
        return RerankerRecord(
            fairrec_version=__version__,
            reranker=plan.reranker_name,
            strength=self.strength,
            metric=plan.target.name,
            k=plan.k,
            by=tuple(split.everyone.given.by),
            groups=tuple(group.as_dict() for group in self.groups),
            rest=self.fitted.rest,
        )


def choose_and_tune(
    plan: MitigationOptions,
    options: AuditOptions,
    split: TargetSplit,
    find_groups: Callable[[], Sequence[Group]],
) -> Tuned:
    """Choose the groups, fit the re-ranker, and tune its strength.

    Parameters
    ----------
    find_groups : as of `choose_groups`
    """
    choosing, target, progress = split.choosing, plan.target, options.engine.report
    progress("choosing", 0, 0)
    chosen_by = measure(choosing, [target], options.n_threads)[target.name]
    grouping = Grouping.of(choosing.attributes, replace(options, depth="full"))
    choice = choose_groups(plan, split, chosen_by, grouping, options.seed, find_groups)
    group_of_chooser = group_of_users(choice.groups, choosing.attributes)
    aim = make_aim(target, chosen_by, group_of_chooser)

    progress("learning", 0, 0)
    rest = _reranker_aim(plan, aim)
    fitted = FittedReranker(plan.reranker_name, plan.k, rest, split.everyone, options.n_threads)

    progress("tuning the strength", 0, 0)
    tuners = choosing.for_users(np.flatnonzero(choice.is_tuned))
    group_of_tuner = group_of_users(choice.tuned_groups, tuners.attributes)
    rescore = fitted.rescore(tuners, group_of_tuner)
    weighed = [metric for metric in split.metrics if metric.name in (target.name, plan.cost_name)]

    def measure_strength(strength: float) -> AtStrength:
        values = measure(tuners.with_scores(rescore(strength)), weighed, options.n_threads)
        costs = values.get(plan.cost_name, np.full(tuners.n_users, np.nan))
        return measure_level(values[target.name], costs, aim, group_of_tuner)

    strength, levels = tune_strength(plan, aim, measure_strength)
    return Tuned(
        choice.groups, aim, chosen_by, group_of_chooser, fitted, strength, levels, tuners.n_users
    )


def build_summary(
    plan: MitigationOptions,
    options: AuditOptions,
    split: TargetSplit,
    tuned: Tuned,
    seen: BeforeAfter,
    changes: GroupChanges,
    audits: Sequence[AuditResult],
    command: str,
) -> MitigationSummary:
    """The content of `mitigation.json`.

    Parameters
    ----------
    audits : before and after
    """
    to_others = seen.gap_to_others()
    effects = {
        metric.name: seen.metric_effect(
            metric, int((changes.verdicts(at) == "worse").sum()), [one.metrics for one in audits]
        )
        for at, metric in enumerate(split.metrics)
    }
    chosen = effects[plan.target.name].chosen
    trade_off = tuple(
        TradeOffPoint(
            strength=strength, target=finite_or_none(level.target), cost=finite_or_none(level.cost)
        )
        for strength, level in tuned.levels.items()
    )
    return MitigationSummary(
        fairrec_version=__version__,
        command=redact_command(command),
        seed=options.seed,
        metric=plan.target.name,
        cost_metric=plan.cost_name if plan.cost_name in effects else None,
        reranker=plan.reranker_name,
        about=RERANKERS[plan.reranker_name].about,
        strength=tuned.strength,
        is_tuned=plan.strength == "auto",
        max_loss=plan.max_loss,
        k=plan.k,
        protocol=split.protocol,
        n_users_choosing=split.choosing.n_users,
        n_users_tuning=tuned.n_users,
        n_users_reported=split.reported.n_users,
        rule=str(plan.groups),
        groups=seen.mitigated_groups(tuned.groups, split, tuned.chosen_by),
        alpha=options.alpha,
        effects=effects,
        to_others=to_others,
        outcome=judge_outcome(chosen.verdict, to_others, options.alpha),
        regression=regression(tuned.aim, tuned.chosen_by, tuned.group_of_chooser, seen),
        trade_off=trade_off,
        n_shared_targets=n_shared_targets(split),
        n_group_tests=changes.n_tests,
        harmed=harmed_groups(changes),
        notes=_notes(plan, split, tuned),
    )


def _notes(plan: MitigationOptions, split: TargetSplit, tuned: Tuned) -> tuple[str, ...]:
    notes = [tuned.fitted.find_leak(split.everyone)]
    if tuned.strength == 0 and plan.strength == "auto":
        notes.append(
            "Nothing is changed: where the strength was tuned, the chosen groups were level with "
            "all others, or no strength brought them nearer at the allowed loss of NDCG"
        )
    if n := int(split.reported.is_without_list.sum()):
        notes.append(
            f"{n:,} of {split.reported.n_users:,} held-out users have no list and cannot be "
            "re-ranked"
        )
    return tuple(filter(None, notes))


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
    given = TableOptions(users=users, items=items, history=history, columns=columns, by=record.by)
    tables = open_tables(predictions, given)
    inputs = read_tables(tables, given, needs=(), wants=("items", "history"))
    _, attributes = inputs.everyone()
    if (group_of_users(record.parsed_groups, attributes) < 0).all():
        refuse_empty(record.parsed_groups, attributes, inputs.tables["users"].where)
    n_threads = Engine(threads=threads).n_threads
    fitted = FittedReranker(record.reranker, record.k, record.rest, inputs, n_threads)
    rescore = fitted.rescore(inputs, group_of_users(record.parsed_groups, inputs.attributes))
    return predictions_table(inputs, rescore(record.strength), with_model_score=True)
