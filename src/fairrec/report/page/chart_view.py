"""The charts of the page: every point, square and line that is drawn, and their words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fairrec.result.schema import HistoryPoint

Role = Literal["finding", "best end", "worst end", "group"]


@dataclass(frozen=True, slots=True)
class Point:
    """A group in the chart of a metric; `mark` says its role in words, nothing for most."""

    group: int
    label: str
    depth: int
    size: int
    value: float
    difference: float | None
    p_adjusted: float | None
    is_fully_scored: bool
    role: Role
    mark: str


@dataclass(frozen=True, slots=True)
class FunnelPoint:
    """Where a group of this size stays if only chance is at work, adjusted for all groups."""

    size: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class GroupChart:
    """Value against size of the groups, for one metric.

    Parameters
    ----------
    funnel : of groups known by everyone compared: all users, or those drawn at random
    funnel_fully_scored : of fully scored groups while the rest is known by a sample; else empty
    """

    metric: str
    anchor: str
    mean: float
    points: tuple[Point, ...]
    funnel: tuple[FunnelPoint, ...]
    funnel_fully_scored: tuple[FunnelPoint, ...]
    low_name: str
    high_name: str
    alternative: str
    note: str


@dataclass(frozen=True, slots=True)
class PairCell:
    """Two values of two attributes and the group they make."""

    group: int
    label: str
    row: str
    column: str
    size: int
    value: float
    difference: float | None
    p_adjusted: float | None
    shade: float
    is_finding: bool


@dataclass(frozen=True, slots=True)
class PairMap:
    """The groups of two attributes for one metric; a shade of 1 is the best served, -1 the worst.

    Where neither end is better, 1 is the highest.
    """

    metric: str
    row_name: str
    column_name: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[PairCell, ...]
    low_name: str
    high_name: str


@dataclass(frozen=True, slots=True)
class CorrelationCell:
    """How alike two metrics order the groups."""

    row: str
    column: str
    correlation: float | None
    text: str


@dataclass(frozen=True, slots=True)
class Correlation:
    """Metrics against each other over the full combinations of attributes."""

    metrics: tuple[str, ...]
    cells: tuple[CorrelationCell, ...]
    sentence: str


@dataclass(frozen=True, slots=True)
class SearchHistory:
    """How the gap of one metric grew while users were scored."""

    metric: str
    steps: tuple[HistoryPoint, ...]
    users_total: int
    alternative: str
