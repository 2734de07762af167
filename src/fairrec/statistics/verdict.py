"""The verdict: what is known about the harm of each group, each metric and the whole audit.

Only a significant group can be worse; the simultaneous interval of its harm then says by how much,
and what can be ruled out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from pydantic import BaseModel, Field

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.statistics.intervals import Interval
from fairrec.statistics.unknown import Unknown, UnknownBounds

if TYPE_CHECKING:
    from fairrec.statistics.analysis import Analysis

Outcome = Literal[
    "worse beyond tolerance",
    "worse",
    "differs beyond tolerance",
    "differs",
    "inconclusive",
    "within tolerance",
]
"""Without a tolerance there is only worse or differs, and inconclusive."""
BEYOND, WORSE, OPEN, WITHIN = range(4)
"""What is known of a group, as arrays hold it; the worst first."""
_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
# in the order of the positions: where one end is worse, and where neither is
_WORSE, _DIFFERS = (*_OUTCOMES[:2], *_OUTCOMES[4:]), _OUTCOMES[2:]


def outcome_names(higher_is_better: bool | None) -> tuple[Outcome, ...]:
    """The outcomes by position; where neither end is better, no group is worse.

    >>> outcome_names(None)[WORSE], outcome_names(False)[WORSE]
    ('differs', 'worse')
    """
    return _DIFFERS if higher_is_better is None else _WORSE


def outcome_position(outcome: Outcome) -> int:
    """The position of an outcome of any metric.

    >>> outcome_position("differs beyond tolerance") == BEYOND
    True
    """
    return (_WORSE if outcome in _WORSE else _DIFFERS).index(outcome)


def worst_outcome(outcomes: Iterable[tuple[Outcome, bool | None]]) -> Outcome:
    """The worst of the outcomes of metrics, each with whether higher is better.

    A metric of which neither end is better decides only where there is no other.
    """
    found = [*outcomes]
    ended = [outcome for outcome, better in found if better is not None]
    return min(
        ended or [outcome for outcome, _ in found],
        key=_OUTCOMES.index,
        default="inconclusive",
    )


MAX_POINTS = 60


def harm_interval(interval: Interval, higher_is_better: bool | None) -> Interval:
    """The interval of a harm; where neither end is better, of the size of the difference."""
    if higher_is_better is not None:
        return Interval(-interval.high, -interval.low) if higher_is_better else interval
    nearest = np.maximum(np.maximum(interval.low, -interval.high), 0.0)
    return Interval(nearest, np.maximum(np.abs(interval.low), np.abs(interval.high)))


class CertifiedSize(BaseModel, frozen=True, extra="forbid"):
    """What is ruled out for groups of at least one size that are not shown to be worse."""

    support: int = Field(description="users, at least")
    harm: float = Field(description="none of them is worse by more, all at once at 1 - alpha")
    n_groups: int


@dataclass(frozen=True, slots=True)
class GroupVerdicts:
    """The outcome of a metric, and what is known about each group; (n_groups,) each.

    Parameters
    ----------
    tolerance : in units of the metric; None where none is set
    of_groups : positions in `outcome_names`; OPEN where a group is not tested
    is_known : whether its interval is valid
    is_worse, is_better : groups shown to be served worse, or better, than all others
    harm : the interval of each group's harm
    """

    outcome: Outcome
    tolerance: float | None
    of_groups: IntArray
    is_known: BoolArray
    is_worse: BoolArray
    is_better: BoolArray
    harm: Interval

    def has(self, position: int) -> BoolArray:
        """(n_groups,), groups with this outcome."""
        return np.asarray(self.of_groups == position)


class MetricVerdict(BaseModel, frozen=True, extra="forbid"):
    """What is known about the harm of the groups of one metric, and what can be ruled out."""

    outcome: Outcome
    alternative: Outcome | None = Field(
        default=None,
        description="undecided by permutation: the outcome that another seed may give, with the "
        "most permutations that are drawn; null where they decide",
    )
    tolerance: float | None = Field(
        description="the largest harm that is accepted, in units of the metric; null where none "
        "was set"
    )
    n_worse_beyond_tolerance: int = Field(
        description="groups worse, or different where neither end is better, beyond tolerance"
    )
    n_worse: int = Field(description="groups shown to be worse, or different, by how much is open")
    n_better: int = Field(description="groups shown to be served better than all others")
    n_within_tolerance: int = Field(
        description="groups whose harm, or difference, is within the tolerance"
    )
    n_exceeding_at_worst: int = Field(
        default=0,
        description="of those ruled out, groups that are worse beyond tolerance at worst: they "
        "are ruled out if the unknown users are like the others",
    )
    at_worst: Unknown | None = Field(
        default=None, description="that of these with the largest harm at worst; null for none"
    )
    n_inconclusive: int = Field(description="groups that are inconclusive")
    ruled_out_from: int | None = Field(
        description="no group of this size or larger is inconclusive"
    )
    n_not_compared: int = Field(
        default=0,
        description="groups tested of which nothing can be ruled out: most of their users have no "
        "others with equal covariates, or the interval of their harm has no limit",
    )
    certificate: tuple[CertifiedSize, ...] = Field(
        description="the largest harm that is not ruled out, for groups of at least each size that "
        "are not shown to be worse; smallest size first"
    )


class Judged(NamedTuple):
    """The verdict about each group in one metric, and that about the metric."""

    groups: GroupVerdicts
    verdict: MetricVerdict


def decide_verdicts(
    analysis: Analysis,
    is_conclusive: Sequence[bool],
    unknown: Sequence[UnknownBounds | None] = (),
) -> tuple[Judged, ...]:
    """The verdict about each metric.

    Parameters
    ----------
    is_conclusive : whether users with a value represent all; otherwise nothing is ruled out
    unknown : bounds of the groups of each metric, where attributes are unknown
    """
    bounds = unknown or [None] * len(is_conclusive)
    return tuple(
        _decide(i, analysis, is_enough, one)
        for i, (is_enough, one) in enumerate(zip(is_conclusive, bounds, strict=True))
    )


def _decide(
    i: int, analysis: Analysis, is_conclusive: bool, bounds: UnknownBounds | None
) -> Judged:
    """The verdict with its scope, and what other seeds may give."""
    groups = _judge_groups(i, analysis, is_conclusive)
    has_others = analysis.is_tested[i] & (analysis.moments.n_others[i] > 0)
    high, n = groups.harm.high, analysis.moments.n[i]
    is_open = groups.has(OPEN) & has_others
    is_certified = groups.is_known & is_conclusive & (groups.of_groups > WORSE)
    # critical values of other seeds
    others = [replace(analysis, raised=by) for by in (0.0, -analysis.raised) if analysis.raised]
    outcome, alternative = settle_outcome(
        groups.outcome, [_judge_groups(i, other, is_conclusive).outcome for other in others]
    )
    exceeding = np.zeros(0, dtype=np.int64)
    at_worst = None
    if bounds is not None and groups.tolerance is not None:
        largest = analysis.measured.metrics[i].metric.harm(bounds.at_worst(i, analysis))
        exceeding = np.flatnonzero(groups.has(WITHIN) & (largest > groups.tolerance))
        worst = exceeding[np.argsort(-largest[exceeding], kind="stable")[:1]].tolist()
        at_worst = next(iter(bounds.describe(i, worst, analysis)), None)
    verdict = MetricVerdict(
        outcome=outcome,
        alternative=alternative,
        tolerance=groups.tolerance,
        n_worse_beyond_tolerance=int(groups.has(BEYOND).sum()),
        n_worse=int(groups.has(WORSE).sum()),
        n_better=int(groups.is_better.sum()),
        n_within_tolerance=int(groups.has(WITHIN).sum()),
        n_exceeding_at_worst=len(exceeding),
        at_worst=at_worst,
        n_inconclusive=int(is_open.sum()),
        ruled_out_from=ruled_out_from(is_open, n),
        n_not_compared=int((has_others & ~(groups.is_known & np.isfinite(high))).sum()),
        certificate=certificate(n, high, is_certified),
    )
    return Judged(replace(groups, outcome=outcome), verdict)


def settle_outcome(
    outcome: Outcome, of_other_seeds: Sequence[Outcome]
) -> tuple[Outcome, Outcome | None]:
    """The outcome to report, and a different one of other seeds."""
    alternative = next((other for other in of_other_seeds if other != outcome), None)
    if alternative is not None and outcome_position(outcome) == WITHIN:
        # no all-clear where another seed may show a harm
        return "inconclusive", alternative
    return outcome, alternative


def is_decided(analysis: Analysis, errors: float) -> bool:
    """Whether outcomes stay with critical values higher and lower by Monte Carlo errors.

    While critical values fall, groups only become worse, or go beyond or within the tolerance.
    """
    both = [replace(analysis, raised=by) for by in (errors, -errors)]
    return all(
        _is_decided(*(_judge_groups(i, one, True) for one in both))
        for i in range(len(analysis.measured.metrics))
    )


def _is_decided(raised: GroupVerdicts, lowered: GroupVerdicts) -> bool:
    if raised.has(BEYOND).any():
        return True
    if lowered.has(BEYOND).any():
        return False
    if raised.tolerance is None:
        return bool(raised.is_worse.any() == lowered.is_worse.any())
    if (raised.is_worse & ~lowered.has(WITHIN)).any():
        return True
    if (lowered.is_worse & ~raised.has(WITHIN)).any():
        return False
    return raised.outcome == lowered.outcome


def _judge_groups(i: int, analysis: Analysis, is_conclusive: bool) -> GroupVerdicts:
    """What is known of each group, and the outcome."""
    metric, options, moments = analysis.measured.metrics[i], analysis.options, analysis.moments
    higher_is_better = metric.metric.higher_is_better
    tolerance = None
    if options.tolerance is not None:
        tolerance = options.tolerance.in_units(metric.name, float(moments.mean[i]))
    interval = harm_interval(
        Interval(*(end[i] for end in analysis.estimates.simultaneous)), higher_is_better
    )
    # the spread of a metric without bounds must be seen
    has_spread = np.isfinite(moments.bounds[i]).all() or analysis.is_adjusted
    is_tested = analysis.is_tested[i] & np.isfinite(moments.difference[i])
    is_known = is_tested & analysis.is_comparable[i] & (has_spread or moments.variance[i] > 0)
    size = metric.metric.harm(np.nan_to_num(moments.difference[i]))
    is_worse = is_shown_worse(size, analysis.is_beyond_chance[i], is_known)
    outcomes = group_outcomes(interval, is_worse, is_known & is_conclusive, tolerance)
    depth = analysis.grouping.lattice.depth
    return GroupVerdicts(
        metric_outcome(outcomes, is_tested, depth, higher_is_better),
        tolerance,
        outcomes,
        is_known,
        is_worse,
        analysis.is_beyond_chance[i] & (size < 0),
        interval,
    )


def is_shown_worse(harm: FloatArray, is_beyond_chance: BoolArray, is_known: BoolArray) -> BoolArray:
    """(n_groups,), significant groups at the worse end."""
    return is_known & is_beyond_chance & (harm > 0)


def group_outcomes(
    harm: Interval, is_worse: BoolArray, is_known: BoolArray, tolerance: float | None
) -> IntArray:
    """(n_groups,), positions in `outcome_names`; within tolerance only where known."""
    outcomes = np.where(is_worse, WORSE, OPEN)
    if tolerance is not None:
        outcomes[is_worse & (harm.low > tolerance)] = BEYOND
        outcomes[is_known & (harm.high < tolerance)] = WITHIN
    return outcomes


def metric_outcome(
    of_groups: IntArray, is_tested: BoolArray, depth: IntArray, higher_is_better: bool | None
) -> Outcome:
    """The outcome of the worst groups.

    It is within tolerance where that holds for every group of the fewest attributes: small
    intersections can hardly ever be ruled out, and those that are inconclusive are counted.
    """
    names = outcome_names(higher_is_better)
    for shown in (BEYOND, WORSE):
        if (of_groups == shown).any():
            return names[shown]
    named = depth == depth.min()
    has_all = is_tested[named].any() and (of_groups[named] == WITHIN).all()
    return names[WITHIN if has_all else OPEN]


def ruled_out_from(is_open: BoolArray, n: FloatArray | IntArray) -> int | None:
    """The users from which on no group is open; None where the largest is."""
    above = n[~is_open & (n > n[is_open].max(initial=0))]
    return int(above.min()) if len(above) else None


def certificate(
    n: FloatArray, highest: FloatArray, is_counted: BoolArray
) -> tuple[CertifiedSize, ...]:
    """The largest harm that is not ruled out among groups of at least any size."""
    groups = np.flatnonzero(is_counted & np.isfinite(highest))
    if not len(groups):
        return ()
    order = groups[np.argsort(-n[groups], kind="stable")]
    largest = np.maximum.accumulate(highest[order])
    # groups of one size count together, and a level starts at the smallest size it holds for
    ends = np.flatnonzero(np.append(n[order][1:] < n[order][:-1], True))
    at = ends[np.append(largest[ends][1:] > largest[ends][:-1], True)][::-1]
    if len(at) > MAX_POINTS:
        at = at[np.unique(np.linspace(0, len(at) - 1, MAX_POINTS).astype(np.int64))]
    return tuple(
        CertifiedSize(
            support=int(n[order[place]]),
            harm=max(0.0, float(largest[place])),
            n_groups=int(place) + 1,
        )
        for place in at
    )
