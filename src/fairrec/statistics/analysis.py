"""Everything that is computed about the groups, before it is named and put into words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray
from fairrec.core.audit_options import AuditOptions
from fairrec.core.progress import Progress
from fairrec.groups.grouping import Grouping
from fairrec.metrics.measured import Measured
from fairrec.statistics.adjust import benjamini_hochberg
from fairrec.statistics.estimates import Estimates, detectable_difference, estimate
from fairrec.statistics.moments import Moments, moments_of
from fairrec.statistics.permutation import PermutationTest, Permuted, null_distribution
from fairrec.statistics.sampled_test import Resampled


@dataclass(frozen=True)
class Analysis:
    """What was measured, the groups, and what the test against chance says about them.

    Parameters
    ----------
    is_tested : (n_metrics, n_groups), groups with enough users with a defined value
    test : None where nothing was permuted
    """

    measured: Measured
    grouping: Grouping
    options: AuditOptions
    moments: Moments
    is_tested: BoolArray
    test: PermutationTest | None

    @property
    def is_fully_scored(self) -> BoolArray:
        """(n_groups,), groups of which every user is scored."""
        sample = self.moments.sample
        n_groups = len(self.grouping.lattice)
        return np.ones(n_groups, dtype=bool) if sample is None else sample.is_fully_scored_group

    @cached_property
    def estimates(self) -> Estimates:
        """Values, differences and confidence intervals of all groups."""
        unbounded = (-math.inf, math.inf)
        metrics = self.measured.metrics
        bounds = np.array([metric.metric.bounds or unbounded for metric in metrics])
        return estimate(
            self.moments, self.grouping.lattice, self.options.alpha, bounds.reshape(-1, 2)
        )

    @cached_property
    def standard_errors(self) -> FloatArray:
        """(n_metrics, n_groups), size of the difference in standard errors; 0 where undefined."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.nan_to_num(np.abs(self.moments.difference / self.moments.chance_error))

    @cached_property
    def detectable(self) -> FloatArray:
        """(n_metrics, n_groups), the smallest true difference reported with 80% probability."""
        return detectable_difference(self.moments.chance_error, self.critical)

    @cached_property
    def p_values(self) -> FloatArray:
        """(n_metrics, n_groups), for each group by itself; NaN where nothing was permuted."""
        return np.full(self.is_tested.shape, np.nan) if self.test is None else self.test.p_values

    @cached_property
    def adjusted_p_values(self) -> FloatArray:
        """(n_metrics, n_groups), NaN where a group is not tested."""
        adjusted = np.full(self.is_tested.shape, np.nan)
        if self.test is None:
            return adjusted
        if self.options.correction == "max":
            adjusted[self.is_tested] = self.test.adjusted_p_values[self.is_tested]
        else:
            adjusted[self.is_tested] = benjamini_hochberg(self.test.p_values[self.is_tested])
        return adjusted

    @cached_property
    def is_significant(self) -> BoolArray:
        """(n_metrics, n_groups), adjusted p-value at most the significance level."""
        return self.adjusted_p_values <= self.options.alpha

    @cached_property
    def critical(self) -> float:
        """The absolute statistic from which a group is significant."""
        if self.test is None:
            return math.inf
        max_statistic = self.test.critical(self.options.alpha)
        if self.options.correction == "max":
            return max_statistic
        # step-up thresholds depend on what is found; without findings the max-statistic serves
        found = np.abs(self.test.statistic[self.is_significant])
        return min(max_statistic, float(found.min(initial=math.inf)))


def analyse(
    measured: Measured,
    grouping: Grouping,
    options: AuditOptions,
    progress: Progress = lambda stage, done, total: None,
) -> Analysis:
    """Moments of all groups and the test against chance; the rest follows from them."""
    moments = moments_of(measured, grouping, options.n_threads)
    is_tested = moments.n >= grouping.min_users
    test = None
    if options.permutations and len(moments.mean):
        n_done = 0

        def advance() -> None:
            nonlocal n_done
            n_done += 1
            progress("testing against chance", n_done, options.permutations)

        null = (
            Permuted(moments, grouping, is_tested)
            if moments.sample is None
            else Resampled(moments, moments.sample, grouping, is_tested)
        )
        test = null_distribution(
            null, options.permutations, options.seed, options.n_threads, advance
        )
    return Analysis(measured, grouping, options, moments, is_tested, test)
