"""Confounders: covariates that make a part of the difference of a finding.

A group may differ from all others in a covariate on which the metric depends, such as the length
of a history.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, Field
from scipy.special import ndtri

from fairrec.core.arrays import AnyArray, BoolArray, CodeArray, FloatArray, IntArray, finite_or_none
from fairrec.groups.lattice import members
from fairrec.inputs.users import Value
from fairrec.statistics.analysis import Analysis

LOOKED_AT = 10
"""Findings of a metric, worst first."""
LEAST_SHARE = 0.2
"""Of a difference; what makes less of it is not told."""
LEVEL = 0.02
"""Probability that anything is told where no covariate makes a difference."""
MOST_DRAWN = 2000
"""Users of a group, and as many others, whose lists are looked at in random order."""

AtRandom = Callable[[IntArray], FloatArray]
"""Users -> (n_metrics, n_users), their values if their lists were in random order."""


@dataclass(frozen=True, slots=True)
class BinnedCovariate:
    """A covariate of all users.

    Parameters
    ----------
    numbers, codes : (n_users,), as it is and in bins
    is_of_lists : whether lists in random order would show what it makes
    """

    name: str
    numbers: AnyArray
    codes: CodeArray
    n_values: int
    is_of_lists: bool


class Confounder(BaseModel, frozen=True, extra="forbid"):
    """A covariate, not given, that makes a part of the difference of a finding."""

    metric: str
    group: dict[str, Value]
    covariate: str
    mean: float = Field(description="of the covariate in the group")
    mean_of_others: float
    difference: float = Field(description="that of the finding")
    explains: float | None = Field(
        description="the part of the difference that it makes, from how the metric depends on it "
        "among all others; null where too few others are in the covariates of the group"
    )
    at_random: tuple[float, float] | None = Field(
        description="then the metric in the group and among all others if their lists were in "
        "random order; null where that says nothing"
    )


def find_confounders(
    analysis: Analysis,
    findings: Sequence[Sequence[int]],
    covariates: Sequence[BinnedCovariate],
    at_random: AtRandom | None = None,
) -> tuple[Confounder, ...]:
    """The covariates that make a part of the differences found.

    What a covariate makes of a difference is the mean of the others' values in the group's
    covariates minus that in their own (Kitagawa's decomposition). It is told where it is beyond
    chance both in the values and in who is in which covariates, and not negligible.

    Parameters
    ----------
    findings : for each metric, positions of groups in the lattice
    at_random : None where lists in random order show nothing
    """
    looked_at = [(i, g) for i, groups in enumerate(findings) for g in groups[:LOOKED_AT]]
    critical = float(ndtri(1 - LEVEL / (2 * max(1, len(looked_at) * len(covariates)))))
    found, cells, moments = [], analysis.grouping.cells, analysis.moments
    for covariate in covariates:
        at = covariate.codes.astype(np.int64) * len(cells) + cells.of_user
        tables = {i: _Table.of(i, covariate, at, analysis) for i in {i for i, _ in looked_at}}
        for i, group in looked_at:
            is_member = members(analysis.grouping.lattice.codes[group], cells)
            difference = float(moments.difference[i, group])
            explains, means = tables[i].difference_made(is_member, critical), None
            part = explains
            if explains is None and at_random is not None and covariate.is_of_lists:
                part, means = _made_at_random(i, is_member, analysis, at_random, critical)
            is_told = part is None or (
                part * difference > 0 and abs(part) >= LEAST_SHARE * abs(difference)
            )
            if is_told and np.isfinite(difference):
                here, elsewhere = tables[i].means(is_member)
                found.append(
                    Confounder(
                        metric=analysis.measured.metrics[i].name,
                        group=analysis.grouping.group(group).as_dict(),
                        covariate=covariate.name,
                        mean=here,
                        mean_of_others=elsewhere,
                        difference=difference,
                        explains=explains,
                        at_random=means,
                    )
                )
    return tuple(found)


class _Table(NamedTuple):
    """Sums over the users with a value, by bin of a covariate and by cell.

    Parameters
    ----------
    n, total : (n_bins, n_cells)
    squares, of_numbers : (n_cells,), of the values, and sums of the covariate
    """

    n: FloatArray
    total: FloatArray
    squares: FloatArray
    of_numbers: FloatArray

    @classmethod
    def of(cls, i: int, covariate: BinnedCovariate, at: IntArray, analysis: Analysis) -> _Table:
        """Of one metric, where `at` is the bin and cell of each user."""
        cells, moments = analysis.grouping.cells, analysis.moments
        is_defined, values = moments.n_per_row[i], moments.centred_per_row[i]
        shape = (covariate.n_values, len(cells))
        n, total = (
            np.bincount(at, row, shape[0] * shape[1]).reshape(shape).astype(np.float64)
            for row in (is_defined, values)
        )
        of_numbers = cells.sums(covariate.numbers * is_defined)
        return cls(n, total, cells.sums(values**2), of_numbers)

    def means(self, is_member: BoolArray) -> list[float]:
        """Of the covariate, in a group and elsewhere."""
        n = self.n.sum(axis=0)
        return [
            float(self.of_numbers[cells].sum() / max(1, n[cells].sum()))
            for cells in (is_member, ~is_member)
        ]

    def difference_made(self, is_member: BoolArray, critical: float) -> float | None:
        """The difference that the covariate makes, 0 where it may be chance.

        None where less than half of the group has others in its covariates.
        """
        n_here, n_others = self.n[:, is_member].sum(axis=1), self.n[:, ~is_member].sum(axis=1)
        has_others = n_others > 0
        n_kept = n_here[has_others].sum()
        if 2 * n_kept < n_here.sum() or not n_kept:
            return None
        n_here, n_others = n_here[has_others], n_others[has_others]
        mean = self.total[:, ~is_member].sum(axis=1)[has_others] / n_others
        share_here, share_others = n_here / n_kept, n_others / n_others.sum()
        at_here, at_others = share_here @ mean, share_others @ mean
        part = float(at_here - at_others)
        within = self.squares[~is_member].sum() - (n_others * mean**2).sum()
        variance = max(within, 0.0) / max(1.0, n_others.sum() - len(mean))
        by_values = np.sqrt(variance * ((share_here - share_others) ** 2 / n_others).sum())
        by_users = np.sqrt(
            share_here @ (mean - at_here) ** 2 / n_kept
            + share_others @ (mean - at_others) ** 2 / n_others.sum()
        )
        return part if abs(part) > critical * max(by_values, by_users) else 0.0


def _made_at_random(
    i: int, is_member: BoolArray, analysis: Analysis, at_random: AtRandom, critical: float
) -> tuple[float | None, tuple[float, float] | None]:
    """The difference were lists in random order, 0 where it may be chance, and both means.

    Of some users of the group and of some others; None where too few of them have a value.
    """
    rng = np.random.default_rng([analysis.options.seed, i])
    is_in = is_member[analysis.grouping.cells.of_user]
    is_defined = analysis.moments.n_per_row[i] > 0
    both = []
    for side in (is_in, ~is_in):
        users = np.flatnonzero(side & is_defined)
        if len(users) > MOST_DRAWN:
            users = np.sort(rng.choice(users, MOST_DRAWN, replace=False))
        values = at_random(users)[i]
        both.append(values[~np.isnan(values)])
    if min(map(len, both)) < 2:
        return None, None
    here, elsewhere = (float(values.mean()) for values in both)
    error = np.sqrt(sum(values.var(ddof=1) / len(values) for values in both))
    part = here - elsewhere
    return part if abs(part) > critical * error else 0.0, (here, elsewhere)


class NoLongerFound(BaseModel, frozen=True, extra="forbid"):
    """A group that differs by more than chance, and not among users with equal covariates."""

    metric: str
    group: dict[str, Value]
    n_users: int = Field(description="with a value")
    raw_difference: float = Field(description="unadjusted")
    difference: float | None = Field(
        description="among users with equal covariates; null where nobody else is in those of "
        "the group"
    )
    kept_share: float = Field(description="users of the group in strata with others")


def confounded_findings(
    listed: Sequence[Sequence[int]], adjusted: Analysis
) -> tuple[NoLongerFound, ...]:
    """The findings that are not beyond chance within strata.

    Parameters
    ----------
    listed : positions in the lattice of what is found without strata, for each metric
    """
    estimates = adjusted.estimates
    return tuple(
        NoLongerFound(
            metric=adjusted.measured.metrics[i].name,
            group=adjusted.grouping.group(at).as_dict(),
            n_users=int(adjusted.moments.n[i, at]),
            raw_difference=float(estimates.raw_difference[i, at]),
            difference=finite_or_none(estimates.difference[i, at]),
            kept_share=float(adjusted.kept_share[i, at]),
        )
        for i, groups in enumerate(listed)
        for at in groups
        if not adjusted.is_beyond_chance[i, at]
    )
