"""What a re-ranking did: to the chosen groups, the others, everyone, every group, and the items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray, finite_or_none
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import InputError
from fairrec.core.options import Blank, spell
from fairrec.core.redact_paths import redact_command
from fairrec.core.version import __version__
from fairrec.groups.group import group_of_users, is_member
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.catalogue import Catalogue, read_catalogue
from fairrec.inputs.ids import find_positions
from fairrec.inputs.multivalued import MOST_EACH
from fairrec.inputs.side_data import SideData, as_lists
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.inputs.users import MISSING, Attribute
from fairrec.metrics.direction import badness, worse_ends
from fairrec.metrics.item_exposure import discounts
from fairrec.metrics.ranked import RankedLists, mean_over_places
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.reranker import RERANKERS
from fairrec.mitigation.result import (
    ExposureChange,
    GapToOthers,
    GroupCounts,
    HarmedGroup,
    MetricEffect,
    MitigatedGroup,
    MitigationSummary,
    OrderedChanges,
    Outcome,
    Regression,
    RerankerRecord,
    TradeOffPoint,
)
from fairrec.mitigation.splitting import Choice, TargetSplit, n_shared_targets
from fairrec.mitigation.tuning import Aim, Levels, Measures, mean_or_nan, measure_levels
from fairrec.result.metric_result import estimate_change, gap_change, name_change
from fairrec.result.metric_schema import Change, GapChange, MetricResult
from fairrec.statistics.paired import (
    ChangeVerdict,
    GroupChanges,
    PairedSums,
    change_of_means,
    change_verdict,
    paired_sums,
)
from fairrec.statistics.simultaneous import holm

HARMED_SHOWN = 20
MARKS_SHOWN = 150


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


def ordered_changes(changes: GroupChanges, metric: int) -> OrderedChanges:
    """The changes of a metric in order, and how small a one could have been shown."""
    part = changes.changes[metric]
    touched = np.flatnonzero(part.n_changed > 0)
    falls = badness(part.change[touched], [*changes.metrics.values()][metric])
    ranked = touched[np.argsort(-falls, kind="stable")]
    shown = ranked
    if len(ranked) > MARKS_SHOWN:
        shown = ranked[np.linspace(0, len(ranked) - 1, MARKS_SHOWN).round().astype(np.int64)]
    least = part.least_shown(changes.alpha / max(changes.n_tests, 1))[touched]
    seeing = np.sort(least[np.isfinite(least)])
    return OrderedChanges(
        n_groups=len(touched),
        n_blind=len(touched) - len(seeing),
        # the smallest change that at least half of them would have shown
        least_shown=float(seeing[(len(seeing) - 1) // 2]) if len(seeing) else None,
        changes=tuple(part.change[shown].tolist()),
        verdicts=tuple(changes.verdicts(metric)[shown].tolist()),
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
    chosen_by : (n_metrics, n_choosers), on the targets that were chosen by
    before, after : (n_metrics, n_users), on the held-out targets, which are reported on
    position : (n_users,), the chosen group a user is in; -1 for all others
    choosers, users : attributes of those chosen by and of those reported on
    """

    measures: Measures
    aim: Aim
    choice: Choice
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
        rest = mean_or_nan(self.before[self.measures.target][self.position < 0])
        return replace(self.aim, rest=rest, side_of_group=self._sides)

    @property
    def _chooser_groups(self) -> IntArray:
        return group_of_users(self.choice.groups, self.choosers)

    @property
    def _sides(self) -> FloatArray:
        chosen_by = self.chosen_by[self.measures.target]
        return self.aim.sides(chosen_by, self._chooser_groups, len(self.choice.groups))

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

    def to_others(self) -> GapToOthers:
        """How far the chosen groups are behind all others in the target metric."""
        target, is_other = self.measures.target, self.position < 0
        worse_end = worse_ends(self.aim.higher_is_better)[0]
        is_distance, n_groups = self.aim.is_distance, len(self.choice.groups)
        of_group = self._sides if is_distance else np.full(n_groups, worse_end)
        side = np.append(of_group, np.nan)[self.position]
        gaps = (
            gap_to_others(values[target], is_other, side, self.alpha)
            for values in (self.before, self.after)
        )
        (before, p_before), (after, p_after) = gaps
        return GapToOthers(before=before, p_before=p_before, after=after, p_after=p_after)

    def groups(self) -> tuple[MitigatedGroup, ...]:
        """Each re-ranked group by itself, its change as `group_changes` has it."""
        target = self.measures.target
        chosen_by = self.chosen_by[target]
        higher_is_better = self.measures.metrics[target].metric.higher_is_better
        parts = np.stack(paired_sums(self.before[target], self.after[target]))
        found = []
        for group in self.choice.groups:
            sums = PairedSums(*parts[:, is_member(group, self.users)].sum(axis=1, keepdims=True))
            by = mean_or_nan(chosen_by[is_member(group, self.choosers)])
            change = name_change(sums.changes(self.alpha), 0, higher_is_better, self.alpha)
            found.append(
                MitigatedGroup(group=group.as_dict(), chosen_by=finite_or_none(by), change=change)
            )
        return tuple(found)

    def regression(self) -> Regression:
        """The chosen groups and the others by the targets chosen by, and by held-out ones."""
        chosen_by = self.aim.level(self.chosen_by[self.measures.target], self._chooser_groups)
        fresh = self.reported_aim.level(self.before[self.measures.target], self.position)
        return Regression(
            chosen_by=finite_or_none(chosen_by),
            fresh=finite_or_none(fresh),
            others_chosen_by=finite_or_none(self.aim.rest),
            others_fresh=finite_or_none(self.reported_aim.rest),
        )

    def trade_off(self, tuned: Levels, measured: FloatArray) -> tuple[TradeOffPoint, ...]:
        """What each strength does where it was tuned and where it is reported.

        Parameters
        ----------
        measured : (n_strengths, 2, n_touched), target and cost of the re-ranked users
        """
        touched = self.position >= 0
        reported = measure_levels(
            measured, tuned.strengths, self.reported_aim, self.position[touched]
        )
        cost = self.measures.cost
        costs = np.full(len(touched), np.nan) if cost is None else self.before[cost].copy()
        points = []
        for at, strength in enumerate(tuned.strengths):
            costs[touched] = measured[at, 1]
            numbers = {
                "tuned": tuned.target[at],
                "tuned_cost": tuned.cost[at],
                "reported": reported.target[at],
                "reported_cost": reported.cost[at],
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
        n_users_tuning=int(seen.choice.is_tuned.sum()),
        n_users_reported=split.reported.n_users,
        rule=str(plan.groups),
        groups=seen.groups(),
        alpha=options.alpha,
        effects=effects,
        to_others=to_others,
        outcome=judge_outcome(target.chosen.verdict, to_others, target.gap, options.alpha),
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
    """What it did to each metric: for the chosen, the others and everyone."""
    is_other = seen.position < 0
    return {
        metric.name: MetricEffect(
            higher_is_better=metric.metric.higher_is_better,
            is_distance=seen.is_distance(at),
            chosen=seen.chosen_change(at),
            others=seen.change(at, is_other),
            everyone=seen.change(at, np.ones(len(is_other), dtype=bool)),
            gap=gap_change(*(results[metric.name] for results in audits)),
            groups=count_verdicts(changes, at),
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


def read_item_catalogue(tables: TableOptions, by_items: Sequence[str]) -> Catalogue | None:
    """The items by the attributes named, or by their categories; None where there are none."""
    if tables.items is None:
        if by_items:
            raise InputError(
                f"{spell('by_items')} are columns of the items. Give them: "
                f"{spell('items', Blank('FILE'))}"
            )
        return None
    table = Table.open(tables.items, "items", tables.columns)
    by = by_items or _categories(table)
    return read_catalogue(table, by) if by else None


def _categories(table: Table) -> Sequence[str]:
    """Each category as an attribute, where that is not too many."""
    column = table.find("categories")
    if column is None:
        return ()
    values = as_lists(table.read({"categories": column})["categories"], table.where, column)
    return (f"{column}:each",) if 0 < values.explode().n_unique() <= MOST_EACH else ()


def exposure_changes(
    before: CandidateLists,
    after: CandidateLists,
    catalogue: Catalogue,
    k: int,
    alpha: float,
    threads: int = 1,
) -> tuple[ExposureChange, ...]:
    """The share of a list's attention that each group of items gets, the largest change first.

    As `share@k` has it: places of items whose value is not known are left out, and told as a group
    of their own where the items are in the catalogue. Lists are compared user by user, and verdicts
    adjusted for all groups (Holm). Of an attribute that is yes or no, yes is told.
    """
    items = find_positions(before.item_ids, catalogue.item_keys)
    ranked = [RankedLists(lists, k, SideData(), threads) for lists in (before, after)]
    found = []
    for attribute in catalogue.units.attributes(np.arange(catalogue.n_units)):
        is_answer = {*attribute.values} <= {"yes", "no", MISSING}
        for code, value in enumerate(attribute.values):
            if is_answer and value != "yes":
                continue
            is_in = attribute.codes == code
            is_known = np.array([value == MISSING or one != MISSING for one in attribute.values])
            has_value = np.where(is_known[attribute.codes], is_in, np.nan)
            per_item = np.append(has_value, np.nan)[items]
            shares = [mean_over_places(one, k, per_item, discounts(k)) for one in ranked]
            found.append(
                ExposureChange(
                    group={attribute.name: value},
                    n_items=int(is_in.sum()),
                    share_of_items=float(is_in.sum() / catalogue.n_units),
                    change=estimate_change(shares[0], shares[1], None, alpha),
                )
            )
    p_values = [1.0 if one.change.p_value is None else one.change.p_value for one in found]
    adjusted = []
    for one, p in zip(found, holm(np.array(p_values)).tolist(), strict=True):
        verdict = change_verdict(one.change.change or 0.0, p, None, alpha)
        change = one.change.model_copy(update={"verdict": verdict})
        adjusted.append(one.model_copy(update={"change": change}))
    return tuple(sorted(adjusted, key=lambda one: -abs(one.change.change or 0.0)))
