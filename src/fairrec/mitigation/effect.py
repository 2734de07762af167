"""The effect of a re-ranking: on the chosen groups, all others, everyone and every group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray, finite_or_none
from fairrec.groups.group import Group, is_member
from fairrec.metrics import MetricAtK
from fairrec.metrics.direction import worse_ends
from fairrec.mitigation.choosing import TargetSplit
from fairrec.mitigation.result import (
    GapToOthers,
    HarmedGroup,
    MetricEffect,
    MitigatedGroup,
    Outcome,
    Regression,
)
from fairrec.mitigation.tuning import Aim, mean_or_nan
from fairrec.result.metric_result import estimate_change, gap_change, name_change
from fairrec.result.metric_schema import Change, MetricResult
from fairrec.statistics.paired import (
    ChangeVerdict,
    GroupChanges,
    PairedSums,
    change_of_means,
    paired_sums,
)

HARMED_SHOWN = 20
TINY = 1e-300


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """The users reported on, with their lists as they were and re-ranked.

    Parameters
    ----------
    target : the metric to improve
    aim : the others are those of these users; the side of each group is the one it was chosen on
    before, after : metric -> (n_users,)
    group_of_user : (n_users,), the chosen group a user is in; -1 for all others
    """

    target: MetricAtK
    aim: Aim
    before: Mapping[str, FloatArray]
    after: Mapping[str, FloatArray]
    group_of_user: IntArray
    alpha: float

    @property
    def is_other(self) -> BoolArray:
        """(n_users,), users whose lists are not re-ranked."""
        return self.group_of_user < 0

    def metric_effect(
        self, metric: MetricAtK, n_worse: int, audits: Sequence[Mapping[str, MetricResult]]
    ) -> MetricEffect:
        """The effect on one metric.

        Parameters
        ----------
        n_worse : groups that became significantly worse
        audits : results by metric, before and after
        """
        return MetricEffect(
            higher_is_better=metric.metric.higher_is_better,
            is_distance=self._is_distance(metric),
            chosen=self.chosen_change(metric),
            others=self._change(metric, self.is_other),
            everyone=self._change(metric, np.ones(len(self.is_other), dtype=bool)),
            gap=gap_change(*(results[metric.name] for results in audits)),
            n_groups_worse=n_worse,
        )

    def chosen_change(self, metric: MetricAtK) -> Change:
        """Of the users of the chosen groups; of their distances where that is what is judged."""
        if not self._is_distance(metric):
            return self._change(metric, ~self.is_other)
        before, after = (
            self.aim.values(values[metric.name], self.group_of_user)
            for values in (self.before, self.after)
        )
        return distance_change(before, after, self.alpha)

    def _is_distance(self, metric: MetricAtK) -> bool:
        return metric == self.target and self.aim.is_distance

    def _change(self, metric: MetricAtK, is_in: BoolArray) -> Change:
        before, after = self.before[metric.name][is_in], self.after[metric.name][is_in]
        return estimate_change(before, after, metric.metric.higher_is_better, self.alpha)

    def gap_to_others(self) -> GapToOthers:
        """How far the chosen groups are behind all others in the target metric."""
        if self.aim.side_of_group is None or not self.aim.is_distance:
            side = np.full(len(self.is_other), worse_ends(self.aim.higher_is_better)[0])
        else:
            side = self.aim.side_of_group[self.group_of_user]
        (before, p_before), (after, p_after) = (
            gap_to_others(values[self.target.name], self.is_other, side, self.alpha)
            for values in (self.before, self.after)
        )
        return GapToOthers(before=before, p_before=p_before, after=after, p_after=p_after)

    def mitigated_groups(
        self, groups: Sequence[Group], split: TargetSplit, chosen_by: FloatArray
    ) -> tuple[MitigatedGroup, ...]:
        """Each re-ranked group by itself, its change as `group_changes` has it.

        Parameters
        ----------
        chosen_by : (n_choosers,), the target metric on the targets that were chosen by
        """
        name, higher_is_better = self.target.name, self.target.metric.higher_is_better
        parts = np.stack(paired_sums(self.before[name], self.after[name]))
        found = []
        for group in groups:
            is_in = is_member(group, split.reported.attributes)
            sums = PairedSums(*parts[:, is_in].sum(axis=1, keepdims=True))
            mean = mean_or_nan(chosen_by[is_member(group, split.choosing.attributes)])
            found.append(
                MitigatedGroup(
                    group=group.as_dict(),
                    chosen_by=finite_or_none(mean),
                    change=name_change(sums.changes(self.alpha), 0, higher_is_better, self.alpha),
                )
            )
        return tuple(found)


def distance_change(before: FloatArray, after: FloatArray, alpha: float) -> Change:
    """The change of signed distances: positive ones on the side where they were to be expected.

    That they went down is no improvement where they may have gone past 0. So "improved" and
    "worse" need a second test: on average of before and after users are on the expected side.
    """
    moved = estimate_change(before, after, higher_is_better=False, alpha=alpha)
    average = estimate_change(-before, after, higher_is_better=True, alpha=alpha)
    if moved.verdict in ("improved", "worse") and average.verdict != "improved":
        return moved.model_copy(update={"verdict": "changed"})
    return moved


def gap_to_others(
    values: FloatArray, is_other: BoolArray, side: FloatArray, alpha: float
) -> tuple[float, float] | tuple[None, None]:
    """How far the chosen users are behind the others, and its p-value (Welch's t-test).

    Parameters
    ----------
    side : (n_users,), 1 where more is worse, or further away from the others; -1 where less is
    """
    known = ~np.isnan(values)
    is_chosen, is_other = known & ~is_other, known & is_other
    if min(is_chosen.sum(), is_other.sum()) < 2:
        return None, None
    # of groups on both sides of the others the mean distance hardly depends on where these are
    sides = side[is_chosen]
    others, chosen = sides.mean() * values[is_other], sides * values[is_chosen]
    parts = [(len(part), float(part.mean()), float(part.std(ddof=1))) for part in (others, chosen)]
    gap = change_of_means(parts[0], parts[1], alpha)
    return float(gap.change[0]), float(gap.p_value[0])


def judge_outcome(verdict: ChangeVerdict, to_others: GapToOthers, alpha: float) -> Outcome:
    """The verdict on the chosen groups; no good one where they are further from the others."""
    before, after, p_after = to_others.before, to_others.after, to_others.p_after
    if verdict in ("improved", "changed") and None not in (before, after, p_after):
        assert before is not None and after is not None and p_after is not None
        if before > 0 > after and p_after <= alpha:
            return "turned round"
        if abs(after) > abs(before):
            return "gap grew"
    return verdict


def harmed_groups(changes: GroupChanges) -> tuple[HarmedGroup, ...]:
    """Groups that became significantly worse, those by most standard errors first."""
    found = []
    for at, (metric, higher_is_better) in enumerate(changes.metrics.items()):
        part = changes.changes[at]
        for group in np.flatnonzero(changes.verdicts(at) == "worse").tolist():
            harmed = HarmedGroup(
                metric=metric,
                group=changes.grouping.group(group).as_dict(),
                change=name_change(part, group, higher_is_better, changes.alpha),
            )
            found.append((abs(part.change[group]) / max(part.error[group], TINY), harmed))
    found.sort(key=lambda one: -one[0])
    return tuple(harmed for _, harmed in found[:HARMED_SHOWN])


def regression(
    aim: Aim, chosen_by: FloatArray, group_of_chooser: IntArray, seen: BeforeAfter
) -> Regression:
    """Means of the chosen groups and the others by both targets, without any re-ranking.

    Parameters
    ----------
    aim : as the targets have it that groups were chosen by
    chosen_by : (n_choosers,), the target metric on these targets
    """
    before = seen.aim.values(seen.before[seen.target.name], seen.group_of_user)
    return Regression(
        chosen_by=finite_or_none(mean_or_nan(aim.values(chosen_by, group_of_chooser))),
        fresh=finite_or_none(mean_or_nan(before)),
        others_chosen_by=finite_or_none(aim.rest),
        others_fresh=finite_or_none(seen.aim.rest),
    )
