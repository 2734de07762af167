"""How groups changed from one audit to another: which lost, and which lost more than all others.

Each group has two numbers: its own change, and how far that is from the change of all others (the
difference in differences). Both are one family of tests, with half of alpha each, divided among
groups and metrics (Bonferroni): groups of one attribute get most, so that the many intersections do
not take it from them. The same users are compared by their changes (`compare_paired`), other users
by the means and intervals that both audits have of a group (`unpaired`). Taking the largest
statistic of all groups instead, by turning the signs of changes or permuting attributes, would gain
little and would not hold where some groups vary more than others and changes are skewed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
from scipy.special import ndtri, stdtrit

from fairrec.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from fairrec.groups.grouping import Grouping
from fairrec.metrics.direction import harm, worse_ends
from fairrec.statistics.intervals import CutOffs, Interval, widen_for_unseen
from fairrec.statistics.paired import ROUNDING, PairedSums, group_sums
from fairrec.statistics.scores import Spread, own_error
from fairrec.statistics.simultaneous import DEPTH_SHARES
from fairrec.statistics.verdict import (
    BEYOND,
    OPEN,
    WITHIN,
    WORSE,
    CertifiedSize,
    certificate,
    group_outcomes,
    harm_interval,
    is_shown_worse,
    metric_outcome,
    outcome_position,
)

Loss = Literal[
    "lost beyond tolerance",
    "changed beyond tolerance",
    "lost",
    "changed",
    "inconclusive",
    "gained",
    "no loss",
    "no change",
]
"""What is known of a loss, the worst first; changed and no change where neither end is better.

Beyond tolerance, where that is given. Of a metric or a comparison "gained" means that nothing
lost and something gained, "no loss" that none of the groups of the fewest attributes lost.
"""
LOSSES: tuple[Loss, ...] = get_args(Loss)
BEYOND_TOLERANCE, LOST = LOSSES[:2], LOSSES[:4]
"""Of a group that lost beyond tolerance, and of any that lost or changed."""
SHARE = 0.5
"""Of alpha for each of the two: own changes of groups, and their differences from all others."""


class ComparedGroups(NamedTuple):
    """The groups of one metric in two audits; (n_groups,) each, NaN for what is not known.

    Parameters
    ----------
    n : users that the change rests on; of two sets of users those of the candidate, or of the base
        where the candidate has none
    error : standard error of the change
    low, high : interval of the change, for all groups and metrics at once
    is_known : whether that interval holds
    difference : of the change from that of all others
    difference_low, difference_high : interval of that, in one family with those of the changes
    """

    n: FloatArray
    before: FloatArray
    after: FloatArray
    change: FloatArray
    error: FloatArray
    low: FloatArray
    high: FloatArray
    is_known: BoolArray
    difference: FloatArray
    difference_low: FloatArray
    difference_high: FloatArray

    @property
    def interval(self) -> Interval:
        """Of the change."""
        return Interval(self.low, self.high)

    @property
    def difference_interval(self) -> Interval:
        """Of the difference from the change of all others."""
        return Interval(self.difference_low, self.difference_high)

    @property
    def is_beyond_chance(self) -> BoolArray:
        """Whether the interval of the change leaves out 0."""
        return np.asarray((self.low > 0) | (self.high < 0))

    @property
    def differs(self) -> BoolArray:
        """Whether the interval of the difference leaves out 0."""
        return np.asarray((self.difference_low > 0) | (self.difference_high < 0))

    def append(self, other: ComparedGroups, rows: IntArray) -> ComparedGroups:
        """The same, and after them some groups of another, by their positions."""
        pairs = zip(self, other, strict=True)
        return ComparedGroups(*(np.concatenate([mine, its[rows]]) for mine, its in pairs))


class JudgedGroups(NamedTuple):
    """What is known about the harm of the candidate in one metric: how much worse than the base.

    Parameters
    ----------
    outcome : of the metric
    losses : (n_groups,), what is known of each, as text
    is_behind : (n_groups,), groups that lost more, or gained less, than all others; where neither
        end is better, groups that changed otherwise
    order : (n_groups,), positions of the groups: those that lost beyond tolerance, those that
        lost, those behind the others, the rest; among them those first that surely lost most, and
        last that surely gained most
    """

    outcome: Loss
    losses: AnyArray
    is_behind: BoolArray
    order: IntArray
    certificate: tuple[CertifiedSize, ...]


def compare_paired(
    before: FloatArray,
    after: FloatArray,
    grouping: Grouping,
    is_compared: BoolArray,
    higher_is_better: Sequence[bool | None],
    known_bounds: Sequence[tuple[float, float] | None],
    alpha: float,
    tested: IntArray | None = None,
) -> tuple[ComparedGroups, ...]:
    """The groups that are compared in each metric, by users who are in both audits.

    Parameters
    ----------
    before, after : (n_metrics, n_users), NaN where undefined
    is_compared : (n_metrics, n_groups), which groups of the lattice are; each has a user with
        both values
    known_bounds : lowest and highest value of each metric, where that is known
    tested : how many attributes each group has that alpha is divided among, over all metrics; None
        for those compared here
    """
    sums = [group_sums(*pair, grouping) for pair in zip(before, after, strict=True)]
    depth = grouping.lattice.depth
    if tested is None:
        masks = zip(sums, is_compared, strict=True)
        tested = np.concatenate([depth[is_mine & (of.n > 1)] for of, is_mine in masks])
    levels = significance_levels(depth, tested, alpha)
    found = []
    for at, of in enumerate(sums):
        part, mine = of.changes(levels), is_compared[at]
        level = levels[mine]
        n, change = part.n[mine], part.change[mine]
        interval = Interval(part.low[mine], part.high[mine])
        users = after[at] - before[at]
        users = users[~np.isnan(users)]
        most = _most(users, known_bounds[at])
        extremes = _extremes(users, most, higher_is_better[at])
        is_known = np.isfinite(interval.low) & np.isfinite(interval.high)
        # wider at the worse end alone: a loss is easy to show and hard to rule out, as users of
        # a group who are not seen may lose as much as can be lost
        wider = widen_for_unseen(interval, n, change, change, extremes, cut_off(level))
        low = np.where(is_known, np.maximum(wider.low, -most), np.nan)
        high = np.where(is_known, np.minimum(wider.high, most), np.nan)
        difference, error, freedom = (part[mine] for part in _difference(of, users))
        far = np.where(is_known, stdtrit(freedom, 1 - level / 2) * error, np.nan)
        own = part.before[mine], part.after[mine], change, part.error[mine]
        others = difference, difference - far, difference + far
        found.append(ComparedGroups(n, *own, low, high, is_known, *others))
    return tuple(found)


def _difference(sums: PairedSums, users: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The change of each group minus that of all others, its standard error and their freedom.

    Welch's, with no side taken to vary less than all users do: a handful may hold none of the few
    whose change is large.

    Parameters
    ----------
    users : (n_users,), the change of each
    """
    # around the mean of all, so that squares lose no digits; where all change alike nothing is left
    everyone = users.mean() if len(users) else 0.0
    least = users.var() if len(users) else 0.0
    least = least if least > ROUNDING * everyone**2 else 0.0
    total = sums.after - sums.before - sums.n * everyone
    squares = sums.squares - 2 * everyone * (sums.after - sums.before) + sums.n * everyone**2
    n_others = len(users) - sums.n
    with np.errstate(invalid="ignore", divide="ignore"):
        own, others = (
            Spread(np.maximum(square / np.maximum(n - 1, 1), least), 0 * n, np.maximum(n - 1, 1))
            for n, square in (
                (sums.n, squares - total**2 / sums.n),
                (n_others, len(users) * users.var() - squares - total**2 / n_others),
            )
        )
        difference = total / sums.n + total / n_others
        error, freedom = own_error(own, others, 1 / sums.n, 1 / n_others)
    if not least:
        difference, error = 0 * difference, 0 * error
    return np.where(n_others > 0, difference, np.nan), error, np.nan_to_num(freedom, nan=1.0)


def significance_levels(depth: IntArray, tested: IntArray, alpha: float) -> FloatArray:
    """(n_groups,), the level at which a group is tested, by how many attributes it has.

    >>> significance_levels(np.array([1, 2]), np.array([1, 1, 2, 2, 2]), 0.07).round(6).tolist()
    [0.01, 0.005]

    Parameters
    ----------
    tested : number of attributes of every group that is tested, over all metrics
    """
    # of either half for groups of one, two, three and more attributes; of those there are
    most = len(DEPTH_SHARES)
    n = np.bincount(np.minimum(tested, most) - 1, minlength=most)
    shares = np.where(n > 0, DEPTH_SHARES, 0.0)
    shares = shares / max(shares.sum(), DEPTH_SHARES[-1]) / np.maximum(n, 1)
    levels: FloatArray = SHARE * alpha * shares[np.minimum(depth, most) - 1]
    return levels


def cut_off(level: FloatArray | float) -> CutOffs:
    """Normal scores that are exceeded with this probability, up or down."""
    score = np.asarray(-ndtri(np.asarray(level) / 2))
    return CutOffs(score, score)


def _extremes(of_users: FloatArray, most: float, higher_is_better: bool | None) -> FloatArray:
    """The largest fall and rise of users who are not seen; NaN at the better end.

    As much as the bounds of a metric leave room for; without any as much as any user showed.
    """
    extremes = np.full(2, np.nan)
    for end in worse_ends(higher_is_better) if len(of_users) else ():
        seen = of_users.max() if end > 0 else of_users.min()
        extremes[int(end > 0)] = end * most if np.isfinite(most) else seen
    return extremes


def _most(of_users: FloatArray, bounds: tuple[float, float] | None) -> float:
    """No change is larger than what is between the bounds of a metric, where these hold."""
    most = np.inf if bounds is None else bounds[1] - bounds[0]
    return float(most) if np.abs(of_users).max(initial=0.0) <= most else np.inf


def judge_groups(
    groups: ComparedGroups,
    depth: IntArray,
    higher_is_better: bool | None,
    tolerance: float | None,
    is_conclusive: bool,
    everyone: tuple[float, float] | None = None,
) -> JudgedGroups:
    """What is known about the harm of the candidate.

    Parameters
    ----------
    depth : (n_groups,), how many attributes a group has a condition on
    tolerance : in units of the metric; None where none was set
    is_conclusive : whether the users with a value speak for all, in both audits
    everyone : the interval of the change of the mean
    """
    size = harm(np.nan_to_num(groups.change), higher_is_better)
    interval = harm_interval(groups.interval, higher_is_better)
    is_lost = is_shown_worse(size, groups.is_beyond_chance, groups.is_known)
    is_certain = groups.is_known & is_conclusive
    of_groups = group_outcomes(interval, is_lost, is_certain, tolerance)
    if tolerance is None:
        of_groups[is_certain & (interval.high <= 0)] = WITHIN
    is_gained = groups.is_beyond_chance & groups.is_known & (size < 0)
    names = np.array(_NAMES[higher_is_better is not None])
    is_behind = groups.differs & (harm(np.nan_to_num(groups.difference), higher_is_better) > 0)
    errors = np.divide(size, groups.error, out=np.zeros_like(size), where=groups.error > 0)
    # what holds for groups of some size holds for all of them
    is_above = groups.n > groups.n[~groups.is_known].max(initial=0)
    rank = np.where(of_groups > WORSE, np.where(is_behind, OPEN, WITHIN), of_groups)
    position = OPEN
    if len(depth):
        worst = metric_outcome(of_groups, groups.is_known, depth, higher_is_better)
        position = outcome_position(worst)
    low, high = interval
    surely = np.where(low > 0, low, np.where(high < 0, high, 0.0))
    return JudgedGroups(
        outcome=_outcome(position, bool(is_gained.any()), everyone, higher_is_better, tolerance),
        losses=np.where(is_gained, "gained", names[of_groups]),
        is_behind=is_behind,
        order=np.lexsort((-errors, -surely, rank)),
        certificate=certificate(
            groups.n, interval.high, is_certain & is_above & (of_groups > WORSE)
        ),
    )


_NAMES: dict[bool, tuple[Loss, ...]] = {
    True: ("lost beyond tolerance", "lost", "inconclusive", "no loss"),
    False: ("changed beyond tolerance", "changed", "inconclusive", "no change"),
}
"""What BEYOND, WORSE, OPEN and WITHIN are called here, where an end is better and where none is."""


def _outcome(
    of_groups: int,
    has_gained: bool,
    everyone: tuple[float, float] | None,
    higher_is_better: bool | None,
    tolerance: float | None,
) -> Loss:
    """What is known of a loss of any group, the mean of all included.

    Parameters
    ----------
    of_groups : BEYOND, WORSE, OPEN or WITHIN
    """
    ends = np.array([everyone or (np.nan, np.nan)]).T
    mean = harm_interval(Interval(*ends), higher_is_better)
    (of_mean,) = group_outcomes(mean, mean.low > 0, np.ones(1, dtype=np.bool_), tolerance)
    if of_mean == BEYOND or (of_groups == OPEN and of_mean == WORSE):
        of_groups = int(of_mean)
    if of_groups == OPEN:
        return "gained" if has_gained or mean.high[0] < 0 else "inconclusive"
    return _NAMES[higher_is_better is not None][of_groups]


def worst_loss(losses: Sequence[Loss]) -> Loss:
    """The worst, such as among the metrics of a comparison."""
    return min(losses, key=LOSSES.index, default="inconclusive")
