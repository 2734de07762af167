"""The rule `worst:10%`: the intersections of all attributes (full combinations) served worst."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.groups.cells import Cells
from fairrec.inputs.formats import format_of
from fairrec.metrics.direction import badness, harm


@dataclass(frozen=True, slots=True)
class WorstRule:
    """The worst served full combinations: a share of those with enough users, or a number."""

    share: float | None = None
    number: int | None = None

    def n_of(self, n_eligible: int) -> int:
        """How many groups that is, at least one."""
        if self.number is not None:
            return min(self.number, n_eligible)
        assert self.share is not None
        return max(1, round(self.share * n_eligible))


def parse_worst(text: str) -> WorstRule | None:
    """`worst:10%` or `worst:5`; None for anything else; ValueError for another `worst...`.

    >>> parse_worst("worst:10%"), parse_worst("findings")
    (WorstRule(share=0.1, number=None), None)
    """
    if not text.startswith("worst") or format_of(Path(text)):
        return None
    share = re.fullmatch(r"worst:(\d+(?:\.\d+)?)%", text)
    if share and 0 < float(share[1]) <= 100:
        return WorstRule(share=float(share[1]) / 100)
    number = re.fullmatch(r"worst:(\d{1,9})", text)
    if number and int(number[1]) > 0:
        return WorstRule(number=int(number[1]))
    raise ValueError(text)


def harm_per_cell(
    values: FloatArray, cells: Cells, higher_is_better: bool | None, min_users: float
) -> FloatArray:
    """(n_cells,), how badly each intersection is served; NaN with too few defined values.

    Where neither end is better, how far its mean is from the mean of everyone else.
    """
    is_defined = ~np.isnan(values)
    known = np.where(is_defined, values, 0.0)
    n, total = cells.sums(is_defined), cells.sums(known)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / n
        others = (total.sum() - total) / (n.sum() - n)
    is_distance = higher_is_better is None
    worse = harm(mean - others, None) if is_distance else badness(mean, higher_is_better)
    return np.where(n >= max(1, min_users), worse, np.nan)


def worst_cells(harms: FloatArray, rule: WorstRule) -> IntArray:
    """The cells with most harm, worst first."""
    eligible = np.flatnonzero(~np.isnan(harms))
    order = np.argsort(-harms[eligible], kind="stable")
    return eligible[order[: rule.n_of(len(eligible))]]
