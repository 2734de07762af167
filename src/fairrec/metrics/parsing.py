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
        low, high = self.metric.bounds or (-np.inf, np.inf)
        wrong = ""
        if values.shape != (n_users,):
            wrong = (
                f"returned shape {values.shape} for {n_users:,} users. Return one number per user"
            )
        elif values.dtype.kind not in "biuf":
            wrong = f"returned {values.dtype}. Return numbers, NaN where undefined"
        else:
            values = values.astype(np.float64, copy=False)
            largest = np.fmax.reduce(np.abs(values), initial=0.0)
            if np.isinf(largest):
                n = np.isinf(values).sum()
                wrong = f"is infinite for {n:,} users. Return NaN where it is undefined"
            elif largest > LARGEST or 0 < largest < SMALLEST:
                wrong = f"has values up to {largest:g}, too far from 1. Return it in other units"
            # a hair beyond the bounds is rounding; further out, intervals would be wrong
            elif (values < low - 1e-9).any() or (values > high + 1e-9).any():
                wrong = f"has values outside its bounds {low:g} to {high:g}. Fix it or its bounds"
        if wrong:
            raise MetricError(f"Metric '{self.metric.name}' {wrong}.")
        return values

    def compute_pooled(self, scores: FloatArray, labels: FloatArray) -> float:
        """The value of a pooled metric for one group's candidates, NaN where undefined."""
        value = np.asarray(self.metric.compute(scores, labels))
        if value.shape or value.dtype.kind not in "biuf" or np.isinf(value):
            raise MetricError(
                f"Metric '{self.metric.name}' returned {value!r}. Return one number for a group, "
                "NaN where undefined."
            )
        return float(value)


def parse_metric(text: str, side: Side = "users") -> MetricAtK:
    """`ndcg@10` as asked for, in any case; a metric with a cut-off and no `@k` gets the default.

    >>> parse_metric("ndcg").name, parse_metric("NDCG@10").name
    ('ndcg@5', 'ndcg@10')
    """
    asked, bracket, of = text.strip().partition("[")
    name, at, cutoff = (part.strip() for part in asked.partition("@"))
    found = _in_any_case(name, side)
    if found.takes or bracket:
        of = _in_brackets(text, found, bracket and of)
    if not found.has_cutoff:
        if at:
            raise InputError(
                f"Metric '{plain(text)}': {name} looks at all candidates. Write '{name}'."
            )
        return MetricAtK(found, None, of)
    if not at:
        return MetricAtK(found, DEFAULT_K, of)
    if not (cutoff.isdecimal() and len(cutoff) < 9 and 1 <= int(cutoff) <= MAX_K):
        raise InputError(
            f"Metric '{plain(text)}': the cut-off must be a whole number from 1 to {MAX_K:,}. "
            f"Example: {name}@5"
        )
    return MetricAtK(found, int(cutoff), of)


def side_of(text: str) -> Side:
    """Whose metric is named, in any case; one that nobody knows is left to the users' side.

    >>> side_of("Exposure@10"), side_of("ndcg")
    ('items', 'users')
    """
    name = re.split(r"[@\[]", text)[0].strip().lower()
    return "items" if name in map(str.lower, ITEM_METRICS) else "users"


def _in_brackets(text: str, found: Metric, bracketed: str) -> str:
    """What is asked of a column of the items, without blanks around its parts."""
    if not found.takes:
        raise InputError(
            f"Metric '{plain(text)}': {found.name} takes nothing in brackets. Write "
            f"'{plain(text.partition('[')[0])}'."
        )
    of, _, behind = bracketed.rpartition("]")
    column, is_valued, value = (part.strip() for part in of.partition("="))
    has_value = found.takes == "column=value"
    if behind or not column or bool(value) != has_value or (is_valued and not value):
        example = f"{found.name}@{DEFAULT_K}[{'pay=high' if has_value else 'price'}]"
        raise InputError(
            f"Metric '{plain(text)}': {found.name} is about a column of the items table. Name it "
            f"in brackets: {example}"
        )
    return f"{column}={value}" if is_valued else column


def _in_any_case(name: str, side: Side) -> Metric:
    """The metric of this name, or the only one whose name differs in case alone."""
    for of, metrics in ((side, OF_SIDE[side]), *OF_SIDE.items()):
        alike = [known for known in metrics if known.lower() == name.lower()]
        if alike and of != side:
            known = [one.written for one in map(OF_SIDE[side].__getitem__, OF_SIDE[side])]
            raise InputError(
                f"Metric '{plain(name)}' is one of {of}, and {side} are compared here. Of {side}: "
                f"{', '.join(known)}. An audit with {spell('side', of)} compares {of}."
            )
        if alike:
            return metrics[alike[0] if len(alike) == 1 else name]
    if (ours := OTHER_NAMES.get(re.sub("[-_ ]", "", name.lower()))) and ours in OF_SIDE[side]:
        raise UnknownNameError(
            f"No metric '{plain(name)}'. The nearest here is '{ours}': "
            f"{OF_SIDE[side][ours].definition} docs/metrics.md compares the definitions."
        )
    return OF_SIDE[side][name]


OTHER_NAMES = {
    **dict.fromkeys(("hr", "hitrate", "hitratio", "success"), "hit"),
    **dict.fromkeys(("meanreciprocalrank", "reciprocalrank", "recirank"), "mrr"),
    **dict.fromkeys(("averageprecision", "meanaverageprecision"), "map"),
    **dict.fromkeys(("f1score", "f1beta", "fmeasure"), "f1"),
    **dict.fromkeys(("gauc", "rocauc", "partialauc"), "auc"),
    **dict.fromkeys(("intralistdiversity", "diversity", "intralistsimilarity", "ils"), "ild"),
    **dict.fromkeys(
        ("arp", "avgrecpopularity", "averagepopularity", "averagerecommendationpopularity"),
        "popularity",
    ),
    **dict.fromkeys(("meaninvuserfreq", "miuf", "selfinformation", "serendipity"), "novelty"),
    **dict.fromkeys(("tailpercentage", "aplt", "longtailshare", "tail"), "long_tail"),
    **dict.fromkeys(("calibration", "kldivergence"), "miscalibration"),
}
"""Names of other libraries, without blanks and hyphens -> the nearest metric here."""
