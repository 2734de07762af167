"""What was measured: one value for each metric and user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.errors import InputError
from fairrec.core.progress import Progress
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.side import SideData
from fairrec.metrics.ranked import RankedLists
from fairrec.metrics.registry import MetricAtK


@dataclass(frozen=True, slots=True)
class Measured:
    """The values of users, and whose values were looked at.

    Parameters
    ----------
    metrics : those with a value per user
    values : (n_metrics, n_users), NaN where undefined or not scored
    is_scored : (n_users,), users whose values were looked at, defined or not
    is_reference : (n_users,), a random sample of everyone that was drawn before any was scored
    """

    metrics: tuple[MetricAtK, ...]
    values: FloatArray
    is_scored: BoolArray
    is_reference: BoolArray

    @property
    def is_complete(self) -> bool:
        """Whether everyone is scored."""
        return bool(self.is_scored.all())


def measure_everyone(
    inputs: AuditInputs,
    metrics: Sequence[MetricAtK],
    threads: int = 1,
    progress: Progress = lambda stage, done, total: None,
) -> Measured:
    """The values of all users, in the order of users."""
    stage = f"measuring {inputs.n_users:,} users"
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
    max_k = max((metric.k or 0 for metric in metrics), default=0)
    lists = RankedLists(candidates, max_k, side, threads)
    values = np.empty((len(metrics), candidates.n_users))
    for i, metric in enumerate(metrics):
        values[i] = metric.checked(metric.compute(lists), lists.n_users)
        advance(i + 1)
    return values


def values_in_random_order(
    inputs: AuditInputs, metrics: Sequence[MetricAtK], users: IntArray, seed: int
) -> FloatArray:
    """(n_metrics, n_users), the values of some users if their candidates were in random order."""
    lists = inputs.list_of_user[users]
    lengths = np.diff(inputs.candidates.offsets)[lists]
    scores = np.random.default_rng(seed).random(int(lengths.sum()))
    return values_per_list(
        metrics, inputs.candidates.take(lists, scores), inputs.side.for_lists(lists)
    )


def refuse_undefined(measured: Measured, candidates: CandidateLists) -> None:
    """An error for a metric that is undefined for every user."""
    for metric, row in zip(measured.metrics, measured.values, strict=True):
        if np.isnan(row).all():
            raise InputError(
                f"Metric '{metric.name}' is undefined for every user: "
                f"{_why_undefined(metric, candidates)}. Fix the table or leave the metric out."
            )


def _why_undefined(metric: MetricAtK, candidates: CandidateLists) -> str:
    needs = metric.metric.needs
    if "labels" in needs and candidates.held_out is not None:
        return "nobody with a row of attributes has a held-out item that is relevant"
    if "labels" in needs and candidates.labels is not None and not (candidates.labels > 0).any():
        return "no candidate has a label above 0"
    if "items" in needs:
        return "no user has two candidates with categories in the items table"
    if "history" in needs:
        return "no user has candidates and a history in the history table"
    return "no user has both a relevant and another candidate"
