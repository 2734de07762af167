"""Groups that stand out, and no longer do among users in the same circumstances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairrec.statistics.analysis import Analysis
from fairrec.statistics.metric_analysis import MetricAnalysis


@dataclass(frozen=True, slots=True)
class Explained:
    """A finding that is none any more.

    Parameters
    ----------
    metric, group : positions; that of the group in the lattice
    """

    metric: int
    group: int


def no_longer_found(raw: Sequence[MetricAnalysis], adjusted: Analysis) -> tuple[Explained, ...]:
    """The findings without circumstances that are not beyond chance with them.

    Parameters
    ----------
    raw : what is found whatever the circumstances
    """
    return tuple(
        Explained(i, finding.position)
        for i, about in enumerate(raw)
        for finding in about.findings
        if not adjusted.is_beyond_chance[i, finding.position]
    )
