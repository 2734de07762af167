"""A population as the statistics stage sees it: codes and values, no tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairrec.groups.grouping import Grouping
from fairrec.groups.lattice import Lattice
from fairrec.statistics.moments import Moments, group_moments
from fairrec.statistics.permutation import Permuted, null_distribution
from tests.groups.small_grouping import grouping_of


@dataclass(frozen=True)
class Population:
    codes: list[np.ndarray]
    values: np.ndarray
    grouping: Grouping
    moments: Moments

    @property
    def lattice(self) -> Lattice:
        return self.grouping.lattice

    @property
    def is_tested(self):
        return (self.moments.n >= self.grouping.min_users) & self.lattice.is_tested

    def position(self, *codes: int) -> int:
        """Where the group with these codes stands in the lattice."""
        return self.lattice.codes.tolist().index(list(codes))

    def users_in(self, group: int) -> np.ndarray:
        is_member = np.ones(self.values.shape[1], dtype=bool)
        for attribute, code in enumerate(self.lattice.codes[group]):
            if code >= 0:
                is_member &= self.codes[attribute] == code
        return is_member


def population(codes, values, depth=3, min_users=1, bounds=None) -> Population:
    codes = [np.asarray(column, dtype=np.int32) for column in codes]
    values = np.atleast_2d(np.asarray(values, dtype=np.float64))
    grouping = grouping_of(codes, min_users=min_users, depth=depth)
    if bounds is not None:
        bounds = np.tile(np.array(bounds, dtype=np.float64), (len(values), 1))
    return Population(codes, values, grouping, group_moments(values, grouping, bounds=bounds))


def permutation_test(
    moments, grouping, is_tested, n_permutations, seed, threads=1, higher_is_better=None
):
    """The test against permutations of the values; by default of metrics without a better end."""
    better = [None] * len(moments.mean) if higher_is_better is None else higher_is_better
    null = Permuted(moments, grouping, is_tested, better)
    return null_distribution(null, n_permutations, seed, threads)


def random_population(seed, n_users=300, share_undefined=0.0, min_users=5) -> Population:
    """Skewed attributes without any effect, values with few levels, some undefined."""
    rng = np.random.default_rng(seed)
    codes = [np.minimum(rng.geometric(p, n_users) - 1, 5) for p in (0.6, 0.4, 0.3)]
    values = np.stack(
        [rng.choice([0, 0, 0, 0.25, 0.5, 1], n_users), rng.random(n_users), rng.random(n_users)]
    )
    values[1, rng.random(n_users) < share_undefined] = np.nan
    return population(codes, values, min_users=min_users)
