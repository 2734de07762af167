"""Ratios beside differences: each group to the best and to the rest, and impact ratios.

The four-fifths rule (29 CFR 1607.4 D) compares a group with the best one. Impact ratios, their
rates, and the treatment of small and unknown categories follow New York's local law 144 (6 RCNY
5-300 and 5-301).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, Field
from scipy.special import ndtri, stdtrit

from fairrec.core.arrays import BoolArray, FloatArray, finite_or_none
from fairrec.core.audit_options import AuditOptions
from fairrec.core.threads import map_in_threads
from fairrec.groups.grouping import Grouping, Partition
from fairrec.inputs.users import Value
from fairrec.metrics import Metric
from fairrec.metrics.measured import Measured
from fairrec.statistics.inequality import gini
from fairrec.statistics.intervals import Interval, score_interval
from fairrec.statistics.moments import quantiles

RATIO_PRIOR_USERS = 4
"""Weight, in users, of the spread of all users in the spread of one group."""


@dataclass(frozen=True, slots=True)
class Means:
    """The means of some groups, and what their intervals need.

    Parameters
    ----------
    n, mean, squares : (n_groups,), users, mean, and the sum of squares around it
    spread : of all users: variance over mean * (1 - mean / most); `most` for a rate
    most : the largest possible value; may be infinite
    is_rate : whether all values are 0 or `most`
    """

    n: FloatArray
    mean: FloatArray
    squares: FloatArray
    spread: float
    most: float
    is_rate: bool

    def limits(self, tail: float) -> Interval:
        """Both ends of each mean's interval, beyond each of which it lies with probability `tail`.

        Wilson's score interval. A mean of other values than 0 and 1 is treated as a rate with the
        same variance and Student's quantile. Its spread is moderated by a few users of that of all,
        and never less: a group without the rare large values lacks them in its spread as well.
        """
        if self.is_rate:
            return score_interval(self.mean, self.spread * ndtri(1 - tail) ** 2 / self.n, self.most)
        freedom = np.maximum(self.n - 1, 1)
        of_mean = self.mean * (1 - self.mean / self.most)
        with np.errstate(divide="ignore", invalid="ignore"):
            own = (self.squares / of_mean + RATIO_PRIOR_USERS * self.spread) / (
                freedom + RATIO_PRIOR_USERS
            )
            spread = np.fmax(np.where(of_mean > 0, own, self.spread), self.spread)
            squares = spread * stdtrit(freedom, 1 - tail) ** 2 / self.n
            return score_interval(self.mean, squares, self.most)


def ratio_limits(
    mean: FloatArray, limits: Interval, other: FloatArray, other_limits: Interval
) -> Interval:
    """Both ends of the interval of `mean / other`, from the intervals of the two.

    Donner and Zou's method of variance estimates recovery (2012), which allows zeros. The upper end
    is infinite where the other mean may be 0.
    """
    product = mean * other
    (low, high), (other_low, other_high) = limits, other_limits
    below, above = low * (2 * mean - low), high * (2 * mean - high)
    other_below = other_low * (2 * other - other_low)
    other_above = other_high * (2 * other - other_high)
    with np.errstate(divide="ignore", invalid="ignore"):
        lower = below / (product + np.sqrt(np.maximum(product**2 - below * other_above, 0)))
        root = np.sqrt(np.maximum(product**2 - above * other_below, 0))
        upper = np.where(other_below > 0, (product + root) / other_below, np.inf)
    return Interval(np.where(below > 0, lower, 0.0), upper)


FAR = 6.0
"""Standard errors by which the mean of all others may be off, even among a million groups."""


class RelativeShortfall(NamedTuple):
    """Relative harms with an interval; `is_sure` where it is informative."""

    size: FloatArray
    interval: Interval
    is_sure: BoolArray


def relative_shortfall(
    harm: FloatArray, interval: Interval, others: FloatArray, error: FloatArray, is_gain: bool
) -> RelativeShortfall:
    """The share of the others' value that each group lacks: 0.2 where it has 0.8 of it.

    The ends of its interval are those of the harm over the most unfavourable mean of all others, so
    they hold for all groups at once where those of the harm do.

    Parameters
    ----------
    others, error : the mean of all others, and its standard error at most
    is_gain : whether more of the value is better
    """
    least, most = others - FAR * error, others + FAR * error

    def share(size: FloatArray, beside: FloatArray) -> FloatArray:
        return size / (beside if is_gain else beside + size)

    low, high = interval.low, interval.high
    is_sure = (least > 0) & np.isfinite(low) & np.isfinite(high)
    if not is_gain:
        is_sure &= least + low > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        # a harm is relatively largest beside a small mean, a benefit beside a large one
        ends = (
            share(low, np.where(low > 0, most, least)),
            share(high, np.where(high > 0, least, most)),
        )
        size = share(harm, others)
    bounds = (
        np.where(is_sure, end, limit) for end, limit in zip(ends, (-np.inf, np.inf), strict=True)
    )
    return RelativeShortfall(size, Interval(*bounds), is_sure)


FOUR_FIFTHS = 0.8
SMALL_CATEGORY = 0.02
"""The share of users below which a category is left out of the comparison with the best."""
MOST_PAIRS = 28
"""Pairs of 8 attributes; of more, single attributes alone are compared."""
MOST_LEFT_OUT = 20
"""Groups listed that are not compared with the best, because they are small or unknown."""

FourFifths = Literal["below", "below, uncertain", "not below, uncertain", "not below"]
LeftOut = Literal["small", "unknown"]
WhyNot = Literal[
    "not all are scored",
    "there are no values",
    "some values are negative",
    "all values are 0",
    "neither end is better",
    "lower is better",
    "items compete for places",
]


class GroupRatios(BaseModel, frozen=True, extra="forbid"):
    """A group beside the best group and beside all other users."""

    group: dict[str, Value]
    support: int = Field(description="users of the group with a value")
    value: float
    to_best: float | None = Field(
        description="value over that of the best group of the same attributes; null for a group "
        "that is left out, and without a second one"
    )
    to_best_interval: tuple[float, float] | None = Field(
        description="confidence interval at 1 - alpha, one group at a time; allows for not knowing "
        "which group is best"
    )
    to_rest: float | None = Field(
        description="value over the mean of all other users; null where that is 0, and without any"
    )
    to_rest_interval: tuple[float, float] | None = Field(
        description="confidence interval at 1 - alpha, one group at a time"
    )
    four_fifths: FourFifths | None = Field(
        description="whether to_best is below 0.8; uncertain where 0.8 lies in its interval"
    )
    rate: float = Field(description="share of users above the threshold, or with 1 without one")
    impact_ratio: float | None = Field(
        description="rate over the highest rate of a group of the same attributes"
    )
    left_out: LeftOut | None = Field(
        description="why it is not compared with the best: below 2% of users, or a value unknown"
    )


class CategoryRatios(BaseModel, frozen=True, extra="forbid"):
    """All groups by one attribute, or by a pair of them."""

    attributes: tuple[str, ...]
    n_unknown: int | None = Field(
        description="users of whom one of these attributes is not known; null where hidden"
    )
    n_not_listed: int = Field(
        description="groups below the smallest size, and beyond the largest that are left out"
    )
    groups: tuple[GroupRatios, ...] = Field(
        description="lowest ratio to the best first, then those left out"
    )


class MetricRatios(BaseModel, frozen=True, extra="forbid"):
    """Ratios of one metric, and how unequal users are in it."""

    why_no_ratios: WhyNot | None = None
    threshold: float | None = Field(
        default=None,
        description="the median: rates are scoring rates, the share of users above it; null where "
        "all values are 0 or 1: rates are selection rates, the share of users with 1",
    )
    by: tuple[CategoryRatios, ...] = Field(default=(), description="each attribute, then each pair")
    gini: float | None = Field(
        default=None,
        description="Gini index of the values of all users, 0 where all have the same; null where "
        "values are negative or all 0, or not all users are scored",
    )


class Ratios(BaseModel, frozen=True, extra="forbid"):
    """Ratios between groups and inequality among users, beside the differences."""

    n_pairs_left_out: int = Field(
        description="pairs of attributes; with too many of them none is compared"
    )
    metrics: dict[str, MetricRatios]


def analyse_ratios(measured: Measured, grouping: Grouping, options: AuditOptions) -> Ratios:
    """Ratios and inequality of every metric, by each attribute and each pair of attributes."""
    positions = range(len(grouping.attributes))
    pairs = [] if options.depth == 1 else [*itertools.combinations(positions, 2)]
    has_room = len(pairs) <= MOST_PAIRS
    sets: list[tuple[int, ...]] = [(at,) for at in positions]
    partitions = [Partition.of(grouping, one) for one in sets + pairs * has_room]

    def analyse(i: int) -> MetricRatios:
        return _metric_ratios(i, measured, grouping, partitions, options.alpha)

    found = map_in_threads(analyse, range(len(measured.metrics)), options.n_threads)
    names = [metric.name for metric in measured.metrics]
    return Ratios(
        n_pairs_left_out=0 if has_room else len(pairs),
        metrics=dict(zip(names, found, strict=True)),
    )


def why_no_ratio(known: FloatArray, is_complete: bool) -> WhyNot | None:
    """Why values have no ratios; None where they have.

    Parameters
    ----------
    known : the values of the users who have one
    is_complete : whether all users are scored
    """
    if not is_complete:
        return "not all are scored"
    if not len(known):
        return "there are no values"
    if known.min() < 0:
        return "some values are negative"
    return "all values are 0" if known.max() == 0 else None


def _why_not(metric: Metric, known: FloatArray, is_complete: bool) -> WhyNot | None:
    if metric.side == "items":
        # lists that show one item show another less, so intervals of users would not hold
        return "items compete for places"
    if metric.higher_is_better is None:
        return "neither end is better"
    return why_no_ratio(known, is_complete) if metric.higher_is_better else "lower is better"


def _metric_ratios(
    i: int, measured: Measured, grouping: Grouping, partitions: Sequence[Partition], alpha: float
) -> MetricRatios:
    metric, column, cells = measured.metrics[i].metric, measured.column(i), grouping.cells
    known = column.known
    has_gini = why_no_ratio(known, measured.is_complete) is None and measured.is_mean(i)
    of_all = gini(known, column.n_known) if has_gini else None
    if why_not := _why_not(metric, known, measured.is_complete):
        return MetricRatios(why_no_ratios=why_not, gini=of_all)
    is_rate = bool(((known == 0) | (known == 1)).all())
    # of users on levels only the level of their median is known
    on_levels = measured.on_levels.column(i)
    threshold = 0.0 if is_rate else float(quantiles(on_levels.known, on_levels.n_known, [0.5])[0])
    n, total = cells.sums(column.n), cells.sums(column.filled * column.n)
    mean = float(total.sum() / n.sum())
    # around the mean of all, in units of it, so that products of tiny values do not vanish
    squares = (column.filled / mean - 1) ** 2 * column.n + column.inner / mean / mean
    # a user without a value is not above the threshold
    above = (on_levels.values > threshold) * on_levels.n
    sums = np.stack([n, total, *(cells.sums(row) for row in (squares, above))])
    most = 1.0 if is_rate else metric.bounds[1] if metric.bounds else math.inf
    return MetricRatios(
        threshold=None if is_rate else threshold,
        by=tuple(
            _category_ratios(one, sums, mean, most / mean, is_rate, grouping.min_users, alpha)
            for one in partitions
        ),
        gini=of_all,
    )


def _category_ratios(
    partition: Partition,
    cells: FloatArray,
    mean_of_all: float,
    most: float,
    is_rate: bool,
    min_users: int,
    alpha: float,
) -> CategoryRatios:
    """The ratios by one partition.

    Parameters
    ----------
    cells : (4, n_cells), users, sums of values, squares, and users above the threshold
    most : the largest value, over the mean of all
    """
    n, total, squares, above = (partition.sums(row) for row in cells)
    n_all = n.sum()
    groups = np.flatnonzero(n >= min_users)
    is_unknown, is_small = partition.is_unknown[groups], n[groups] < SMALL_CATEGORY * n_all
    variance = squares.sum() / max(1.0, n_all - 1)
    # that of all, whose mean is 1, over what it is at that mean for a rate
    spread = most if is_rate else variance / (1 - 1 / most) if most > 1 else 0.0

    def means(n: FloatArray, value: FloatArray, squares: FloatArray) -> Means:
        mean = value / mean_of_all
        around_mean = np.maximum(squares - n * (mean - 1) ** 2, 0)
        return Means(n, mean, around_mean, spread, most, is_rate)

    with np.errstate(divide="ignore", invalid="ignore"):
        value = total[groups] / n[groups]
        rest_value = (total.sum() - total[groups]) / (n_all - n[groups])
        to_rest = np.where(rest_value > 0, value / rest_value, np.nan)
        each = means(n[groups], value, squares[groups])
        rest = means(n_all - n[groups], rest_value, squares.sum() - squares[groups])
        rest_ends = ratio_limits(
            each.mean, each.limits(alpha / 2), rest.mean, rest.limits(alpha / 2)
        )
    is_compared = ~(is_small | is_unknown)
    to_best = _over_highest(value, is_compared)
    best_ends = _limits_to_best(each, to_best, alpha)
    rate = above[groups] / n[groups]
    impact = _over_highest(rate, is_compared)
    kind = np.where(is_unknown, 2, is_small.astype(np.int64))
    order = np.lexsort((-n[groups], np.nan_to_num(to_best, nan=np.inf), kind))
    order = order[: is_compared.sum() + MOST_LEFT_OUT]

    def ratios(at: int) -> GroupRatios:
        small: LeftOut | None = "small" if is_small[at] else None
        return GroupRatios(
            group=partition.group(int(groups[at])).as_dict(),
            support=int(n[groups[at]]),
            value=float(value[at]),
            to_best=finite_or_none(to_best[at]),
            to_best_interval=_ends_at(at, to_best, best_ends),
            to_rest=finite_or_none(to_rest[at]),
            to_rest_interval=_ends_at(at, to_rest, rest_ends),
            four_fifths=_four_fifths(to_best[at], best_ends.low[at], best_ends.high[at]),
            rate=float(rate[at]),
            impact_ratio=finite_or_none(impact[at]),
            left_out="unknown" if is_unknown[at] else small,
        )

    return CategoryRatios(
        attributes=partition.names,
        n_unknown=int(n[partition.is_unknown].sum()),
        n_not_listed=int((n > 0).sum()) - len(order),
        groups=tuple(ratios(int(at)) for at in order),
    )


def _ends_at(at: int, ratio: FloatArray, ends: Interval) -> tuple[float, float] | None:
    low, high = float(ends.low[at]), float(ends.high[at])
    return None if math.isnan(ratio[at]) or math.isnan(low) else (low, high)


def _four_fifths(ratio: float, low: float, high: float) -> FourFifths | None:
    """The rule's answer for a group, and whether the interval settles it."""
    if math.isnan(ratio):
        return None
    # four fifths are not below four fifths, whatever the last digits are
    if round(ratio, 12) < FOUR_FIFTHS:
        return "below" if high < FOUR_FIFTHS else "below, uncertain"
    return "not below" if low >= FOUR_FIFTHS else "not below, uncertain"


def _over_highest(values: FloatArray, is_compared: BoolArray) -> FloatArray:
    """Each value over the highest; NaN where fewer than two are compared, or the highest is 0."""
    ratios = np.full(len(values), np.nan)
    if is_compared.sum() > 1 and values[is_compared].max() > 0:
        ratios[is_compared] = values[is_compared] / values[is_compared].max()
    return ratios


def _limits_to_best(each: Means, to_best: FloatArray, alpha: float) -> Interval:
    """Both ends of the intervals of ratios to the best group, at 1 - alpha.

    The group that looks best is often so by chance (multiple comparisons with the best). The ratio
    to the best is the smallest of the ratios to each other group, so both of its ends are the
    smallest of theirs, with alpha divided among the upper ones.
    """
    low, high = np.full(len(to_best), np.nan), np.full(len(to_best), np.nan)
    compared = np.flatnonzero(~np.isnan(to_best))
    if not len(compared):
        return Interval(low, high)
    ratio, mean = to_best[compared], each.mean[compared]
    ends = []
    for tail in (alpha / 2, alpha / 2 / (len(compared) - 1)):
        lower, upper = each.limits(tail)
        mine = Interval(lower[compared, None], upper[compared, None])
        others = Interval(lower[compared], upper[compared])
        ends.append(ratio_limits(mean[:, None], mine, mean, others))
    (lows, _), (_, highs) = ends
    # a group is not compared with itself, and none is better than the best
    itself = np.eye(len(compared), dtype=bool)
    low[compared] = np.minimum(np.where(itself, np.inf, lows).min(axis=1), ratio)
    high[compared] = np.clip(np.where(itself, np.inf, highs).min(axis=1), ratio, 1.0)
    return Interval(low, high)
