"""The charts of the page: every point, square and line that is drawn, and their words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fairrec.core.units import USERS, Unit
from fairrec.result.schema import HistoryPoint

Role = Literal["finding", "best end", "worst end", "group"]
Tone = Literal["worse", "better", "neutral"]
"""What a colour says; neutral where no end is better, or nothing is known."""
Shape = Literal["diamond", "up", "down", "dot"]


@dataclass(frozen=True, slots=True)
class Point:
    """A group in the chart of a metric.

    Parameters
    ----------
    shape : of a finding a diamond; the highest and the lowest point up and down, whichever is best
    mark : its role in words, nothing for most
    """

    group: int
    label: str
    depth: int
    size: int
    value: float
    difference: float | None
    p_adjusted: float | None
    is_fully_scored: bool
    role: Role
    tone: Tone
    shape: Shape
    mark: str


@dataclass(frozen=True, slots=True)
class DensityCell:
    """The centre of a hexagon, and the number of groups in it."""

    size: float
    value: float
    n: int


@dataclass(frozen=True, slots=True)
class Density:
    """All groups of a metric by size and value.

    Parameters
    ----------
    width : of a hexagon, from side to side, in powers of ten of the size
    height : from corner to corner, in units of the metric
    """

    cells: tuple[DensityCell, ...]
    width: float
    height: float


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
    size_range, value_range : what the axes show
    points : with a density, those that are marked or can be chosen; else all groups
    density : of all groups, where they are too many for points
    funnel : of groups known by everyone compared: all users, or those drawn at random
    funnel_fully_scored : of fully scored groups while the rest is known by a sample; else empty
    """

    metric: str
    anchor: str
    mean: float
    size_range: tuple[float, float]
    value_range: tuple[float, float]
    points: tuple[Point, ...]
    density: Density | None
    funnel: tuple[FunnelPoint, ...]
    funnel_fully_scored: tuple[FunnelPoint, ...]
    alternative: str
    note: str
    unit: Unit = USERS


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
    text: str
    is_finding: bool
    is_faded: bool


@dataclass(frozen=True, slots=True)
class Ramp:
    """The colours of a metric, the same in all its maps.

    Parameters
    ----------
    reach : the difference at which the colours end, in either direction
    low, high : what the first and the last colour stand for, in words
    is_neutral : no end is better
    """

    reach: float
    low: str
    high: str
    is_neutral: bool


@dataclass(frozen=True, slots=True)
class PairMap:
    """The groups of two attributes for one metric; a shade of 1 is the best served, -1 the worst.

    Where neither end is better, 1 is the highest. A cell is faded where chance could explain it.
    """

    metric: str
    row_name: str
    column_name: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[PairCell, ...]
    ramp: Ramp
    unit: Unit = USERS


@dataclass(frozen=True, slots=True)
class CertificateStep:
    """From this size on, no group that is not shown to be worse is worse by more than `harm`."""

    size: int
    harm: float
    n_groups: int


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is ruled out for one metric; nothing is where there are no steps.

    Parameters
    ----------
    largest : users of the largest group
    tolerance : the smallest harm worth acting on, where it was given
    harm_name, size_name : of the axes
    rows : size, harm and groups as text
    """

    metric: str
    anchor: str
    steps: tuple[CertificateStep, ...]
    largest: int
    tolerance: float | None
    harm_name: str
    size_name: str
    alternative: str
    rows: tuple[tuple[str, str, str], ...]
    unit: Unit = USERS


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
    unit: Unit = USERS
