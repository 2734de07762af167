"""What another list of the same users changes: the lists themselves, and every metric of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.side import SideData
from fairrec.inputs.user_lists import in_order
from fairrec.metrics.measured import values_per_list
from fairrec.metrics.parsing import MetricAtK
from fairrec.metrics.registry import Metric
from fairrec.metrics.value_columns import values_named

AFFECTED = "affected"
"""The metric that is Themis' causal score, once it is a mean over users."""


def is_of_both(metric: MetricAtK) -> bool:
    """Whether a metric compares two lists by itself."""
    return "against_lists" in metric.metric.needs


def changes_per_list(
    metrics: Sequence[MetricAtK],
    before: CandidateLists,
    after: CandidateLists,
    side: SideData,
    threads: int = 1,
) -> FloatArray:
    """(n_metrics, n_lists), NaN where undefined.

    Of a metric of two lists its value, of any other its value after minus its value before.
    """
    both = replace(side, against=in_order(after))
    changes = values_per_list(metrics, before, both, threads)
    others = [i for i, metric in enumerate(metrics) if not is_of_both(metric)]
    changes[others] = (
        values_per_list([metrics[i] for i in others], after, side, threads) - changes[others]
    )
    return changes


def over_other_values(metrics: Sequence[MetricAtK], under: Mapping[int, FloatArray]) -> FloatArray:
    """(n_metrics, n_lists), the mean over other values; of who is affected, whether any does it.

    Parameters
    ----------
    under : (n_metrics, n_lists) each, by the other value; NaN for users who have it
    """
    stacked = np.stack([*under.values()])
    is_known = ~np.isnan(stacked)
    total, n = np.where(is_known, stacked, 0.0).sum(axis=0), is_known.sum(axis=0)
    values: FloatArray = np.divide(total, n, out=np.full(total.shape, np.nan), where=n > 0)
    for i, metric in enumerate(metrics):
        if metric.metric.name == AFFECTED:
            values[i] = np.where(n[i] > 0, np.sign(total[i]), np.nan)
    return values


def metric_of_change(metric: MetricAtK) -> MetricAtK:
    """The metric that is looked up among the values of users once they are changed.

    Who would get better lists is worse off as things are, so of a change the other end is better.

    >>> from fairrec.metrics.parsing import parse_metric
    >>> found = metric_of_change(parse_metric("ndcg@10"))
    >>> found.name, found.metric.higher_is_better, found.metric.bounds
    ('ndcg@10_change', False, (-1, 1))
    """
    of = metric.metric
    if is_of_both(metric):
        return MetricAtK(_looked_up(replace(of, name=metric.name)), None)
    width = None if of.bounds is None else of.bounds[1] - of.bounds[0]
    return MetricAtK(
        _looked_up(
            replace(
                of,
                name=f"{metric.name}_change",
                higher_is_better=None if of.higher_is_better is None else not of.higher_is_better,
                definition=f"{metric.name} once changed, minus {metric.name} as it is.",
                bounds=None if width is None else (-width, width),
                called=f"change of {metric.called or metric.name}",
                ratio_scale=False,
            )
        ),
        None,
    )


def _looked_up(metric: Metric) -> Metric:
    return replace(
        metric, compute=values_named(metric.name), needs=frozenset(), has_cutoff=False, takes=""
    )
