"""What was measured: one value for each metric and user, or for all users who are alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.audited_entity import USERS, Unit
from fairrec.core.errors import InputError, plain
from fairrec.core.progress import Progress
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.ids import gather_lists
from fairrec.inputs.order import TiedLists
from fairrec.inputs.side_data import SideData
from fairrec.metrics.parsing import MetricAtK
from fairrec.metrics.ranked import RankedLists
from fairrec.metrics.registry import Need


class Column(NamedTuple):
    """One metric in all rows.

    Parameters
    ----------
    values : (n_rows,), NaN where undefined
    n : (n_rows,), users with a value: whether the user of a row has one, or how many of a row have
    inner : (n_rows,), squares of the values of a row's users around the value of the row
    size : (n_rows,), what each adds to what a sum over rows is divided by: as `n`, but of ratios
    """

    values: FloatArray
    n: BoolArray | FloatArray
    inner: FloatArray
    size: BoolArray | FloatArray

    @property
    def n_users(self) -> float:
        """Users with a value."""
        return float(self.n.sum())

    @property
    def known(self) -> FloatArray:
        """The values of rows with users."""
        is_known = self.n > 0
        return self.values if is_known.all() else self.values[is_known]

    @property
    def n_known(self) -> FloatArray:
        """How many users have each of them."""
        return np.asarray(self.n[self.n > 0], dtype=np.float64)

    @property
    def filled(self) -> FloatArray:
        """The values, 0 where there is none."""
        return np.where(self.n > 0, self.values, 0.0)

    @property
    def mean(self) -> float:
        """Of all users with a value."""
        return float((self.filled * self.n).sum() / max(1.0, self.n_users))


@dataclass(frozen=True, slots=True)
class Alike:
    """What rows stand for that are no single users; (n_metrics, n_rows) each.

    A row has a cell and a stratum, and of each metric the users there who are on one level.

    Parameters
    ----------
    n : users, with a value or not
    inner : squares of their values around their mean, which is the row's value
    level : who may change places with whom; metrics with the same levels were counted together
    """

    n: FloatArray
    inner: FloatArray
    level: IntArray


class Ratio(NamedTuple):
    """What values are ratios of, where a group's value is the ratio of its sums.

    Parameters
    ----------
    above, below : (n_metrics, n_rows), 0 in both where a metric is undefined; the mean of those
        below is 1 where it is defined
    is_defined : (n_metrics, n_rows), rows that count; one with 0 in both adds nothing to sums
    """

    above: FloatArray
    below: FloatArray
    is_defined: BoolArray

    @classmethod
    def of(cls, above: FloatArray, below: FloatArray, is_defined: BoolArray) -> Ratio:
        """The same on a scale on which a row is worth 1 on average."""
        total = below.sum(axis=1, keepdims=True)
        n = is_defined.sum(axis=1, keepdims=True)
        scale = np.divide(n, total, out=np.zeros(total.shape), where=total > 0)
        return cls(above * scale, below * scale, is_defined)

    @property
    def terms(self) -> FloatArray:
        """(n_metrics, n_rows), values of which a mean behaves as the ratio does; NaN if undefined.

        Their mean is the ratio of all sums. Around it they add up to what a group has above beyond
        this ratio of what it has below, so that permuting them permutes both parts together.
        """
        total = self.below.sum(axis=1)
        of_all = np.divide(self.above.sum(axis=1), total, out=np.zeros(len(total)), where=total > 0)
        terms = self.above + of_all[:, None] * (1 - self.below)
        return np.where(self.is_defined, terms, np.nan)


@dataclass(frozen=True, slots=True)
class Measured:
    """The values of users, and whose values were looked at.

    Parameters
    ----------
    metrics : those with a value per user
    values : (n_metrics, n_rows), NaN where undefined or not scored
    is_scored : (n_rows,), users whose values were looked at, defined or not
    is_reference : (n_rows,), a random sample of everyone that was drawn before any was scored
    alike : None where a row is a user
    ratio : None where a group's value is the mean of its users' values
    """

    metrics: tuple[MetricAtK, ...]
    values: FloatArray
    is_scored: BoolArray
    is_reference: BoolArray
    alike: Alike | None = None
    ratio: Ratio | None = None

    @property
    def is_complete(self) -> bool:
        """Whether everyone is scored."""
        return bool(self.is_scored.all())

    def by_metric(self) -> dict[str, FloatArray]:
        """Metric -> (n_rows,), NaN where undefined."""
        names = [metric.name for metric in self.metrics]
        return dict(zip(names, self.values, strict=True))

    def column(self, i: int) -> Column:
        """One metric."""
        values, is_known = self.values[i], ~np.isnan(self.values[i])
        if self.alike is None:
            return Column(values, is_known, np.zeros(1), is_known)
        n = np.where(is_known, self.alike.n[i], 0.0)
        return Column(values, n, self.alike.inner[i], n)

    @property
    def terms(self) -> FloatArray:
        """(n_metrics, n_rows), what sums over groups are made of: values, or terms of ratios."""
        return self.values if self.ratio is None else self.ratio.terms

    def term(self, i: int) -> Column:
        """One metric, as sums over groups are made of it."""
        if self.ratio is None:
            return self.column(i)
        terms = self.ratio.terms[i]
        return Column(terms, ~np.isnan(terms), np.zeros(1), self.ratio.below[i])

    @property
    def n_scored(self) -> BoolArray | FloatArray:
        """(n_rows,), users of each row whose values were looked at."""
        return self.is_scored if self.alike is None else self.alike.n[0]

    def is_mean(self, i: int) -> bool:
        """Whether the value of a group is the mean of its users' values."""
        if self.ratio is None:
            return True
        below = self.ratio.below[i]
        # the same is due to all, but for rounding
        return bool(np.isclose(below[below > 0], 1.0).all())

    def n_undefined(self, i: int) -> int:
        """Users who were looked at and have no value of a metric."""
        is_undefined = np.isnan(self.terms[i]) & self.is_scored
        return int(is_undefined.sum() if self.alike is None else self.alike.n[i] @ is_undefined)

    @property
    def on_levels(self) -> Measured:
        """The same where all users have the mean of their level, as permutations see them."""
        if self.alike is None:
            return self
        is_exact = not self.alike.inner.any()
        values = np.full_like(self.values, np.nan)
        for i, level in enumerate(self.alike.level):
            column = self.column(i)
            # single users on one level have no squares around their own values
            ends = pl.DataFrame({"level": level, "value": column.values}).fill_nan(None)
            ends = ends.group_by("level").agg(low=pl.min("value"), high=pl.max("value"))
            is_exact = is_exact and not (ends["high"] > ends["low"]).any()
            n = np.bincount(level, weights=column.n)
            total = np.bincount(level, weights=column.n * column.filled)
            mean = total / np.maximum(n, 1.0)
            values[i] = np.where(column.n > 0, mean[level], np.nan)
        if is_exact:
            return self
        return replace(self, values=values, alike=replace(self.alike, inner=np.zeros_like(values)))


def measure_everyone(
    inputs: AuditInputs,
    metrics: Sequence[MetricAtK],
    threads: int = 1,
    progress: Progress = lambda stage, done, total: None,
) -> Measured:
    """The values of all users, in the order of users."""
    stage = f"measuring {inputs.unit.count(inputs.n_users)}"
    progress(stage, 0, len(metrics))
    per_list = values_per_list(
        metrics,
        inputs.candidates,
        inputs.side,
        threads,
        lambda done: progress(stage, done, len(metrics)),
    )
    everyone = np.ones(inputs.n_users, dtype=bool)
    # laid out as a search has them, so that sums agree to the last digit
    values = np.ascontiguousarray(per_list[:, inputs.list_of_user])
    return Measured(tuple(metrics), values, everyone, everyone)


def values_per_list(
    metrics: Sequence[MetricAtK],
    candidates: CandidateLists,
    side: SideData,
    threads: int = 1,
    advance: Callable[[int], None] = lambda done: None,
) -> FloatArray:
    """(n_metrics, n_lists), NaN where undefined."""
    lists = RankedLists(candidates, deepest(metrics), side, threads)
    values = np.empty((len(metrics), candidates.n_users))
    for i, metric in enumerate(metrics):
        values[i] = metric.checked(metric.compute(lists), lists.n_users)
        advance(i + 1)
    return values


def tied_lists(
    candidates: CandidateLists, metrics: Sequence[MetricAtK], threads: int = 1
) -> TiedLists | None:
    """How many lists have equal scores; None without scores, or where no metric has a cut-off."""
    k = deepest(metrics)
    if not k or len(candidates.scores) < len(candidates.items):
        return None
    lists = RankedLists(candidates, 0, SideData(), threads)
    is_tied, is_at_cutoff = lists.are_tied(k)
    tied = np.flatnonzero(is_tied)
    n_constant = 0
    if len(tied):
        scores = gather_lists(candidates.scores, candidates.offsets, tied)
        starts = np.cumsum(lists.lengths[tied]) - lists.lengths[tied]
        lowest, highest = (end.reduceat(scores, starts) for end in (np.minimum, np.maximum))
        n_constant = int((lowest == highest).sum())
    n_lists = int((lists.lengths > 1).sum())
    return TiedLists(k, n_lists, len(tied), int(is_at_cutoff.sum()), n_constant)


def deepest(metrics: Sequence[MetricAtK]) -> int:
    """The deepest cut-off; 0 where there is none."""
    return max((metric.k or 0 for metric in metrics), default=0)


def refuse_undefined(measured: Measured, candidates: CandidateLists, unit: Unit = USERS) -> None:
    """An error for a metric that is undefined for every user, or every item."""
    for metric, row in zip(measured.metrics, measured.values, strict=True):
        if np.isnan(row).all():
            needs, labels = metric.metric.needs, candidates.labels
            reasons = [why for need, why in _WHY_UNDEFINED.items() if need in needs]
            if "labels" in needs and candidates.held_out is not None:
                reasons = ["no user with a row of attributes has a relevant held-out item"]
            elif "labels" in needs and labels is not None and not (labels > 0).any():
                reasons = ["no candidate has a label above 0"]
            why = f": {reasons[0]}" if reasons and unit.is_users else ""
            raise InputError(
                f"Metric '{plain(metric.name)}' is undefined for every {unit.one}{why}. Fix the "
                "table or leave the metric out."
            )


_WHY_UNDEFINED: dict[Need, str] = {
    "against_lists": "no user has another list with enough in common to compare",
    "item_columns": "no list has an item of which it is known",
    "user_profiles": "no user has categories both in the history and in the list",
    "items": "no user has two candidates with categories in the items table",
    "history": "no user has candidates and a history in the history table",
    "candidates": "no user has both a relevant and another candidate",
}
"""Where the tables of a metric are given, and no user has enough in them; the first holds."""
