"""A metric as it is asked for: `share@10[pay=high]`, by name, with cut-off and brackets."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.core.audited_entity import Side
from fairrec.core.errors import InputError, MetricError, UnknownNameError, plain
from fairrec.core.options import spell
from fairrec.inputs.tables import LARGEST, SMALLEST
from fairrec.metrics.registry import ITEM_METRICS, OF_SIDE, Metric

DEFAULT_K = 5
MAX_K = 1000


@dataclass(frozen=True, slots=True)
class MetricAtK:
    """A metric as the user asked for it, such as `ndcg@5`.

    Parameters
    ----------
    of : what stands in brackets; nothing for most
    """

    metric: Metric
    k: int | None
    of: str = ""

    @property
    def name(self) -> str:
        """The name with its cut-off and what stands in brackets."""
        name = self.metric.name if self.k is None else f"{self.metric.name}@{self.k}"
        return f"{name}[{self.of}]" if self.of else name

    @property
    def called(self) -> str:
        """What it measures, in a few words: `places for pay=high`."""
        return f"{self.metric.called} {self.of}".strip()

    @property
    def compute(self) -> Callable[..., Any]:
        """The metric's own function, with all that was asked for."""
        asked = {} if self.k is None else {"k": self.k}
        return partial(self.metric.compute, **asked, **({"of": self.of} if self.of else {}))

    def checked(self, returned: Any, n_users: int) -> FloatArray:
        """(n_users,) float64, NaN where undefined: what a metric returned, or a clear error."""
        try:
            values = np.asarray(returned)
        except ValueError as error:
            raise MetricError(f"Metric '{self.metric.name}' returned no array: {error}.") from error

        def refuse(is_wrong: bool, what: str) -> None:
            if is_wrong:
                raise MetricError(f"Metric '{self.metric.name}' {what}.")

        refuse(
            values.shape != (n_users,),
            f"returned shape {values.shape} for {n_users:,} users. Return one number per user",
        )
        is_numeric = values.dtype.kind in "biuf"
        refuse(not is_numeric, f"returned {values.dtype}. Return numbers, NaN where undefined")
        values = values.astype(np.float64, copy=False)
        refuse(bool(np.isinf(values).any()), "has infinite values. Return NaN where undefined")
        largest = np.fmax.reduce(np.abs(values), initial=0.0)
        is_extreme = largest > LARGEST or 0 < largest < SMALLEST
        refuse(is_extreme, f"has values up to {largest:g}, too far from 1. Use other units")
        low, high = self.metric.bounds or (-np.inf, np.inf)
        # a hair beyond the bounds is rounding; further out, intervals would be wrong
        is_beyond = (values < low - 1e-9) | (values > high + 1e-9)
        refuse(bool(is_beyond.any()), f"has values outside its bounds {low:g} to {high:g}")
        return values


def parse_metric(text: str, side: Side = "users") -> MetricAtK:
    """`ndcg@10` as asked for, in any case; a metric with a cut-off and no `@k` gets the default.

    >>> parse_metric("ndcg").name, parse_metric("NDCG@10").name
    ('ndcg@5', 'ndcg@10')
    """
    found = _FORM.fullmatch(text.strip())
    name, cutoff, of = found.groups() if found else (text, None, None)
    metric = _find(name.strip(), side)
    of = _in_brackets(text, metric, of)
    if not metric.has_cutoff:
        if cutoff is not None:
            raise InputError(
                f"Metric '{plain(text)}': {name} looks at all candidates. Write '{name}'."
            )
        return MetricAtK(metric, None, of)
    k = DEFAULT_K
    if cutoff is not None:
        k = int(cutoff) if re.fullmatch(r" *\d{1,8} *", cutoff) else 0
    if not 1 <= k <= MAX_K:
        raise InputError(
            f"Metric '{plain(text)}': the cut-off must be a whole number from 1 to {MAX_K:,}. "
            f"Example: {name}@5"
        )
    return MetricAtK(metric, k, of)


_FORM = re.compile(r"([^@\[]*)(?:@([^\[]*))?(?:\[(.*)\])?")
"""A name, a cut-off and what stands in brackets."""


def side_of(text: str) -> Side:
    """The side whose metric is named, in any case; that of users for an unknown name.

    >>> side_of("Exposure@10"), side_of("ndcg")
    ('items', 'users')
    """
    name = re.split(r"[@\[]", text)[0].strip().lower()
    return "items" if name in ITEM_METRICS else "users"


def _in_brackets(text: str, metric: Metric, of: str | None) -> str:
    """The column of items that a metric is about, without blanks around its parts."""
    if not metric.takes:
        if of is not None:
            raise InputError(
                f"Metric '{plain(text)}': {metric.name} takes nothing in brackets. Write "
                f"'{plain(text.partition('[')[0])}'."
            )
        return ""
    column, _, value = (part.strip() for part in (of or "").partition("="))
    needs_value = metric.takes == "column=value"
    if not column or bool(value) != needs_value:
        example = f"{metric.name}@{DEFAULT_K}[{'pay=high' if needs_value else 'price'}]"
        raise InputError(
            f"Metric '{plain(text)}': {metric.name} is about a column of the items table. Name it "
            f"in brackets: {example}"
        )
    return f"{column}={value}" if value else column


def _find(name: str, side: Side) -> Metric:
    """The metric of this name, in small letters or as it is."""
    metrics = OF_SIDE[side]
    key = name if name in metrics else name.lower()
    if key not in metrics:
        for of, others in OF_SIDE.items():
            if key in others:
                known = ", ".join(metrics[one].written for one in metrics)
                raise InputError(
                    f"Metric '{plain(name)}' is one of {of}, and {side} are compared here. Of "
                    f"{side}: {known}. An audit with {spell('side', of)} compares {of}."
                )
        squeezed = re.sub("[-_ ]", "", key)
        for ours, names in _OTHER_NAMES.items():
            if squeezed in names.split() and ours in metrics:
                raise UnknownNameError(
                    f"No metric '{plain(name)}'. The nearest here is '{ours}': "
                    f"{metrics[ours].definition} docs/metrics.md compares the definitions."
                )
    return metrics[key]


_OTHER_NAMES = {
    "hit": "hr hitrate hitratio success",
    "mrr": "meanreciprocalrank reciprocalrank recirank",
    "map": "averageprecision meanaverageprecision",
    "f1": "f1score fmeasure",
    "auc": "gauc rocauc",
    "ild": "intralistdiversity diversity intralistsimilarity",
    "popularity": "arp averagepopularity averagerecommendationpopularity",
    "novelty": "meaninvuserfreq selfinformation serendipity",
    "long_tail": "tailpercentage aplt tail",
    "miscalibration": "calibration kldivergence",
}
"""The nearest metric here -> its names in other libraries, without blanks and hyphens."""
