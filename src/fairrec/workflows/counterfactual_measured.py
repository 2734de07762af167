"""What changes for each user: their lists, and every metric of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fairrec.core.arrays import FloatArray, IntArray
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import InputError
from fairrec.metrics import MetricAtK, parse_metric
from fairrec.metrics.parsing import DEFAULT_K
from fairrec.metrics.value_columns import (
    AFFECTED,
    changes_per_list,
    is_of_both,
    metric_of_change,
    over_other_values,
)
from fairrec.statistics.paired import AffectedShare, Sampling
from fairrec.workflows.counterfactual_asked import Asked


@dataclass(frozen=True, slots=True)
class Changes:
    """What changes for the users that were scored, in the order of their lists.

    Parameters
    ----------
    lists : (n,), whose they are
    metrics : those asked for
    values : (n_metrics, n), over the other values of each user: the mean, or whether any affects
    pairs : value they have, value they get -> (n_metrics, n users who have the first)
    sampling : how users were drawn
    """

    lists: IntArray
    metrics: tuple[MetricAtK, ...]
    values: FloatArray
    pairs: Mapping[tuple[int, int], FloatArray]
    sampling: Sampling

    @property
    def changes(self) -> tuple[MetricAtK, ...]:
        """The metrics that the values are."""
        return tuple(map(metric_of_change, self.metrics))

    @property
    def affected_name(self) -> str:
        """The metric that says who is affected, and when sampling ended."""
        return self.metrics[_affected(self.metrics)].name

    @property
    def affected(self) -> AffectedShare:
        """How many of the users are, with the interval for all users like them."""
        is_affected = self.values[_affected(self.metrics)]
        return self.sampling.share(len(is_affected), int(is_affected.sum()))


def with_affected(wanted: Sequence[MetricAtK]) -> tuple[MetricAtK, ...]:
    """The metrics asked for, those of two lists first, and who is affected among them."""
    for metric in wanted:
        if metric.metric.pooled:
            raise InputError(
                f"Metric '{metric.name}' is a value of a group and changes for no user by itself. "
                "Leave it out."
            )
    both = [metric for metric in wanted if is_of_both(metric)]
    if not any(metric.metric.name == AFFECTED for metric in both):
        k = max((metric.k or 0 for metric in both or wanted), default=0) or DEFAULT_K
        both.append(parse_metric(f"{AFFECTED}@{k}"))
    return (*both, *(metric for metric in wanted if not is_of_both(metric)))


def measure_changes(
    asked: Asked,
    wanted: tuple[MetricAtK, ...],
    users: IntArray,
    margin: float | None,
    options: AuditOptions,
) -> Changes:
    """Score users batch by batch, until the share affected is known within the margin.

    Parameters
    ----------
    users : their lists, in random order
    margin : None for all of them
    """
    at = _affected(wanted)
    lists = np.empty(0, dtype=np.int64)
    under = {value: np.empty((len(wanted), 0)) for value in asked.others}
    values = np.empty((len(wanted), 0))
    sampling = Sampling(len(users), options.alpha, margin)
    for start, stop in pairwise((0, *sampling.looks)):
        part = _changes_under(asked, wanted, users[start:stop], options.n_threads)
        lists = users[:stop]
        under = {value: np.hstack([under[value], part[value]]) for value in under}
        values = over_other_values(wanted, under)
        if sampling.is_enough(stop, int(values[at].sum())):
            break
    order = np.argsort(lists)
    mine = asked.of_list(lists[order])
    pairs = {
        (int(own), value): changes[:, order][:, mine == own]
        for own in np.unique(mine)
        for value, changes in under.items()
        if own != value
    }
    return Changes(lists[order], wanted, values[:, order], pairs, sampling)


def _affected(metrics: Sequence[MetricAtK]) -> int:
    return next(i for i, metric in enumerate(metrics) if metric.metric.name == AFFECTED)


def _changes_under(
    asked: Asked, wanted: Sequence[MetricAtK], lists: IntArray, threads: int
) -> dict[int, FloatArray]:
    """(n_metrics, n_lists) under each other value; NaN for users who have it."""
    candidates, side = asked.inputs.candidates, asked.inputs.side
    mine = asked.of_list(lists)
    # all at once, so that calls are as large as they may be
    asked.as_is.pay_for(lists)
    under = {}
    for value, ledger in asked.others.items():
        is_other = mine != value
        some = lists[is_other]
        before = candidates.take(some, asked.as_is.pay_for(some))
        with asked.told_under(value):
            after = candidates.take(some, ledger.pay_for(some))
        under[value] = np.full((len(wanted), len(lists)), np.nan)
        under[value][:, is_other] = changes_per_list(
            wanted, before, after, side.for_lists(some), threads
        )
    return under
