"""What an audit by a plan can be expected to find and to rule out, from sizes of groups alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairrec.auditing.plan_file import Expected, Needed, Spread
from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import plain
from fairrec.groups.grouping import Grouping
from fairrec.metrics import MetricAtK
from fairrec.statistics.power import (
    POWER,
    certified_harm,
    detectable_harm,
    expected_cut_offs,
    growth_needed,
)
from fairrec.statistics.scores import Everyone
from fairrec.statistics.simultaneous import (
    EDGES,
    form_columns,
    harm_shares,
    least_permutations,
    normal_cut_offs,
)

MOST_GROUPS = 10
"""Groups of the fewest attributes whose needed users are listed."""
_STEPS = (1, 2, 5)
_RATE = 0.99
"""The variance of a rate, as a share of the largest one at its mean, but for what is rounded."""


@dataclass(frozen=True)
class Outlook:
    """What can be expected of an audit.

    Parameters
    ----------
    metrics : those that are tested
    spread : by metric; where it is not known, harm is in standard deviations among users
    """

    metrics: Sequence[MetricAtK]
    grouping: Grouping
    options: AuditOptions
    spread: Mapping[str, Spread]

    @property
    def expected(self) -> tuple[Expected, ...]:
        """For each metric and size of group up to half of all users."""
        if not self._is_tested:
            return ()
        n_per_group, n_users = self._users_per_group, self.grouping.n_users
        least, most = int(n_per_group.min()), int(n_per_group.max())
        sizes = np.array(_sizes(least, min(most, n_users // 2)), dtype=np.float64)
        cut_offs = self._largest_cut_offs(sizes)
        found = []
        for i, (metric, better) in enumerate(zip(self.metrics, self._better, strict=True)):
            about = (self._everyone, i, sizes)
            critical = self._critical(better).max(axis=1)
            columns = (
                detectable_harm(*about, critical, better),
                certified_harm(*about, cut_offs, better, POWER),
                certified_harm(*about, cut_offs, better, 0.5),
            )
            for at, size in enumerate(sizes):
                harm, likely, median = (_rounded(column[at]) for column in columns)
                found.append(
                    Expected(
                        metric=metric.name,
                        users=int(size),
                        n_groups=int((n_per_group >= size).sum()),
                        harm=harm,
                        certified=likely,
                        certified_median=median,
                    )
                )
        return tuple(found)

    @property
    def needed(self) -> tuple[Needed, ...]:
        """Users it takes to rule out a harm beyond tolerance; nothing where that is not known."""
        tolerance = [self._tolerance(metric) for metric in self.metrics]
        if not self._is_tested or not any(tolerance):
            return ()
        lattice, n_users = self.grouping.lattice, self.grouping.n_users
        groups = self._named_groups
        times = np.full((len(tolerance), len(groups)), np.nan)
        if self._has_intervals:
            times = growth_needed(
                self._everyone,
                self._users_per_group,
                self._depth,
                np.searchsorted(np.flatnonzero(lattice.is_tested), groups),
                [amount or math.nan for amount in tolerance],
                self._better,
                self.options.alpha,
            )
        found = []
        for metric, amount, of_metric in zip(self.metrics, tolerance, times, strict=True):
            for group, factor in zip(groups, of_metric, strict=True) if amount else ():
                conditions = self.grouping.group(int(group)).conditions
                found.append(
                    Needed(
                        metric=metric.name,
                        group={plain(name): plain(value) for name, value in conditions},
                        users=int(lattice.n_users[group]),
                        tolerance=float(f"{amount:.4g}"),
                        times=_rounded(factor),
                        users_needed=_users(n_users, factor),
                    )
                )
        return tuple(found)

    @property
    def _is_tested(self) -> bool:
        return self.options.permutations > 0 and len(self.metrics) > 0

    @property
    def _has_intervals(self) -> bool:
        """Whether the permutations are enough for intervals that hold for all groups at once."""
        return self.options.permutations >= least_permutations(self.options.alpha)

    @property
    def _better(self) -> list[bool | None]:
        """Whether the upper end is the better one, of each metric."""
        return [metric.metric.higher_is_better for metric in self.metrics]

    @cached_property
    def _everyone(self) -> Everyone:
        """All users as they are assumed to be."""
        return _everyone(self.metrics, self.spread, self.grouping.n_users)

    @cached_property
    def _users_per_group(self) -> FloatArray:
        """(n_groups,), users of each tested group."""
        lattice = self.grouping.lattice
        return lattice.n_users[lattice.is_tested].astype(np.float64)

    @cached_property
    def _depth(self) -> IntArray:
        """(n_groups,), number of attributes of each tested group."""
        lattice = self.grouping.lattice
        return lattice.depth[lattice.is_tested]

    def _largest_cut_offs(self, sizes: FloatArray) -> FloatArray:
        """(2, n_sizes), of groups of about so many users, by however many attributes."""
        if not self._has_intervals:
            return np.full((2, len(sizes)), np.inf)
        cut_offs = expected_cut_offs(
            self._everyone, self._users_per_group, self._depth, self.options.alpha
        )
        of_group, of_size = (
            np.searchsorted(EDGES, n, side="right") for n in (self._users_per_group, sizes)
        )
        return np.stack(
            [cut_offs[:, of_group == at].max(axis=1, initial=-np.inf) for at in of_size], axis=1
        )

    def _critical(self, higher_is_better: bool | None) -> FloatArray:
        """(2, n_groups), the score from which a group is found.

        The share of a depth is divided by the number of its groups and of metrics (Bonferroni),
        which asks for somewhat more than the permutations of an audit will.
        """
        n_groups = len(self._depth)
        if not self._has_intervals:
            return np.full((2, n_groups), math.inf)
        is_tested = np.ones((1, n_groups), dtype=np.bool_)
        columns = form_columns(self._depth, is_tested, harm_shares([higher_is_better]))
        cut_offs = normal_cut_offs(columns, self.options.alpha / len(self.metrics))
        return columns.spread(cut_offs)[:, 0]

    def _tolerance(self, metric: MetricAtK) -> float | None:
        """The tolerance, where it can be compared with what is expected."""
        spread, tolerance = self.spread.get(metric.name), self.options.tolerance
        if tolerance is None or spread is None:
            return None
        amount = tolerance.in_units(metric.name, math.nan if spread.mean is None else spread.mean)
        return amount if amount and math.isfinite(amount) else None

    @property
    def _named_groups(self) -> IntArray:
        """The groups of the fewest attributes, the largest first, and the smallest intersection.

        Of many groups those between the largest and the smallest are left out.
        """
        lattice = self.grouping.lattice
        fewest = np.flatnonzero(
            (lattice.depth == lattice.depth.min()) & (lattice.n_users < self.grouping.n_users)
        )
        groups = fewest[np.argsort(-lattice.n_users[fewest], kind="stable")]
        if len(groups) > MOST_GROUPS:
            groups = np.append(groups[: MOST_GROUPS - 1], groups[-1])
        full = self.grouping.full[lattice.is_tested[self.grouping.full]]
        deeper = full[lattice.depth[full] > lattice.depth.min()]
        if len(deeper):
            groups = np.append(groups, deeper[np.argmin(lattice.n_users[deeper])])
        return groups


def _everyone(metrics: Sequence[MetricAtK], spread: Mapping[str, Spread], n_users: int) -> Everyone:
    """All users as they are assumed to be; without a mean, bounds are out of reach."""
    assumed = [spread.get(metric.name, Spread(sd=1.0)) for metric in metrics]
    mean = np.array([each.mean or 0.0 for each in assumed])
    variance = np.array([each.sd**2 for each in assumed])
    far = (-math.inf, math.inf)
    bounds = np.array(
        [
            far if each.mean is None else metric.metric.bounds or far
            for metric, each in zip(metrics, assumed, strict=True)
        ]
    ).reshape(-1, 2)
    largest = (mean - bounds[:, 0]) * (bounds[:, 1] - mean)
    return Everyone(
        mean=mean,
        variance=variance,
        n=np.full(len(mean), float(n_users)),
        bounds=bounds,
        # no value lies between the bounds where they are as far apart as can be
        is_rate=np.isfinite(largest) & (variance > _RATE * largest),
    )


def _sizes(least: int, most: int) -> list[int]:
    """The smallest group and rounder ones, up to the largest.

    >>> _sizes(12, 700)
    [12, 20, 50, 100, 200, 500]
    """
    steps = (step * 10**power for power in range(len(str(most)) + 1) for step in _STEPS)
    return [size for size in [least, *(step for step in steps if step > least)] if size <= most]


def _rounded(value: float) -> float | None:
    """No more digits than the assumptions have, and the same on every machine; None for NaN."""
    return None if math.isnan(value) else float(f"{value:.4g}")


def _users(n_users: int, times: float) -> int | None:
    """How many users that is, in two digits where there must be more.

    >>> _users(1234, 1.0), _users(1234, 3.1), _users(1234, float("nan"))
    (1234, 3900, None)
    """
    if math.isnan(times):
        return None
    if times <= 1:
        return n_users
    needed = math.ceil(n_users * times)
    digit = int(10 ** max(0, len(str(needed)) - 2))
    return -(-needed // digit) * digit
