"""What an audit says about a world, as its reader would take it: the one place that decides."""

from __future__ import annotations

from collections.abc import Sequence

from fairrec.statistics.analysis import Analysis
from fairrec.statistics.findings import MetricAnalysis, analyse_metrics


def named_groups(found: Sequence[MetricAnalysis], metric: int = 0) -> list[int]:
    """The groups that are named for a metric, positions in the lattice, the first one first."""
    return [finding.position for finding in found[metric].findings]


def names_any(analysis: Analysis) -> bool:
    """Whether any group is named, for any metric."""
    found = analyse_metrics(analysis)
    return any(named_groups(found, metric) for metric in range(len(found)))


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
