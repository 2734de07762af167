"""A column of numbers as a metric: what somebody else measured, or what was worked out before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from fairrec.core.arrays import FloatArray
from fairrec.core.errors import FairRecError, plain
from fairrec.core.units import Side
from fairrec.metrics.parsing import MetricAtK, parse_metric
from fairrec.metrics.ranked import RankedLists
from fairrec.metrics.registry import Metric


def metric_of_column(name: str, better: Mapping[str, bool], where: str) -> MetricAtK:
    """The metric that is a column of the table of values.

    A column with the name of a metric, as an earlier audit writes them, has its direction and
    bounds; of any other neither end is better unless that is said.

    Parameters
    ----------
    better : whether the higher end is better, by name of the column
    """
    asked = _asked_for(name)
    known = None if asked is None else asked.metric
    higher_is_better = better.get(name, known.higher_is_better if known else None)

    return MetricAtK(
        Metric(
            name=name,
            compute=values_named(name),
            higher_is_better=higher_is_better,
            needs=frozenset(),
            definition=f"Column '{plain(name)}' of {where}."
            + ("" if known is None else f" {known.definition}"),
            has_cutoff=False,
            bounds=known.bounds if known else None,
            called=asked.called if asked else "",
            ratio_scale=known.ratio_scale if known else None,
        ),
        None,
    )


def values_named(name: str) -> Callable[..., FloatArray]:
    """The function of a metric whose values are in a column of this name already."""
    return partial(_column, name)


def _column(name: str, lists: RankedLists, k: int | None = None) -> FloatArray:
    return lists.side.values[name]


def metric_named(name: str, side: Side = "users") -> Metric | None:
    """The metric that a column is named after, such as `ndcg@10`, or None."""
    asked = _asked_for(name, side)
    return None if asked is None else asked.metric


def _asked_for(name: str, side: Side = "users") -> MetricAtK | None:
    """The same with its cut-off, and with what stands in brackets."""
    try:
        found = parse_metric(name, side)
    except FairRecError:
        return None
    return found if found.name == name else None
