"""What an audit says about a world, as its reader would take it: the one place that decides."""

from __future__ import annotations

from fairrec.result.metric_result import describe_metrics
from fairrec.result.metric_schema import MetricResult
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.findings import list_findings
from fairrec.statistics.missing import Conclusiveness


def results(analysis: Analysis) -> list[MetricResult]:
    """What is found for each metric, where all users have a value."""
    standing = [Conclusiveness(0.0, is_conclusive=True, is_constant=False)]
    found = describe_metrics(analysis, standing * len(analysis.moments.mean))
    return [one.result for one in found]


def named_groups(analysis: Analysis, metric: int = 0) -> list[int]:
    """The groups that are named for a metric, positions in the lattice, the first one first."""
    return [finding.position for finding in list_findings(metric, analysis)[0]]


def names_any(analysis: Analysis) -> bool:
    """Whether any group is named, for any metric."""
    return any(named_groups(analysis, metric) for metric in range(len(analysis.moments.mean)))


def is_shown_worse(analysis: Analysis, group: int, metric: int = 0) -> bool:
    """Whether a group is beyond chance in the bad direction, listed by itself or not."""
    harm = analysis.measured.metrics[metric].metric.harm(analysis.moments.difference[metric])
    return bool(analysis.is_beyond_chance[metric, group] and harm[group] > 0)


def interval_of(analysis: Analysis, group: int, metric: int = 0) -> tuple[float, float]:
    """The interval of the difference that stands beside a named group."""
    low, high = analysis.estimates.simultaneous
    return float(low[metric, group]), float(high[metric, group])


def size_of(analysis: Analysis, group: int, metric: int = 0) -> float:
    """The difference that stands beside a named group."""
    return float(analysis.estimates.shrunken_difference[metric, group])


def promised(analysis: Analysis, group: int, metric: int = 0) -> float:
    """The harm to a group that is said to be found in 80 of 100 audits; NaN where none is."""
    return float(analysis.detectable[metric, group])
