"""What was found for one metric: its part of `result.json`."""

from __future__ import annotations

from pydantic import Field

from fairrec.groups.group import GroupValue
from fairrec.result.parts import Part
from fairrec.statistics.findings import Finding
from fairrec.statistics.paired import ChangeVerdict
from fairrec.statistics.unknown import Unknown
from fairrec.statistics.verdict import MetricVerdict

MAX_UNDEFINED = 0.05
"""The default of the largest share of users without a value."""


class Chance(Part):
    """The null distribution of the gap: values are permuted across users, or users drawn again."""

    mean: float
    q95: float = Field(description="95% of draws have a gap of at most this")
    # both ends as far apart in standard errors: in the metric itself small groups are far apart by
    # chance, whatever happens to the large ones
    p_value: float = Field(
        description="how often the null distribution has a gap at least this large"
    )
    permutations: int = Field(description="of items, how often users were drawn again")


class Detectable(Part):
    """The power of the audit for groups of one size."""

    support: int
    difference: float = Field(description="smallest true harm shown with 80% probability")


class Gap(Part):
    """The best and the worst served intersection of all attributes, and the null distribution."""

    metric: str
    size: float
    advantaged: GroupValue | None = Field(
        description="null where no two intersections differ, so that none is the best"
    )
    disadvantaged: GroupValue | None
    chance: Chance | None


class UndecidedGroup(GroupValue, frozen=True):
    """A group that differs significantly, and of which the simultaneous interval includes 0."""

    difference: float = Field(description="from all others")
    simultaneous: tuple[float, float]
    p_adjusted: float


class MetricResult(Part):
    """All that was found for one metric."""

    definition: str
    called: str = Field(
        default="", description="what it measures, in two or three words; empty where unknown"
    )
    higher_is_better: bool | None
    mean: float = Field(
        description="over all users with a defined value; after a search over those drawn at random"
    )
    sd: float | None = Field(
        default=None, description="among those users; null where it is no mean over users"
    )
    n_compared: int = Field(
        default=0,
        description="users behind mean and sd: all with a defined value, or those drawn at random",
    )
    is_ratio_scale: bool = Field(
        default=False,
        description="values start at 0, which is none of it, so that percentages of it make "
        "sense; false for signed metrics, and for auc, of which a random order has 0.5",
    )
    bounds: tuple[float | None, float | None] | None = Field(
        default=None,
        description="lowest and highest value it can have; an end is null where there is no limit, "
        "both where none is known",
    )
    n_defined: int
    n_undefined: int
    undefined_share: float = Field(
        default=0.0,
        description="users without a value, as a share of those for whom one is expected: with "
        "held-out interactions users who have any, else all audited ones",
    )
    is_conclusive: bool = Field(
        default=True,
        description="false where no finding shows nothing: too many users have no value, or "
        "too many of a group that differs from the rest have none or got no list",
    )
    is_constant: bool = Field(default=False, description="the same value for every user")
    n_groups: int = Field(description="groups with enough users, all depths")
    is_tested: bool = Field(description="whether groups were tested against chance")
    gap: float | None = Field(
        description="between intersections of all attributes; null where none is eligible"
    )
    advantaged: GroupValue | None = Field(description="null where no two of them differ")
    disadvantaged: GroupValue | None
    most_advantaged: tuple[GroupValue, ...] = Field(
        description="intersections of all attributes served best, best first, as many as asked "
        "for; none of them is among those served worst"
    )
    most_disadvantaged: tuple[GroupValue, ...] = Field(
        description="intersections of all attributes served worst, worst first"
    )
    chance: Chance | None = Field(description="null where nothing was permuted")
    findings: tuple[Finding, ...]
    n_significant: int = Field(
        description="groups with an adjusted p-value of at most alpha and a simultaneous interval "
        "that excludes 0, before folding"
    )
    n_not_listed: int = Field(description="of those, neither listed nor folded")
    detectable: tuple[Detectable, ...]
    verdict: MetricVerdict | None = Field(default=None, description="null where nothing was tested")
    undecided: tuple[UndecidedGroup, ...] = Field(
        default=(),
        description="groups with an adjusted p-value of at most alpha, of which the simultaneous "
        "interval includes 0: inconclusive",
    )
    unknown: tuple[Unknown, ...] = Field(
        default=(),
        description="groups of one attribute, at most 50 each, and findings to which users of "
        "unknown attributes may belong; the largest harm for its size first",
    )


class Change(Part):
    """Users before and after, on held-out targets: the same, or two sets of them."""

    n_users: int = Field(description="of two sets of users those after")
    before: float | None = Field(description="mean; null without users")
    after: float | None
    change: float | None
    interval: tuple[float, float] | None = Field(
        description="confidence interval of the change at level 1 - alpha, one at a time; null "
        "below two users, where too few users changed for one, and of items, which share places"
    )
    p_value: float | None = Field(
        description="of no change: paired t test, of two sets of users Welch's. A single group is "
        "not taken to vary less than all who changed do; of the chosen groups together and of "
        "everyone skewness is allowed for. Never below what turning the signs of the changes could "
        "show"
    )
    verdict: ChangeVerdict


class GapChange(Part):
    """The gap between the best and the worst served intersection of all attributes."""

    before: float | None
    after: float | None
    chance_before: Chance | None
    chance_after: Chance | None
