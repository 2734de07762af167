"""The verdict: what is known about the harm of each group, each metric and the whole audit.

Only a group that stands out by both errors can be worse; the interval that holds for all groups
and metrics at once then says by how much, and what can be ruled out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from fairrec.core.arrays import BoolArray, CodeArray, FloatArray, IntArray
from fairrec.core.kernels import kernel
from fairrec.groups.cells import Cells
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.intervals import Interval

Outcome = Literal[
    "worse by more",
    "worse",
    "differs by more",
    "differs",
    "inconclusive",
    "not worse by more",
    "differs by no more",
]
"""Than matters; without an amount that matters there is only worse or differs, and inconclusive."""
BY_MORE, WORSE, OPEN, RULED_OUT = range(4)
"""What is known of a group, as arrays hold it; what matters most first."""
_WORSE: tuple[Outcome, ...] = ("worse by more", "worse", "inconclusive", "not worse by more")
_DIFFERS: tuple[Outcome, ...] = (
    "differs by more",
    "differs",
    "inconclusive",
    "differs by no more",
)


def outcome_names(higher_is_better: bool | None) -> tuple[Outcome, ...]:
    """The words for the positions above; where neither end is better, no group is worse.

    >>> outcome_names(None)[WORSE], outcome_names(False)[WORSE]
    ('differs', 'worse')
    """
    return _DIFFERS if higher_is_better is None else _WORSE


def position_of(outcome: Outcome) -> int:
    """The position of a word, whatever the metric.

    >>> position_of("differs by more") == position_of("worse by more") == BY_MORE
    True
    """
    return (_WORSE if outcome in _WORSE else _DIFFERS).index(outcome)


def outcome_of_all(outcomes: Iterable[tuple[Outcome, bool | None]]) -> Outcome:
    """The one that matters most, such as among the metrics of an audit.

    A metric of which neither end is better decides only where there is no other.

    Parameters
    ----------
    outcomes : each with whether higher is better in its metric
    """
    found = [*outcomes]
    ended = [outcome for outcome, better in found if better is not None]
    return min(
        ended or [outcome for outcome, _ in found],
        key=get_args(Outcome).index,
        default="inconclusive",
    )


MAX_POINTS = 60
_MAX_MARKED = 4_000_000_000


def harm_interval(interval: Interval, higher_is_better: bool | None) -> Interval:
    """The interval of a harm from that of a difference.

    Where neither end is better, of the size of the difference.
    """
    if higher_is_better is not None:
        return Interval(-interval.high, -interval.low) if higher_is_better else interval
    nearest = np.maximum(np.maximum(interval.low, -interval.high), 0.0)
    return Interval(nearest, np.maximum(np.abs(interval.low), np.abs(interval.high)))


@dataclass(frozen=True, slots=True)
class CertifiedPoint:
    """Among groups of at least `n_users` users that are not shown worse, the largest harm."""

    n_users: int
    harm: float
    n_groups: int


@dataclass(frozen=True, slots=True)
class Scope:
    """What the verdict is about.

    Parameters
    ----------
    n_better : groups shown to be served better than all others
    n_ruled_out : groups that are not worse by more than matters
    ruled_out_from : all groups of at least so many users are ruled out or shown worse; None where
        the largest is open
    n_open : groups about which nothing can be said, those too little known included
    open_share : users in any of these; None where that would take too long
    n_not_compared : those of them that are too little known, whatever matters
    """

    n_better: int
    n_ruled_out: int
    ruled_out_from: int | None
    n_open: int
    open_share: float | None
    n_not_compared: int


@dataclass(frozen=True, slots=True)
class MetricVerdict:
    """What is known about one metric.

    Parameters
    ----------
    tolerance : in units of the metric; None where nothing was said
    of_groups : (n_groups,), positions in `outcome_names`; OPEN where a group is not tested
    is_known : (n_groups,), whether its interval holds, so that something can be said
    harm : the interval of each group's harm
    certificate : by size, from the smallest group up; empty where nothing is ruled out
    alternative : the outcome that another seed may give; None where permutations decide
    """

    outcome: Outcome
    tolerance: float | None
    of_groups: IntArray
    is_known: BoolArray
    harm: Interval
    scope: Scope
    certificate: tuple[CertifiedPoint, ...]
    alternative: Outcome | None = None


@dataclass(frozen=True, slots=True)
class _Groups:
    """What is known of each group in one metric; as of `MetricVerdict`."""

    tolerance: float | None
    outcomes: IntArray
    is_known: BoolArray
    is_worse: BoolArray
    is_better: BoolArray
    harm: Interval
    outcome: Outcome

    def are(self, position: int) -> BoolArray:
        """(n_groups,), groups of which this is known."""
        return np.asarray(self.outcomes == position)


def verdicts_of(analysis: Analysis, is_conclusive: Sequence[bool]) -> tuple[MetricVerdict, ...]:
    """The verdict about each metric.

    Parameters
    ----------
    is_conclusive : whether the users with a value speak for all; otherwise nothing is ruled out
    """
    found = [_verdict(i, analysis, is_enough) for i, is_enough in enumerate(is_conclusive)]
    if analysis.raised:
        others = [replace(analysis, raised=raised) for raised in (0.0, -analysis.raised)]
        for i, verdict in enumerate(found):
            outcomes = [_groups(i, other, is_conclusive[i]).outcome for other in others]
            found[i] = _undecided(verdict, outcomes)
    return tuple(found)


def _undecided(verdict: MetricVerdict, outcomes: Sequence[Outcome]) -> MetricVerdict:
    """The verdict where other critical values, of other seeds, give some outcomes."""
    differing = [outcome for outcome in outcomes if outcome != verdict.outcome]
    if not differing:
        return verdict
    # no all-clear where another seed may show a harm
    is_clear = position_of(verdict.outcome) == RULED_OUT
    outcome: Outcome = "inconclusive" if is_clear else verdict.outcome
    return replace(verdict, outcome=outcome, alternative=differing[0])


def is_decided(analysis: Analysis, errors: float) -> bool:
    """Whether outcomes are the same with critical values so many Monte Carlo errors off.

    While critical values fall, groups only become worse, worse by more, or ruled out.
    """
    raised, lowered = (replace(analysis, raised=by) for by in (errors, -errors))
    return all(
        _is_decided(_groups(i, raised, True), _groups(i, lowered, True))
        for i in range(len(analysis.measured.metrics))
    )


def _is_decided(raised: _Groups, lowered: _Groups) -> bool:
    if raised.are(BY_MORE).any():
        return True
    if lowered.are(BY_MORE).any():
        return False
    if raised.tolerance is None:
        return bool(raised.is_worse.any() == lowered.is_worse.any())
    if (raised.is_worse & ~lowered.are(RULED_OUT)).any():
        return True
    if (lowered.is_worse & ~raised.are(RULED_OUT)).any():
        return False
    return raised.outcome == lowered.outcome


def _verdict(i: int, analysis: Analysis, is_conclusive: bool) -> MetricVerdict:
    groups = _groups(i, analysis, is_conclusive)
    has_others = analysis.is_tested[i] & (analysis.moments.n_others[i] > 0)
    high, n = groups.harm.high, analysis.moments.n[i]
    is_not_compared = has_others & ~(groups.is_known & np.isfinite(high))
    is_certified = groups.is_known & is_conclusive & (groups.outcomes > WORSE)
    return MetricVerdict(
        outcome=groups.outcome,
        tolerance=groups.tolerance,
        of_groups=groups.outcomes,
        is_known=groups.is_known,
        harm=groups.harm,
        scope=_scope(groups.outcomes, has_others, n, groups.is_better, is_not_compared, analysis),
        certificate=certificate(n, high, is_certified),
    )


def _groups(i: int, analysis: Analysis, is_conclusive: bool) -> _Groups:
    metric, options = analysis.measured.metrics[i], analysis.options
    higher_is_better = metric.metric.higher_is_better
    tolerance = None
    if options.tolerance is not None:
        tolerance = options.tolerance.of(metric.name, float(analysis.moments.mean[i]))
    simultaneous = analysis.estimates.simultaneous
    harm = harm_interval(Interval(simultaneous.low[i], simultaneous.high[i]), higher_is_better)
    is_tested = analysis.is_tested[i] & np.isfinite(analysis.moments.difference[i])
    is_known = is_tested & analysis.is_comparable[i] & _has_spread(i, analysis)
    size = metric.metric.harm(np.nan_to_num(analysis.moments.difference[i]))
    is_worse = is_shown_worse(size, analysis.is_beyond_chance[i], is_known)
    outcomes = group_outcomes(harm, is_worse, is_known & is_conclusive, tolerance)
    depth = analysis.grouping.lattice.depth
    return _Groups(
        tolerance,
        outcomes,
        is_known,
        is_worse,
        analysis.is_beyond_chance[i] & (size < 0),
        harm,
        metric_outcome(outcomes, is_tested, depth, higher_is_better),
    )


def is_shown_worse(harm: FloatArray, is_beyond_chance: BoolArray, is_known: BoolArray) -> BoolArray:
    """(n_groups,), groups that stand out at the worse end."""
    return is_known & is_beyond_chance & (harm > 0)


def group_outcomes(
    harm: Interval, is_worse: BoolArray, is_known: BoolArray, tolerance: float | None
) -> IntArray:
    """(n_groups,), positions in `outcome_names`.

    Parameters
    ----------
    is_worse : groups that stand out at the worse end
    is_known : groups whose interval holds
    """
    outcomes = np.where(is_worse, WORSE, OPEN)
    if tolerance is not None:
        outcomes[is_worse & (harm.low > tolerance)] = BY_MORE
        outcomes[is_known & (harm.high < tolerance)] = RULED_OUT
    return outcomes


def metric_outcome(
    of_groups: IntArray, is_tested: BoolArray, depth: IntArray, higher_is_better: bool | None
) -> Outcome:
    """That of its worst groups.

    It is ruled out where that holds for every group of the fewest attributes looked at: smaller
    intersections can hardly ever be ruled out, and those that are open are counted.
    """
    names = outcome_names(higher_is_better)
    for shown in (BY_MORE, WORSE):
        if (of_groups == shown).any():
            return names[shown]
    named = depth == depth.min()
    has_all = is_tested[named].any() and (of_groups[named] == RULED_OUT).all()
    return names[RULED_OUT if has_all else OPEN]


def _has_spread(i: int, analysis: Analysis) -> bool:
    """Whether the users show how much a metric without bounds varies, as they must."""
    moments = analysis.moments
    is_bounded = bool(np.isfinite(moments.bounds[i]).all())
    return is_bounded or analysis.is_adjusted or bool(moments.variance[i] > 0)


def _scope(
    of_groups: IntArray,
    has_others: BoolArray,
    n: FloatArray,
    is_better: BoolArray,
    is_not_compared: BoolArray,
    analysis: Analysis,
) -> Scope:
    lattice = analysis.grouping.lattice
    is_open = (of_groups == OPEN) & has_others
    return Scope(
        n_better=int(is_better.sum()),
        n_ruled_out=int((of_groups == RULED_OUT).sum()),
        ruled_out_from=ruled_out_from(is_open, n),
        n_open=int(is_open.sum()),
        open_share=_share_in(lattice.codes[is_open], analysis.grouping.cells),
        n_not_compared=int(is_not_compared.sum()),
    )


def ruled_out_from(is_open: BoolArray, n: FloatArray | IntArray) -> int | None:
    """The users from which on no group is open; None where the largest is."""
    above = n[~is_open & (n > n[is_open].max(initial=0))]
    return int(above.min()) if len(above) else None


def _share_in(codes: CodeArray, cells: Cells) -> float | None:
    """Share of users in any of the groups."""
    if len(codes) * len(cells) > _MAX_MARKED:
        return None
    is_in = np.zeros(len(cells), dtype=np.bool_)
    _mark(codes, cells.codes, is_in)
    return float(cells.n_users[is_in].sum() / max(1, cells.n_users.sum()))


def certificate(
    n: FloatArray, highest: FloatArray, is_counted: BoolArray
) -> tuple[CertifiedPoint, ...]:
    """The largest harm that is not ruled out among groups of at least any size."""
    groups = np.flatnonzero(is_counted & np.isfinite(highest))
    if not len(groups):
        return ()
    order = groups[np.argsort(-n[groups], kind="stable")]
    largest = np.maximum.accumulate(highest[order])
    # of groups of one size all count, and a level is named by the smallest size it holds for
    ends = np.flatnonzero(np.append(n[order][1:] < n[order][:-1], True))
    at = ends[np.append(largest[ends][1:] > largest[ends][:-1], True)][::-1]
    if len(at) > MAX_POINTS:
        at = at[np.unique(np.linspace(0, len(at) - 1, MAX_POINTS).astype(np.int64))]
    return tuple(
        CertifiedPoint(int(n[order[place]]), max(0.0, float(largest[place])), int(place) + 1)
        for place in at
    )


@kernel
def _mark(codes: CodeArray, cell_codes: CodeArray, is_in: BoolArray) -> None:
    """Mark the cells of some groups."""
    for group in range(len(codes)):
        for cell in range(len(is_in)):
            if is_in[cell]:
                continue
            is_member = True
            for attribute in range(codes.shape[1]):
                code = codes[group, attribute]
                if code >= 0 and code != cell_codes[attribute, cell]:
                    is_member = False
                    break
            if is_member:
                is_in[cell] = True
