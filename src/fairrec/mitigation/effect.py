"""What a re-ranking did: to the chosen groups, the others, everyone and every group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray, finite_or_none
from fairrec.core.audit_options import AuditOptions
from fairrec.core.redact_paths import redact_command
from fairrec.core.version import __version__
from fairrec.groups.group import Group, group_of_users, is_member
from fairrec.inputs.users import Attribute
from fairrec.metrics.direction import worse_ends
from fairrec.mitigation.choosing import (
    Aim,
    Levels,
    Measures,
    TargetSplit,
    is_level,
    mean_or_nan,
    measure_levels,
    n_shared_targets,
)
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.reranker import RERANKERS
from fairrec.mitigation.result import (
    DetectableChange,
    GapToOthers,
    GroupCounts,
    HarmedGroup,
    MetricEffect,
    MitigatedGroup,
    MitigationSummary,
    Outcome,
    Regression,
    RerankerRecord,
    TradeOffPoint,
)
from fairrec.result.metric_result import estimate_change, gap_change, name_change
from fairrec.result.metric_schema import Change, GapChange, MetricResult
from fairrec.statistics.paired import (
    ChangeVerdict,
    GroupChanges,
    PairedSums,
    change_of_means,
    paired_sums,
)

HARMED_SHOWN = 20


def distance_change(before: FloatArray, after: FloatArray, alpha: float) -> Change:
    """The change of signed distances: positive ones on the side where they were to be expected.

    That they went down is no improvement where they went past 0 and away on the other side.
    A distance became smaller if users moved one way and are the other way on average of before
    and after, and each must be shown.
    """
    moved = estimate_change(before, after, None, alpha)
    stood = estimate_change(-before, after, None, alpha)
    if moved.verdict != "changed" or stood.verdict != "changed":
        return moved
    assert moved.change is not None and stood.change is not None
    if moved.change * stood.change > 0:
        return moved.model_copy(update={"verdict": "worse"})
    # on the other side than expected there was no such distance to reduce
    is_expected = stood.change > 0
    return moved.model_copy(update={"verdict": "improved"}) if is_expected else moved


def gap_to_others(
    values: FloatArray, is_other: BoolArray, side: FloatArray, alpha: float
) -> tuple[float, float] | tuple[None, None]:
    """How far some users are behind the others, and the p-value of that.

    Parameters
    ----------
    side : (n_users,), 1 where more is worse, or further away from the others; -1 where less is;
        NaN for users who are not chosen
    """
    known = ~np.isnan(values)
    is_chosen, is_other = known & ~np.isnan(side), known & is_other
    if min(is_chosen.sum(), is_other.sum()) < 2:
        return None, None
    # what lies on both sides of the others depends the less on where these are
    sides = side[is_chosen]
    others, chosen = sides.mean() * values[is_other], sides * values[is_chosen]
    parts = [(len(part), float(part.mean()), float(part.std(ddof=1))) for part in (others, chosen)]
    gap = change_of_means(parts[0], parts[1], alpha)
    return float(gap.change[0]), float(gap.p_value[0])


def judge_outcome(
    verdict: ChangeVerdict, to_others: GapToOthers, gap: GapChange, alpha: float
) -> Outcome:
    """The verdict on the chosen groups; none that is good where it took groups further apart.

    Parameters
    ----------
    gap : between the best and the worst intersection
    """
    if verdict not in ("improved", "changed"):
        return verdict
    before, after, p_after = to_others.before, to_others.after, to_others.p_after
    if before is not None and after is not None and p_after is not None:
        if before > 0 > after and p_after <= alpha:
            return "turned round"
        if abs(after) > abs(before):
            return "gap grew"
    is_beyond_chance = gap.chance_after is not None and gap.chance_after.p_value <= alpha
    if is_beyond_chance and gap.before is not None and gap.after is not None:
        return "intersections further apart" if gap.after > gap.before else verdict
    return verdict


def count_verdicts(changes: GroupChanges, metric: int) -> GroupCounts:
    """How many groups of a metric became significantly better or worse."""
    counts = Counter(changes.verdicts(metric).tolist())
    return GroupCounts(
        **{name: counts[name.replace("_", " ")] for name in GroupCounts.model_fields}
    )


def detectable_change(changes: GroupChanges, metric: int) -> DetectableChange:
    """How small a change of a group could have been shown."""
    part = changes.changes[metric]
    touched = np.flatnonzero(part.n_changed > 0)
    least = part.least_shown(changes.alpha / max(changes.n_tests, 1))[touched]
    seeing = np.sort(least[np.isfinite(least)])
    return DetectableChange(
        n_groups=len(touched),
        n_blind=len(touched) - len(seeing),
        # the smallest change that at least half of them would have shown
        least_shown=float(seeing[(len(seeing) - 1) // 2]) if len(seeing) else None,
    )


def harmed_groups(changes: GroupChanges) -> tuple[HarmedGroup, ...]:
    """Groups that became significantly worse, those by most standard errors first."""
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = [np.abs(part.change) / part.error for part in changes.changes]
    found = [
        (-errors[m][g], m, int(g))
        for m in range(len(changes.metrics))
        for g in np.flatnonzero(changes.verdicts(m) == "worse")
    ]
    metrics = [*changes.metrics.items()]
    return tuple(
        HarmedGroup(
            metric=metrics[m][0],
            group=changes.grouping.group(g).as_dict(),
            change=name_change(changes.changes[m], g, metrics[m][1], changes.alpha),
        )
        for _, m, g in sorted(found)[:HARMED_SHOWN]
    )


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """What was measured on both targets, and who was re-ranked.

    Parameters
    ----------
    aim : as the targets that were chosen by have it
    chosen_by : (n_metrics, n_choosers), on the targets that were chosen by
    before, after : (n_metrics, n_users), on the held-out targets, which are reported on
    position : (n_users,), the chosen group a user is in; -1 for all others
    choosers, users : attributes of those chosen by and of those reported on
    """

    measures: Measures
    aim: Aim
    chosen: tuple[Group, ...]
    chosen_by: FloatArray
    before: FloatArray
    after: FloatArray
    position: IntArray
    choosers: Sequence[Attribute]
    users: Sequence[Attribute]
    alpha: float

    @property
    def reported_aim(self) -> Aim:
        """The aim as the held-out targets have it: the others are those of these targets.

        Only the side of each group is that of the targets it was chosen by.
        """
        chosen_by = self.chosen_by[self.measures.target]
        sides = self.aim.sides(chosen_by, self._chooser_groups, len(self.chosen))
        rest = mean_or_nan(self.before[self.measures.target][self.position < 0])
        return replace(self.aim, rest=rest, side_of_group=sides)

    @property
    def _chooser_groups(self) -> IntArray:
        return group_of_users(self.chosen, self.choosers)

    def change(self, metric: int, is_in: BoolArray) -> Change:
        """Of some users."""
        higher_is_better = self.measures.metrics[metric].metric.higher_is_better
        before, after = self.before[metric][is_in], self.after[metric][is_in]
        return estimate_change(before, after, higher_is_better, self.alpha)

    def is_distance(self, metric: int) -> bool:
        """Whether the chosen groups are judged by their distance from the others."""
        return metric == self.measures.target and self.aim.is_distance

    def chosen_change(self, metric: int) -> Change:
        """Of the users of the chosen groups; towards the others where no end is better."""
        if not self.is_distance(metric):
            return self.change(metric, self.position >= 0)
        aim = self.reported_aim
        before, after = (aim.values(v[metric], self.position) for v in (self.before, self.after))
        return distance_change(before, after, self.alpha)

    def effects(
        self, changes: GroupChanges, audits: Sequence[Mapping[str, MetricResult]]
    ) -> dict[str, MetricEffect]:
        """What it did to each metric.

        Parameters
        ----------
        audits : results by metric, before and after
        """
        is_other = self.position < 0
        return {
            metric.name: MetricEffect(
                higher_is_better=metric.metric.higher_is_better,
                is_distance=self.is_distance(at),
                chosen=self.chosen_change(at),
                others=self.change(at, is_other),
                everyone=self.change(at, np.ones(len(is_other), dtype=bool)),
                gap=gap_change(*(results[metric.name] for results in audits)),
                groups=count_verdicts(changes, at),
                detectable=detectable_change(changes, at),
            )
            for at, metric in enumerate(self.measures.metrics)
        }

    def to_others(self) -> GapToOthers:
        """How far the chosen groups are behind all others in the target metric."""
        worse_end = worse_ends(self.aim.higher_is_better)[0]
        sides = self.reported_aim.side_of_group if self.aim.is_distance else None
        of_group = np.full(len(self.chosen), worse_end) if sides is None else sides
        side, is_other = np.append(of_group, np.nan)[self.position], self.position < 0
        (before, p_before), (after, p_after) = (
            gap_to_others(values[self.measures.target], is_other, side, self.alpha)
            for values in (self.before, self.after)
        )
        return GapToOthers(before=before, p_before=p_before, after=after, p_after=p_after)

    def groups(self) -> tuple[MitigatedGroup, ...]:
        """Each re-ranked group by itself, its change as `group_changes` has it."""
        target = self.measures.target
        higher_is_better = self.measures.metrics[target].metric.higher_is_better
        parts = np.stack(paired_sums(self.before[target], self.after[target]))
        found = []
        for group in self.chosen:
            sums = PairedSums(*parts[:, is_member(group, self.users)].sum(axis=1, keepdims=True))
            by = mean_or_nan(self.chosen_by[target][is_member(group, self.choosers)])
            change = name_change(sums.changes(self.alpha), 0, higher_is_better, self.alpha)
            found.append(
                MitigatedGroup(group=group.as_dict(), chosen_by=finite_or_none(by), change=change)
            )
        return tuple(found)

    def regression(self) -> Regression:
        """The chosen groups and the others by the targets chosen by, and by held-out ones."""
        target, fresh = self.measures.target, self.reported_aim
        means = {
            "chosen_by": self.aim.level(self.chosen_by[target], self._chooser_groups),
            "fresh": fresh.level(self.before[target], self.position),
            "others_chosen_by": self.aim.rest,
            "others_fresh": fresh.rest,
        }
        return Regression(**{name: finite_or_none(mean) for name, mean in means.items()})

    def trade_off(self, tuned: Levels, measured: FloatArray) -> tuple[TradeOffPoint, ...]:
        """What each strength does where it was tuned and where it is reported.

        Parameters
        ----------
        measured : (n_strengths, 2, n_touched), target and cost of the re-ranked users
        """
        touched, cost = self.position >= 0, self.measures.cost
        reported = measure_levels(measured, [*tuned], self.reported_aim, self.position[touched])
        costs = np.full(len(touched), np.nan) if cost is None else self.before[cost].copy()
        points = []
        for strength, of_touched in zip(tuned, measured[:, 1], strict=True):
            costs[touched] = of_touched
            numbers = {
                "tuned": tuned[strength].target,
                "tuned_cost": tuned[strength].cost,
                "reported": reported[strength].target,
                "reported_cost": reported[strength].cost,
                "everyone_cost": mean_or_nan(costs),
            }
            known = {name: finite_or_none(value) for name, value in numbers.items()}
            points.append(TradeOffPoint(strength=strength, **known))
        return tuple(points)


def build_summary(
    plan: MitigationOptions,
    options: AuditOptions,
    split: TargetSplit,
    record: RerankerRecord,
    seen: BeforeAfter,
    changes: GroupChanges,
    audits: Sequence[Mapping[str, MetricResult]],
    levels: Levels,
    curve: FloatArray,
    n_tuned: int,
    command: str | None,
    leak: str = "",
) -> MitigationSummary:
    """All that is said about a mitigation.

    Parameters
    ----------
    audits : results by metric, before and after
    levels, curve : what strengths do where they were tuned, and to the re-ranked users
    n_tuned : users that the strength was tuned on
    leak : what to check where the history holds what is relevant
    """
    kind, effects = RERANKERS[record.reranker], seen.effects(changes, audits)
    target, to_others = effects[plan.target.name], seen.to_others()
    is_useless = record.strength == 0 and plan.strength == "auto"
    notes = (
        leak,
        _why_nothing(seen.aim, levels) if is_useless else "",
        "" if n_tuned else "Nobody was left to tune the strength on",
        _without_list(split, seen.position >= 0),
    )
    return MitigationSummary(
        fairrec_version=__version__,
        command=redact_command(command or plan.as_call()),
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
        n_users_tuning=n_tuned,
        n_users_reported=split.reported.n_users,
        rule=str(plan.groups),
        groups=seen.groups(),
        alpha=options.alpha,
        effects=effects,
        to_others=to_others,
        outcome=judge_outcome(target.chosen.verdict, to_others, target.gap, options.alpha),
        regression=seen.regression(),
        trade_off=seen.trade_off(levels, curve),
        n_shared_targets=n_shared_targets(split),
        n_group_tests=changes.n_tests,
        harmed=harmed_groups(changes),
        notes=tuple(filter(None, notes)),
    )


def _why_nothing(aim: Aim, levels: Levels) -> str:
    if is_level(levels, aim, 0.0):
        return (
            "Where the strength was tuned the chosen groups are behind all others by one standard "
            "error at most, so nothing is changed"
        )
    return (
        "No strength improved the metric at the allowed loss of NDCG where it was tuned, or each "
        "put the chosen groups ahead of all others, so nothing is changed"
    )


def _without_list(split: TargetSplit, is_chosen: BoolArray) -> str:
    is_without = split.reported.is_without_list
    if not is_without.any():
        return ""
    return (
        f"{int(is_without.sum()):,} of {split.reported.n_users:,} users reported on have no list "
        f"({int((is_without & is_chosen).sum()):,} of them in the chosen groups): no re-ranking "
        "can serve them"
    )
