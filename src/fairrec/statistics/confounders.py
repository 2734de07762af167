"""Confounders: covariates that account for a part of the difference of a finding.

A group may differ from all others in a covariate on which the metric depends, such as the length
of a history. What the covariate accounts for is the mean of all others at the group's values of
it, minus their mean at their own values (Kitagawa's decomposition).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, Field
from scipy.special import ndtri

from fairrec.core.arrays import AnyArray, BoolArray, CodeArray, FloatArray, finite_or_none
from fairrec.groups.lattice import members
from fairrec.inputs.users import Value
from fairrec.statistics.analysis import Analysis

MOST_FINDINGS = 10
"""Findings of a metric that are checked, worst first."""
LEAST_SHARE = 0.2
"""Of a difference; a covariate that accounts for less is not reported."""
LEVEL = 0.02
"""Probability that anything is reported where no covariate matters."""


@dataclass(frozen=True, slots=True)
class BinnedCovariate:
    """A covariate of all users.

    Parameters
    ----------
    numbers, codes : (n_users,), its values, and the bins they are in
    """

    name: str
    numbers: AnyArray
    codes: CodeArray
    n_values: int


class Confounder(BaseModel, frozen=True, extra="forbid"):
    """A covariate, not adjusted for, that accounts for a part of the difference of a finding."""

    metric: str
    group: dict[str, Value]
    covariate: str
    mean: float = Field(description="of the covariate in the group")
    mean_of_others: float
    difference: float = Field(description="that of the finding")
    explains: float | None = Field(
        description="the part of the difference that it accounts for, judged by all others; null "
        "where too few others share the group's values of the covariate"
    )


def find_confounders(
    analysis: Analysis, findings: Sequence[Sequence[int]], covariates: Sequence[BinnedCovariate]
) -> tuple[Confounder, ...]:
    """The covariates that account for a part of the findings.

    A part is reported where it is significant both in the values of others and in the distribution
    of the covariate, has the sign of the difference, and is not negligible.

    Parameters
    ----------
    findings : for each metric, positions of groups in the lattice
    """
    checked = [(i, group) for i, groups in enumerate(findings) for group in groups[:MOST_FINDINGS]]
    critical = float(ndtri(1 - LEVEL / (2 * max(1, len(checked) * len(covariates)))))
    found, cells = [], analysis.grouping.cells
    for covariate in covariates:
        tables = {i: _Table.of(i, covariate, analysis) for i in {i for i, _ in checked}}
        for i, group in checked:
            is_member = members(analysis.grouping.lattice.codes[group], cells)
            difference = float(analysis.moments.difference[i, group])
            part = tables[i].contribution(is_member, critical)
            is_reported = part is None or (
                part * difference > 0 and abs(part) >= LEAST_SHARE * abs(difference)
            )
            if is_reported and np.isfinite(difference):
                found.append(
                    Confounder(
                        metric=analysis.measured.metrics[i].name,
                        group=analysis.grouping.group(group).as_dict(),
                        covariate=covariate.name,
                        mean=tables[i].mean(is_member),
                        mean_of_others=tables[i].mean(~is_member),
                        difference=difference,
                        explains=part,
                    )
                )
    return tuple(found)


class _Table(NamedTuple):
    """Sums over the users with a value of a metric, by bin of a covariate and by cell.

    Parameters
    ----------
    n, total : (n_bins, n_cells), users, and sums of their centred values
    squares, covariate : (n_cells,), sums of squared values and of the covariate
    """

    n: FloatArray
    total: FloatArray
    squares: FloatArray
    covariate: FloatArray

    @classmethod
    def of(cls, i: int, covariate: BinnedCovariate, analysis: Analysis) -> _Table:
        """The sums of one metric."""
        cells, moments = analysis.grouping.cells, analysis.moments
        is_defined, values = moments.n_per_row[i], moments.centred_per_row[i]
        shape = (covariate.n_values, len(cells))
        at = covariate.codes.astype(np.int64) * len(cells) + cells.of_user
        n, total = (
            np.bincount(at, row, shape[0] * shape[1]).reshape(shape).astype(np.float64)
            for row in (is_defined, values)
        )
        return cls(n, total, cells.sums(values**2), cells.sums(covariate.numbers * is_defined))

    def mean(self, is_in: BoolArray) -> float:
        """The mean of the covariate over the users of some cells."""
        return float(self.covariate[is_in].sum() / max(1, self.n[:, is_in].sum()))

    def contribution(self, is_member: BoolArray, critical: float) -> float | None:
        """The part of a difference that the covariate accounts for; 0 where not significant.

        None where less than half of the group shares its values of the covariate with others.
        """
        n_own, n_others = self.n[:, is_member].sum(axis=1), self.n[:, ~is_member].sum(axis=1)
        has_others = n_others > 0
        n_kept = n_own[has_others].sum()
        if 2 * n_kept < n_own.sum() or not n_kept:
            return None
        n_own, n_others = n_own[has_others], n_others[has_others]
        mean = self.total[:, ~is_member].sum(axis=1)[has_others] / n_others
        own, others = n_own / n_kept, n_others / n_others.sum()
        at_own, at_others = own @ mean, others @ mean
        within = self.squares[~is_member].sum() - (n_others * mean**2).sum()
        variance = max(within, 0.0) / max(1.0, n_others.sum() - len(mean))
        by_values = np.sqrt(variance * ((own - others) ** 2 / n_others).sum())
        by_users = np.sqrt(
            own @ (mean - at_own) ** 2 / n_kept + others @ (mean - at_others) ** 2 / n_others.sum()
        )
        part = float(at_own - at_others)
        return part if abs(part) > critical * max(by_values, by_users) else 0.0


class NoLongerFound(BaseModel, frozen=True, extra="forbid"):
    """A group that differs significantly, but not among users with equal covariates."""

    metric: str
    group: dict[str, Value]
    n_users: int = Field(description="with a value")
    raw_difference: float = Field(description="unadjusted")
    difference: float | None = Field(
        description="among users with equal covariates; null where no others share those of the "
        "group"
    )
    kept_share: float = Field(description="users of the group in strata with others")


def confounded_findings(
    listed: Sequence[Sequence[int]], adjusted: Analysis
) -> tuple[NoLongerFound, ...]:
    """The findings that are not significant within strata.

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
