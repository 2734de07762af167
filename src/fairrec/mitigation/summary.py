"""A mitigation in named parts: the content of `mitigation.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fairrec.core.audit_options import AuditOptions
from fairrec.core.options import told_command
from fairrec.core.version import __version__
from fairrec.mitigation.before_after import BeforeAfter
from fairrec.mitigation.effect import counts_of, harmed_groups, ordered_changes, outcome_of
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.record import RerankerRecord
from fairrec.mitigation.reranker import RERANKERS
from fairrec.mitigation.split import TargetSplit, n_shared_targets
from fairrec.result.changes import gap_change
from fairrec.result.metric_schema import MetricResult
from fairrec.result.mitigation_schema import (
    ExposureChange,
    MetricEffect,
    MitigationSummary,
    TradeOffPoint,
)
from fairrec.statistics.changes import GroupChanges


def summary_of(
    plan: MitigationOptions,
    options: AuditOptions,
    split: TargetSplit,
    record: RerankerRecord,
    seen: BeforeAfter,
    changes: GroupChanges,
    audits: Sequence[Mapping[str, MetricResult]],
    was_level: bool,
    trade_off: tuple[TradeOffPoint, ...],
    exposure: tuple[ExposureChange, ...],
    command: str | None,
    leak: str = "",
) -> MitigationSummary:
    """All that is said about a mitigation.

    Parameters
    ----------
    audits : results by metric, before and after
    leak : what to check where the history holds what is relevant
    was_level : whether the groups were level with the others at strength 0, where it was tuned
    """
    kind = RERANKERS[record.reranker]
    effects, to_others = _effects(seen, changes, audits), seen.to_others()
    target = effects[plan.target.name]
    return MitigationSummary(
        fairrec_version=__version__,
        command=told_command(command or plan.as_call()),
        seed=options.seed,
        metric=plan.target.name,
        cost_metric=seen.measures.cost_name,
        reranker=record.reranker,
        about=kind.about,
        is_upper_bound=kind.is_upper_bound,
        strength=record.strength,
        is_tuned=plan.strength == "auto",
        max_loss=plan.max_loss,
        k=record.k,
        protocol=split.protocol,
        n_users_choosing=split.choosing.n_users,
        n_users_tuning=int(seen.choice.is_tuned.sum()),
        n_users_reported=split.reported.n_users,
        rule=str(plan.groups),
        groups=seen.groups(),
        allows_level_down=plan.allow_level_down,
        alpha=options.alpha,
        effects=effects,
        to_others=to_others,
        outcome=outcome_of(target.chosen.verdict, to_others, target.gap, options.alpha),
        regression=seen.regression(),
        trade_off=trade_off,
        n_shared_targets=n_shared_targets(split.choosing, split.reported),
        n_group_tests=changes.n_tests,
        harmed=harmed_groups(changes),
        notes=(*filter(None, (leak,)), *_notes(plan, split, seen, record.strength, was_level)),
        exposure=exposure,
    )


def _effects(
    seen: BeforeAfter, changes: GroupChanges, audits: Sequence[Mapping[str, MetricResult]]
) -> dict[str, MetricEffect]:
    """What it did to each metric: for the chosen, those lowered, the others and everyone."""
    is_other = seen.position < 0
    return {
        metric.name: MetricEffect(
            higher_is_better=metric.metric.higher_is_better,
            is_distance=seen.is_distance(at),
            chosen=seen.chosen_change(at),
            lowered=seen.change(at, seen.lowered) if seen.choice.lowered else None,
            others=seen.change(at, is_other),
            everyone=seen.change(at, np.ones(len(is_other), dtype=bool)),
            gap=gap_change(*(results[metric.name] for results in audits)),
            groups=counts_of(changes, at),
            ordered=ordered_changes(changes, at),
        )
        for at, metric in enumerate(seen.measures.metrics)
    }


def _notes(
    plan: MitigationOptions,
    split: TargetSplit,
    seen: BeforeAfter,
    strength: float,
    was_level: bool,
) -> tuple[str, ...]:
    """What the reader should know."""
    notes = []
    if strength == 0 and plan.strength == "auto":
        notes.append(
            "Where the strength was tuned the chosen groups are behind all others by one standard "
            "error at most, so nothing is changed"
            if was_level
            else "No strength improved the metric at the allowed loss of NDCG where it was tuned, "
            "or each put the chosen groups ahead of all others, so nothing is changed"
        )
    n_choosing, n_reported = split.choosing.n_users, split.reported.n_users
    if split.protocol == "validation targets" and n_choosing != n_reported:
        notes.append(
            f"{n_choosing:,} users have validation targets, {n_reported:,} held-out targets"
        )
    if not seen.choice.is_tuned.any():
        notes.append("Nobody was left to tune the strength on")
    is_without = split.reported.is_without_list
    if is_without.any():
        n_chosen = int((is_without & (seen.position >= 0)).sum())
        notes.append(
            f"{int(is_without.sum()):,} of {n_reported:,} users reported on have no list "
            f"({n_chosen:,} of them in the chosen groups): no re-ranking can serve them"
        )
    return tuple(notes)
