"""Everything that was computed about the groups, before it is put into words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.cells import Cells
from fairrec.groups.group import Group
from fairrec.groups.lattice import Lattice
from fairrec.inputs.users import Attribute
from fairrec.metrics import MetricAtK
from fairrec.statistics.adjust import benjamini_hochberg
from fairrec.statistics.estimates import Estimates, estimate
from fairrec.statistics.moments import Moments
from fairrec.statistics.permutation import PermutationTest


@dataclass(frozen=True)
class Analysis:
    """The audited population, its groups, and what was measured and tested about them.

    Parameters
    ----------
    metrics : those with a value per user
    is_tested : (n_metrics, n_groups), groups with enough users with a defined value
    test : None where nothing was permuted
    """

    metrics: tuple[MetricAtK, ...]
    attributes: tuple[Attribute, ...]
    cells: Cells
    lattice: Lattice
    moments: Moments
    is_tested: BoolArray
    test: PermutationTest | None
    options: AuditOptions

    @property
    def n_users(self) -> int:
        """The number of audited users."""
        return len(self.cells.of_user)

    @property
    def is_whole(self) -> BoolArray:
        """(n_groups,), groups of which every user is scored."""
        sample = self.moments.sample
        return np.ones(len(self.lattice), dtype=bool) if sample is None else sample.is_whole_group

    @property
    def is_scored(self) -> BoolArray:
        """(n_users,), users whose values were looked at, defined or not."""
        sample = self.moments.sample
        return np.ones(self.n_users, dtype=bool) if sample is None else sample.is_scored

    @property
    def min_users(self) -> int:
        """The smallest number of users of an eligible group."""
        return self.options.min_users(self.n_users)

    @cached_property
    def estimates(self) -> Estimates:
        """Values, differences and intervals of all groups."""
        unbounded = (-math.inf, math.inf)
        bounds = np.array([metric.metric.bounds or unbounded for metric in self.metrics])
        return estimate(self.moments, self.lattice, self.options.alpha, bounds.reshape(-1, 2))

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
        """(n_metrics, n_groups), adjusted p-value at most alpha."""
        return self.adjusted_p_values <= self.options.alpha

    @cached_property
    def critical(self) -> float:
        """The absolute statistic from which a group is significant."""
        if self.test is None:
            return math.inf
        by_chance = self.test.critical(self.options.alpha)
        if self.options.correction == "max":
            return by_chance
        # step-up thresholds depend on what is found; without findings the stricter one stands in
        found = np.abs(self.test.statistic[self.is_significant])
        return min(by_chance, float(found.min(initial=math.inf)))

    def group(self, position: int) -> Group:
        """The group at a position of the lattice."""
        return Group.of_codes(self.lattice.codes[position], self.attributes)
