"""The conductor of a mitigation: choose on some targets, re-rank, report on others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.audit_options import (
    Alpha,
    AuditOptions,
    Depth,
    MinSupport,
    Permutations,
    Seed,
    Threads,
)
from fairrec.core.errors import InputError, as_unicode
from fairrec.core.options import documented
from fairrec.core.progress import Progress
from fairrec.core.version import __version__
from fairrec.groups.cells import cells_by
from fairrec.groups.lattice import build_lattice
from fairrec.groups.membership import group_of_users
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.metrics import MetricAtK
from fairrec.metrics.measure import values_per_user
from fairrec.metrics.registry import DEFAULT_K
from fairrec.mitigation import RERANKERS
from fairrec.mitigation.before_after import BeforeAfter
from fairrec.mitigation.choice import Choice
from fairrec.mitigation.choosing import choose_groups
from fairrec.mitigation.effect import GroupChanges, group_changes
from fairrec.mitigation.mitigation_result import MitigationResult
from fairrec.mitigation.options import Groups, MaxLoss, MitigationOptions, Strength
from fairrec.mitigation.record import RerankerRecord
from fairrec.mitigation.remedy import Remedy, predictions_table
from fairrec.mitigation.split import Split, cost_name, metric_names, n_shared_targets, read_split
from fairrec.mitigation.tuning import (
    STRENGTHS,
    Aim,
    Levels,
    best_strength,
    levels_of,
    mean_or_nan,
)
from fairrec.result.audit_result import AuditResult
from fairrec.result.group_table import conditions_of
from fairrec.result.mitigation_schema import (
    GapChange,
    MetricEffect,
    MitigationSummary,
)
from fairrec.result.schema import InputSummary
from fairrec.workflows.audit import audit_inputs


@documented(AuditOptions, MitigationOptions, TableOptions)
def mitigate(
    predictions: Any,
    *,
    metric: str,
    users: Any,
    by: Sequence[str] | str,
    items: Any = None,
    history: Any = None,
    validation: Any = None,
    groups: Groups = MitigationOptions.groups,
    reranker: str | None = MitigationOptions.reranker,
    strength: Strength = MitigationOptions.strength,
    max_loss: MaxLoss = MitigationOptions.max_loss,
    allow_level_down: bool = MitigationOptions.allow_level_down,
    metrics: Sequence[str] | str | None = None,
    columns: Mapping[str, str] | None = None,
    depth: Depth = AuditOptions.depth,
    min_support: MinSupport | str = AuditOptions.min_support,
    permutations: Permutations = AuditOptions.permutations,
    alpha: Alpha = AuditOptions.alpha,
    seed: Seed = AuditOptions.seed,
    threads: Threads = AuditOptions.threads,
    progress: Progress | None = None,
    command: str | None = None,
) -> MitigationResult:
    """Re-rank the lists of badly served groups, and say what that did on other targets.

    Groups and strength are chosen on the validation targets and reported on those of
    `predictions`; without validation targets, chosen on one half of the users and reported on the
    other.

    Parameters
    ----------
    predictions : as of an audit
    validation : `user_id, item_id, score, label` of other targets of the same users
    metric, groups, reranker, strength, max_loss, allow_level_down : see MitigationOptions
    users, items, history, columns, by, metrics : see TableOptions
    depth, min_support, permutations, alpha, seed, threads : see AuditOptions
    """
    options = AuditOptions.of(
        depth=depth,
        min_support=min_support,
        permutations=permutations,
        alpha=alpha,
        seed=seed,
        threads=threads,
    )
    plan = MitigationOptions(metric, groups, reranker, strength, max_loss, allow_level_down)
    told = progress or (lambda stage, done, total: None)
    told("reading", 0, 0)
    tables = {"users": users, "by": by, "items": items, "history": history, "columns": columns}
    given = [predictions, *([] if validation is None else [validation])]
    has_labels = all(Table(table, "predictions", columns).find("label") for table in given)
    names = metric_names(metrics, plan, tables, has_labels)
    split = read_split(predictions, validation, tables, names, seed)
    return _Mitigation(plan, split, options, told).result(command)


class _Mitigation:
    """One mitigation, step by step.

    Parameters
    ----------
    told : progress
    """

    def __init__(
        self, plan: MitigationOptions, split: Split, options: AuditOptions, told: Progress
    ) -> None:
        self._plan, self._split, self._options, self._told = plan, split, options, told
        self._metrics = split.everyone.per_user_metrics
        names = [metric.name for metric in self._metrics]
        self._target = names.index(plan.target.name)
        cost = cost_name(plan)
        self._cost_at = names.index(cost) if cost in names else None

    def result(self, command: str | None) -> MitigationResult:
        """Choose, tune, re-rank, report."""
        plan, split, alpha = self._plan, self._split, self._options.alpha
        self._told("choosing", 0, 0)
        chosen_by = self._values(split.choosing)
        choice = choose_groups(plan, split, chosen_by[self._target], self._options, self._told)
        aim = self._aim(chosen_by[self._target], choice)
        self._told("learning", 0, 0)
        record = self._record(choice, aim)
        remedy = self._remedy(record, choice)
        self._told("tuning the strength", 0, 0)
        strengths = STRENGTHS if plan.strength == "auto" else _with(STRENGTHS, plan.strength)
        tuned = self._tuned_levels(remedy, choice, aim, strengths)
        taken = self._strength(tuned, aim)
        record = record.model_copy(update={"strength": taken})

        self._told("re-ranking", 0, 0)
        reported = split.reported
        position = self._positions(choice, reported)
        before = self._values(reported)
        rescored = remedy.scores_of(reported, position)
        after_inputs = reported.with_scores(rescored.at(taken))
        after = self._values(after_inputs)
        self._told("reporting", 0, 0)
        audits = tuple(self._audit(inputs, command) for inputs in (reported, after_inputs))
        changes = self._group_changes(before, after)
        seen = BeforeAfter(
            self._metrics,
            self._target,
            aim,
            choice,
            chosen_by,
            before,
            after,
            position,
            split.choosing.attributes,
            reported.attributes,
            alpha,
        )
        touched = np.flatnonzero(position >= 0)
        curve = self._measured(remedy, reported.for_users(touched), position[touched], strengths)
        summary = MitigationSummary(
            fairrec_version=__version__,
            command=as_unicode(command or plan.as_call()),
            seed=self._options.seed,
            metric=plan.target.name,
            cost_metric=None if self._cost_at is None else self._metrics[self._cost_at].name,
            reranker=record.reranker,
            about=RERANKERS[record.reranker].about,
            is_upper_bound=RERANKERS[record.reranker].is_upper_bound,
            strength=taken,
            is_tuned=plan.strength == "auto",
            max_loss=plan.max_loss,
            k=record.k,
            protocol=split.protocol,
            n_users_choosing=split.choosing.n_users,
            n_users_tuning=int(choice.is_tuned.sum()),
            n_users_reported=reported.n_users,
            rule=str(plan.groups),
            groups=seen.groups(),
            allows_level_down=plan.allow_level_down,
            alpha=alpha,
            effects={
                m.name: MetricEffect(
                    higher_is_better=m.metric.higher_is_better,
                    is_distance=seen.is_distance(i),
                    chosen=seen.chosen_change(i),
                    lowered=seen.change(i, seen.lowered) if choice.lowered else None,
                    others=seen.change(i, position < 0),
                    everyone=seen.change(i, np.ones(len(position), dtype=bool)),
                    gap=_gap_change(m.name, *audits),
                    groups=changes.counts(i),
                )
                for i, m in enumerate(self._metrics)
            },
            regression=seen.regression(),
            trade_off=seen.trade_off(tuned, curve, self._cost_at),
            n_shared_targets=n_shared_targets(split.choosing, reported),
            n_group_tests=changes.n_tests,
            harmed=changes.harmed(),
            notes=self._notes(choice, taken),
        )
        everyone = split.everyone
        scores = remedy.scores_of(everyone, self._positions(choice, everyone)).at(taken)
        return MitigationResult(
            summary,
            record,
            _of_reranked(audits[1]),
            changes.table(conditions_of(changes.lattice, reported.attributes)),
            predictions_table(everyone, scores),
        )

    def _aim(self, values: FloatArray, choice: Choice) -> Aim:
        """What to bring up or down, and what the others have."""
        attributes = self._split.choosing.attributes
        group = group_of_users(choice.groups, attributes)
        rest = mean_or_nan(values[group < 0])
        higher_is_better = self._plan.target.metric.higher_is_better
        if higher_is_better is None and np.isnan(rest):
            raise InputError(
                f"Nobody with a value of {self._plan.target.name} is outside the chosen groups, so "
                "there is nothing to bring them near to. Choose fewer: --groups worst:10%"
            )
        return Aim(bool(higher_is_better), rest, is_distance=higher_is_better is None)

    # re-ranking

    def _record(self, choice: Choice, aim: Aim) -> RerankerRecord:
        target = self._plan.target
        is_aim = target.metric.name in RERANKERS[self._plan.reranker_name].serves
        # a mean that takes labels to know is nothing a re-ranker may aim at
        has_rest = is_aim and "labels" not in target.metric.needs and not np.isnan(aim.rest)
        return RerankerRecord(
            fairrec_version=__version__,
            reranker=self._plan.reranker_name,
            strength=0.0,
            metric=target.name,
            k=target.k or DEFAULT_K,
            by=self._split.everyone.by,
            groups=tuple(group.as_dict() for group in choice.groups),
            lowered=tuple(group.as_dict() for group in choice.lowered),
            rest=aim.rest if has_rest else None,
        )

    def _remedy(self, record: RerankerRecord, choice: Choice) -> Remedy:
        """The re-ranker, which also knows the groups that only the tuning needs."""
        groups = tuple(group.as_dict() for group in choice.learned_groups)
        with_tuned = record.model_copy(update={"groups": groups})
        return Remedy(with_tuned, self._split.everyone, self._options.n_threads)

    def _positions(self, choice: Choice, inputs: AuditInputs) -> IntArray:
        """(n_users,), which group of the remedy a user is re-ranked with; -1 for the others."""
        n_chosen = len(choice.groups)
        group = group_of_users((*choice.groups, *choice.lowered), inputs.attributes)
        n_extra = len(choice.learned_groups) - n_chosen
        return np.where(group >= n_chosen, group + n_extra, group)

    def _tuned_levels(
        self, remedy: Remedy, choice: Choice, aim: Aim, strengths: tuple[float, ...]
    ) -> Levels:
        """What each strength does to the users it is tuned on."""
        tuned = self._split.choosing.for_users(np.flatnonzero(choice.is_tuned))
        groups = group_of_users(choice.learned_groups, tuned.attributes)
        return levels_of(self._measured(remedy, tuned, groups, strengths), strengths, aim, groups)

    def _measured(
        self, remedy: Remedy, inputs: AuditInputs, groups: IntArray, strengths: Sequence[float]
    ) -> FloatArray:
        """(n_strengths, 2, n_users), target and cost; a cost of NaN where there are no labels."""
        rescored = remedy.scores_of(inputs, groups)
        wanted = [self._target, *([] if self._cost_at is None else [self._cost_at])]
        metrics = [self._metrics[at] for at in wanted]
        measured = np.full((len(strengths), 2, inputs.n_users), np.nan)
        for at, strength in enumerate(strengths):
            self._told("tuning the strength", at, len(strengths))
            values = self._values(inputs.with_scores(rescored.at(strength)), metrics)
            measured[at, : len(metrics)] = values
        return measured

    def _strength(self, levels: Levels, aim: Aim) -> float:
        plan = self._plan
        if plan.strength != "auto":
            return float(plan.strength)
        if self._cost_at is None:
            raise InputError(
                "--strength auto weighs the metric against NDCG, which needs labels. Give tables "
                "with a label column, validation targets too, or a --strength from 0 to 1."
            )
        return best_strength(levels, aim, plan.max_loss)

    # reporting

    def _group_changes(self, before: FloatArray, after: FloatArray) -> GroupChanges:
        inputs, options = self._split.reported, self._options
        cells, min_users = cells_by(inputs.attributes), options.min_users(inputs.n_users)
        lattice = build_lattice(cells, options.lattice_depth, min_users, options.n_threads)
        return group_changes(
            self._metrics, before, after, inputs.attributes, cells, lattice, options.alpha
        )

    def _audit(self, inputs: AuditInputs, command: str | None) -> AuditResult:
        return audit_inputs(inputs, self._options, told=self._told, command=command)

    def _values(
        self, inputs: AuditInputs, metrics: Sequence[MetricAtK] | None = None
    ) -> FloatArray:
        """(n_metrics, n_users), NaN where undefined."""
        wanted = self._metrics if metrics is None else metrics
        threads = self._options.n_threads
        values = values_per_user(wanted, inputs.candidates, inputs.side, threads)
        return values[:, inputs.list_of_user]

    def _notes(self, choice: Choice, strength: float) -> tuple[str, ...]:
        """What the reader should know."""
        notes = []
        if strength == 0 and self._plan.strength == "auto":
            notes.append(
                "No strength improved the metric at the allowed loss of NDCG where it was tuned, "
                "so nothing is changed"
            )
        n_choosing, n_reported = self._split.choosing.n_users, self._split.reported.n_users
        if self._split.protocol == "validation targets" and n_choosing != n_reported:
            notes.append(
                f"{n_choosing:,} users have validation targets, {n_reported:,} are reported on"
            )
        if not choice.is_tuned.any():
            notes.append("Nobody was left to tune the strength on")
        return tuple(notes)


def _gap_change(metric: str, before: AuditResult, after: AuditResult) -> GapChange:
    first, last = before.metrics[metric], after.metrics[metric]
    return GapChange(
        before=first.gap, after=last.gap, chance_before=first.chance, chance_after=last.chance
    )


def _of_reranked(result: AuditResult) -> AuditResult:
    """The audit of the new lists, which lie beside it."""
    named = InputSummary(name="predictions.parquet", sha256=None)
    inputs = {**result.summary.inputs, "predictions": named}
    return replace(result, summary=result.summary.model_copy(update={"inputs": inputs}))


def _with(strengths: Sequence[float], strength: float) -> tuple[float, ...]:
    return tuple(sorted({*strengths, strength}))
