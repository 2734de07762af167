"""The parts of the page: every word, number and mark on it. The template only lays them out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fairrec.core.audited_entity import USERS, Unit
from fairrec.report.answer import Served
from fairrec.report.findings import Mark
from fairrec.report.page.vega import Figure
from fairrec.report.verdict import Verdict
from fairrec.report.view import ReportView
from fairrec.report.words import TableView
from fairrec.result.schema import HistoryPoint
from fairrec.statistics.verdict import CertifiedSize

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
class Certificate:
    """What is ruled out for one metric; nothing is where there are no steps.

    Parameters
    ----------
    largest : users of the largest group
    tolerance : the largest harm that is accepted, where it was set
    harm_name, size_name : of the axes
    rows : size, harm and groups as text
    """

    metric: str
    anchor: str
    steps: tuple[CertifiedSize, ...]
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
    """Metrics against each other over the full intersections of attributes."""

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


@dataclass(frozen=True, slots=True)
class PageLimits:
    """How much of a large result the page shows.

    Parameters
    ----------
    points : groups in all charts of metrics together
    rows : rows of the table
    cells : cells of all maps of two attributes together
    findings : groups with a card and a row
    values : bars of all attributes together
    ratios : rows of the table of ratios
    metrics : with charts; all have their verdict and their rows of the table
    """

    points: int = 4000
    rows: int = 1000
    cells: int = 4000
    findings: int = 60
    values: int = 1000
    ratios: int = 300
    metrics: int = 30

    def scaled(self, share: float) -> PageLimits:
        """The same with less of everything."""
        return PageLimits(*(max(1, round(getattr(self, name) * share)) for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class GapScale:
    """The gap beside what chance shows, as shares of the width of a scale."""

    gap: str
    chance: str
    q95: str
    gap_at: float
    chance_at: float
    q95_at: float
    alternative: str
    is_beyond: bool


@dataclass(frozen=True, slots=True)
class VerdictCard:
    """What one metric says, with its mean and its gap drawn beside chance.

    Parameters
    ----------
    mean_over : whose mean it is, and whether it is an estimate
    """

    verdict: Verdict
    anchor: str
    mean: str
    mean_over: str
    scale: GapScale | None


@dataclass(frozen=True, slots=True)
class DotRow:
    """A group in a dot plot; places are shares of the width, in percent.

    Parameters
    ----------
    served : how in this metric, where it differs significantly; else empty
    at : of the difference; None where the group has no value
    span : of its simultaneous interval
    chance : how far random groups of its size reach
    marks : other metrics in which it differs significantly
    is_folded : whether it is shown only on demand
    is_finding : whether it has a card
    """

    group: int
    label: str
    users: str
    value: str
    served: Served | Literal[""]
    difference: str
    interval: str
    at: float | None
    span: tuple[float, float] | None
    chance: tuple[float, float] | None
    verdict: str
    marks: tuple[Mark, ...]
    is_folded: bool
    is_finding: bool


@dataclass(frozen=True, slots=True)
class OverlapCell:
    """The users that two groups share, as a share of those of the row; None for the row itself."""

    text: str
    share: float | None


@dataclass(frozen=True, slots=True)
class OverlapRow:
    """A group, and what it shares with each."""

    label: str
    cells: tuple[OverlapCell, ...]


@dataclass(frozen=True, slots=True)
class OverlapMap:
    """Which findings overlap; `n_more` of them are not in it."""

    rows: tuple[OverlapRow, ...]
    n_more: int


@dataclass(frozen=True, slots=True)
class DotPlot:
    """The differences of groups in one metric; `ticks` are places and their texts."""

    metric: str
    called: str
    direction: str
    ticks: tuple[tuple[float, str], ...]
    zero: float
    rows: tuple[DotRow, ...]


@dataclass(frozen=True, slots=True)
class GroupCard:
    """A group that differs by more than chance, with a finding a metric."""

    group: int
    label: str
    served: Served
    tag: str
    users: str
    findings: tuple[FindingCard, ...]


@dataclass(frozen=True, slots=True)
class FindingCard:
    """What one metric says about a group that differs by more than chance.

    Parameters
    ----------
    value, others : means of the group and of all others
    shrunken : the difference that is left after correcting for the group being picked out
    explained : the difference beside what it is unadjusted
    unknown : what unknown attributes leave open
    """

    metric: str
    served: Served
    verdict: str
    value: str
    others: str
    difference: str
    shrunken: str
    sentence: str
    interval: str
    p_adjusted: str
    unknown: str
    folded: str
    because: str
    explained: str = ""


@dataclass(frozen=True, slots=True)
class ValueBar:
    """A value of an attribute: how many users have it, and the share of the longest bar."""

    value: str
    users: str
    share: str
    length: float
    is_small: bool
    is_missing: bool


@dataclass(frozen=True, slots=True)
class Distribution:
    """How the users are spread over the values of an attribute."""

    attribute: str
    about: str
    bars: tuple[ValueBar, ...]
    rest: str


@dataclass(frozen=True, slots=True)
class TableRow:
    """A group and a metric in the table.

    Parameters
    ----------
    attributes : the positions of those it names
    numbers : what the page sorts by and gives away, one for each of `number_columns`
    """

    group: int
    metric: str
    label: str
    attributes: tuple[int, ...]
    users: str
    value: str
    interval: str
    difference: str
    difference_interval: str
    p_adjusted: str
    numbers: tuple[float | None, ...]
    role: Role
    mark: str


@dataclass(frozen=True, slots=True)
class SideBySideRow:
    """One finding and its difference in every metric; `is_finding` says where it is one."""

    group: int
    label: str
    differences: tuple[str, ...]
    is_finding: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """A metric in a sentence."""

    metric: str
    sentence: str
    direction: str


@dataclass(frozen=True, slots=True)
class InputFile:
    """A table that was read."""

    part: str
    name: str
    checksum: str


@dataclass(frozen=True, slots=True)
class Reproduce:
    """How to get the same numbers again."""

    command: str
    settings: tuple[tuple[str, str], ...]
    inputs: tuple[InputFile, ...]


@dataclass(frozen=True, slots=True)
class PageSection:
    """What a feature shows on the page of its audit, before the groups.

    Parameters
    ----------
    kind : what the page is of, such as "mitigation"
    anchor, title : of the section, for links to it
    headline : the first one of the page
    html : the section itself
    words : the words of the audit
    figures : what is drawn in the section, by the names of the places
    is_answer : whether the headline takes the place of the answer of the audit
    """

    kind: str
    anchor: str
    title: str
    headline: str
    html: str
    words: ReportView
    figures: Mapping[str, Figure] = field(default_factory=dict)
    is_answer: bool = False


@dataclass(frozen=True, slots=True)
class PageView:
    """The page, ready to lay out.

    Parameters
    ----------
    words : those that every layout has
    confidence : of the intervals, such as 95%
    unit : what was audited
    compared_with, difference : whom groups differ from, and what that is called
    is_adjusted : these are users with equal covariates, while values are as they are
    group_file : link to the table with every group; empty where there is none
    section : of the feature that the audit is a part of
    heading, about_model, author : what the auditor calls the audit, the model and himself; empty
        where not said
    made_at : date and time; empty where it is not known
    """

    words: ReportView
    summary: str
    dots: tuple[DotPlot, ...]
    dots_note: str
    verdicts: tuple[VerdictCard, ...]
    findings: tuple[GroupCard, ...]
    findings_note: str
    overlaps: OverlapMap | None
    no_findings: str
    certificates: tuple[Certificate, ...]
    charts: tuple[GroupChart, ...]
    charts_note: str
    pairs: tuple[PairMap, ...]
    pairs_note: str
    confidence: str
    compared_with: str
    difference: str
    is_adjusted: bool
    distributions: tuple[Distribution, ...]
    metrics: tuple[str, ...]
    attributes: tuple[str, ...]
    table: tuple[TableRow, ...]
    table_note: str
    ratios: TableView
    side_by_side: tuple[SideBySideRow, ...]
    correlation: Correlation | None
    histories: tuple[SearchHistory, ...]
    definitions: tuple[Definition, ...]
    reproduce: Reproduce
    group_file: str
    section: PageSection | None = None
    no_longer: tuple[str, ...] = ()
    heading: str = ""
    author: str = ""
    about_model: str = ""
    made_at: str = ""
    unit: Unit = USERS
