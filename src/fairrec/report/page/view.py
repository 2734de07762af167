"""The parts of the page: every word and number on it. The template only lays them out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fairrec.core.units import USERS, Unit
from fairrec.mitigation.view import MitigationView
from fairrec.report.page.chart_view import (
    Certificate,
    Correlation,
    GroupChart,
    PairMap,
    Role,
    SearchHistory,
)
from fairrec.report.text.findings import Mark, Served
from fairrec.report.text.overview import Overview
from fairrec.report.text.ratios import RatiosView
from fairrec.report.text.verdict import Verdict
from fairrec.report.words import TableView


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
    served : how in this metric, beyond chance; empty where it is not
    at, measured : of the shrunken difference, and of that which was measured; None where the group
        has no value
    span : of the interval that holds for all groups at once
    chance : how far random groups of its size reach
    marks : the metrics in which it differs beyond chance
    """

    group: int
    label: str
    users: str
    served: Served | Literal[""]
    difference: str
    interval: str
    at: float | None
    measured: float | None
    span: tuple[float, float] | None
    chance: tuple[float, float] | None
    marks: tuple[Mark, ...]


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
class HistogramBar:
    """A bin: its shares of a group and of all others as heights, and what it holds."""

    own: float
    others: float
    text: str


@dataclass(frozen=True, slots=True)
class GroupCard:
    """A group that differs by more than chance, with a finding a metric.

    Parameters
    ----------
    bars : the values of the first finding's metric
    scale : lowest and highest of them, or where they are few a text for each bar
    """

    group: int
    label: str
    served: Served
    tag: str
    users: str
    findings: tuple[FindingCard, ...]
    bars: tuple[HistogramBar, ...]
    scale: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FindingCard:
    """What one metric says about a group that differs by more than chance.

    Parameters
    ----------
    value, others : means of the group and of all others
    shrunken : the difference that is left after correcting for the group being picked out
    carried_by, distances : whether it is the combination of its conditions, and what tells so;
        empty for one condition
    neighbours : who, how many, mean and standard error; the group itself first
    explained : the difference beside what it is whatever the circumstances, and of items how many
        random sets are as far off
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
    carried_by: str
    distances: str
    neighbours: tuple[tuple[str, ...], ...]
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
class PageView:
    """The page, ready to lay out.

    Parameters
    ----------
    confidence : of the intervals, such as 95%
    unit : what was audited
    compared_with, difference : whom groups differ from, and what that is called
    is_adjusted : these are users in the same circumstances, while values are as they are
    group_file : link to the table with every group; empty where there is none
    mitigation : what was done to the lists before this audit, if anything
    changed, changes : of a counterfactual, for how many users something changes, and what
    heading, about_model, author : what the auditor calls the audit, the model and himself; empty
        where not said
    made_at : date and time; empty where it is not known
    """

    title: str
    summary: str
    overview: Overview
    dots: tuple[DotPlot, ...]
    dots_note: str
    plan: tuple[str, ...]
    missing: tuple[str, ...]
    verdicts: tuple[VerdictCard, ...]
    findings: tuple[GroupCard, ...]
    findings_note: str
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
    ratios: RatiosView
    side_by_side: tuple[SideBySideRow, ...]
    correlation: Correlation | None
    search: tuple[str, ...]
    histories: tuple[SearchHistory, ...]
    coverage: tuple[str, ...]
    notes: tuple[str, ...]
    definitions: tuple[Definition, ...]
    reproduce: Reproduce
    group_file: str
    mitigation: MitigationView | None = None
    checks: tuple[str, ...] = ()
    circumstances: tuple[str, ...] = ()
    no_longer: tuple[str, ...] = ()
    heading: str = ""
    author: str = ""
    about_model: str = ""
    made_at: str = ""
    unit: Unit = USERS
    changed: str = ""
    changes: tuple[TableView, ...] = ()
