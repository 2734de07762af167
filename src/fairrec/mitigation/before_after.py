"""The values of all users before and after, and what they say about whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.groups.membership import group_of_users, is_member
from fairrec.inputs.users import Attribute
from fairrec.metrics.direction import worse_ends
from fairrec.mitigation.effect import change_among, distance_change, gap_to_others
from fairrec.mitigation.groups import Choice
from fairrec.mitigation.measures import Measures
from fairrec.mitigation.tuning import Aim, Levels, levels_of, mean_or_nan
from fairrec.result.change_schema import Change
from fairrec.result.changes import change_of
from fairrec.result.mitigation_schema import (
    GapToOthers,
    MitigatedGroup,
    Regression,
    TradeOffPoint,
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
        return change_of(before, after, higher_is_better, self.alpha)

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
        """Each re-ranked group by itself."""
        target = self.measures.target
        chosen_by, before, after = (v[target] for v in (self.chosen_by, self.before, self.after))
        higher_is_better = self.measures.metrics[target].metric.higher_is_better
        return tuple(
            MitigatedGroup(
                group=group.as_dict(),
                chosen_by=_or_none(mean_or_nan(chosen_by[is_member(group, self.choosers)])),
                change=change_among(
                    before,
                    after,
                    is_member(group, self.users),
                    higher_is_better,
                    self.alpha,
                ),
            )
            for group in self.choice.groups
        )

    def regression(self) -> Regression:
        """The chosen groups and the others by the targets chosen by, and by held-out ones."""
        chosen_by = self.aim.level(self.chosen_by[self.measures.target], self._chooser_groups)
        fresh = self.reported_aim.level(self.before[self.measures.target], self.position)
        return Regression(
            chosen_by=_or_none(chosen_by),
            fresh=_or_none(fresh),
            others_chosen_by=_or_none(self.aim.rest),
            others_fresh=_or_none(self.reported_aim.rest),
        )

    def trade_off(self, tuned: Levels, measured: FloatArray) -> tuple[TradeOffPoint, ...]:
        """What each strength does where it was tuned and where it is reported.

        Parameters
        ----------
        measured : (n_strengths, 2, n_touched), target and cost of the re-ranked users
        """
        touched = self.position >= 0
        reported = levels_of(measured, tuned.strengths, self.reported_aim, self.position[touched])
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
            known = {name: _or_none(float(value)) for name, value in numbers.items()}
            points.append(TradeOffPoint(strength=strength, **known))
        return tuple(points)


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else value
