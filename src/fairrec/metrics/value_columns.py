"""Metrics whose values are in columns: numbers measured elsewhere, and changes of lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.core.audited_entity import Side
from fairrec.core.errors import FairRecError, plain
from fairrec.inputs.candidates import CandidateLists
from fairrec.inputs.side_data import SideData, in_order
from fairrec.metrics.measured import values_per_list
from fairrec.metrics.parsing import MetricAtK, parse_metric
from fairrec.metrics.ranked import RankedLists
from fairrec.metrics.registry import Metric


def metric_of_column(name: str, better: Mapping[str, bool], where: str) -> MetricAtK:
    """The metric that is a column of the table of values.

    A column with the name of a metric, as an earlier audit writes them, has its direction and
    bounds; of any other neither end is better by default.

    Parameters
    ----------
    better : whether the higher end is better, by name of the column
    """
    known = find_metric(name) or Metric(name, values_named(name), None, frozenset(), "", False)
    definition = f"Column '{plain(name)}' of {where}. {known.definition}".strip()
    end = better.get(name, known.higher_is_better)
    return MetricAtK(
        _looked_up(replace(known, name=name, definition=definition, higher_is_better=end)), None
    )


def values_named(name: str) -> Callable[..., FloatArray]:
    """The function of a metric whose values are in a column of this name already."""
    return partial(_column, name)


def _column(name: str, lists: RankedLists, k: int | None = None) -> FloatArray:
    return lists.side.values[name]


def find_metric(name: str, side: Side = "users") -> Metric | None:
    """The metric that a column is named after, such as `ndcg@10`, or None."""
    try:
        found = parse_metric(name, side)
    except FairRecError:
        return None
    return replace(found.metric, called=found.called) if found.name == name else None


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
    """
    of = metric.metric
    if is_of_both(metric):
        return MetricAtK(_looked_up(replace(of, name=metric.name)), None)
    width = None if of.bounds is None else of.bounds[1] - of.bounds[0]
    change = replace(
        of,
        name=f"{metric.name}_change",
        higher_is_better=None if of.higher_is_better is None else not of.higher_is_better,
        definition=f"{metric.name} once changed, minus {metric.name} as it is.",
        bounds=None if width is None else (-width, width),
        called=f"change of {metric.called or metric.name}",
        ratio_scale=False,
    )
    return MetricAtK(_looked_up(change), None)


def _looked_up(metric: Metric) -> Metric:
    compute = values_named(metric.name)
    return replace(metric, compute=compute, needs=frozenset(), has_cutoff=False, takes="")
