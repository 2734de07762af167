"""What the ends of a metric are called, and which of them is worse."""

from __future__ import annotations

from typing import Literal

from fairrec.core.units import CHANGES, DISTANCES, EndWords, Unit
from fairrec.metrics.direction import harm
from fairrec.metrics.value_columns import metric_named
from fairrec.result.comparison import MetricComparison
from fairrec.result.metric_schema import Finding, MetricResult


def end_names(result: MetricResult) -> tuple[str, str]:
    """What the low and the high end of a metric are called."""
    return ("lowest", "highest") if result.higher_is_better is None else ("worst", "best")


def worse_word(result: MetricResult) -> str:
    """What a group is that is served worse; where no end is, that it differs."""
    return "different" if result.higher_is_better is None else "worse"


def harm_word(result: MetricResult) -> str:
    """What that is by how much."""
    return "difference" if result.higher_is_better is None else "harm"


def of_two_lists(metric: str) -> Literal["", "change", "distance"]:
    """Whether a value tells of two lists of a user: how a metric changes, or how far they are."""
    before = metric_named(metric.removesuffix("_change"))
    if before is None:
        return ""
    if metric.endswith("_change"):
        return "change"
    return "distance" if "against_lists" in before.needs else ""


def end_words(metric: str, unit: Unit) -> EndWords:
    """What groups are at either end of a metric.

    >>> from fairrec.core.units import USERS
    >>> end_words("rbo@5", USERS).worse, end_words("ndcg@5", USERS).worse
    ('changed more', 'served worse')
    """
    return {"": unit.end_words, "change": CHANGES, "distance": DISTANCES}[of_two_lists(metric)]


def direction(result: MetricResult | MetricComparison) -> str:
    """Which end of a metric is better, in words."""
    words = {True: "higher is better", False: "lower is better", None: "no end is better"}
    return words[result.higher_is_better]


def is_worse(finding: Finding, result: MetricResult) -> bool:
    """Whether a finding is at the worse end; where there is none, always."""
    return harm(finding.difference, result.higher_is_better) > 0
