"""What was found for one metric: its part of `result.json`."""

from __future__ import annotations

from pydantic import Field

from fairrec.inputs.users import Value
from fairrec.result.parts import GroupValue, Part
from fairrec.statistics.findings import CarriedBy
from fairrec.statistics.paired import ChangeVerdict
from fairrec.statistics.ratios import FourFifths, LeftOut, RateKind, WhyNot
from fairrec.statistics.verdict import Outcome

MAX_UNDEFINED = 0.05
"""The share without a value that was let pass before anybody could say another."""


class Chance(Part):
    """The null distribution of the gap: values are permuted across users, or users drawn again."""

    mean: float
    q95: float = Field(description="95% of draws have a gap of at most this")
    p_value: float = Field(
        description="how often the null distribution has a gap at least this large"
    )
    permutations: int = Field(description="of items, how often users were drawn again")


class Gap(Part):
    """The best and the worst served intersection of all attributes, and the null distribution."""

    metric: str
    size: float
    advantaged: GroupValue | None = Field(
        description="null where no two intersections differ, so that none is the best"
    )
    disadvantaged: GroupValue | None
    chance: Chance | None


class Neighbour(Part):
    """The users who meet exactly some conditions of a finding."""

    is_met: dict[str, bool] = Field(description="attribute -> whether they have its value")
    n_users: int = Field(description="with a value; all of them where not all are scored")
    value: float | None = Field(
        description="mean; null for fewer users than the smallest group, or not all of them scored"
    )
    error: float | None = Field(description="standard error of the mean")


class Interaction(Part):
    """A finding of several conditions beside its neighbours, and what carries its difference."""

    carried_by: CarriedBy = Field(
        description="the combination: the conditions alone do not add up to most of the distance "
        "from users who meet none of them; each condition by itself: they do"
    )
    alone: tuple[str, ...] = Field(
        description="attributes whose condition makes a difference of the same sign by itself"
    )
    excess: float | None = Field(
        description="distance of the finding from users who meet no condition, minus what the "
        "conditions make alone, added up; null where one of them is not known"
    )
    error: float | None = Field(description="standard error of the excess")
    neighbours: tuple[Neighbour, ...] = Field(
        description="the finding itself first, users who meet no condition last; of more than "
        "three conditions each alone, without those in between"
    )


class Finding(Part):
    """A group that differs from all other users by more than chance explains."""

    group: dict[str, Value]
    value: float
    support: int = Field(description="users of the group whose value is known")
    n_users: int = Field(description="users of the group, known or not")
    is_fully_scored: bool = Field(
        description="every user of the group is scored; otherwise it is judged by those of its "
        "users that a search drew at random"
    )
    outcome: Outcome | None = Field(
        default=None,
        description="what is known about its harm: worse by more than matters; worse, by how much "
        "is open or nothing was said to matter; not worse by more than matters; inconclusive. "
        "Where neither end is better: differs by more, differs, differs by no more. Null of "
        "shares of users who are missing",
    )
    difference: float = Field(
        description="mean of the group minus mean of all other users, among users in the same "
        "circumstances where these are given"
    )
    raw_difference: float | None = Field(default=None, description="whatever the circumstances")
    kept_share: float | None = Field(
        default=None,
        description="users of the group whom the difference is about: in circumstances that weigh "
        "as much as they are many, because there are others too; null where none are given",
    )
    shrunken_difference: float = Field(
        description="what is left after correcting for this group being picked out"
    )
    interval: tuple[float, float] = Field(
        description="confidence interval of the difference at 1 - alpha, for one group at a time"
    )
    simultaneous: tuple[float | None, float | None] = Field(
        description="confidence interval of the difference that holds for all groups and metrics "
        "at once, so also for those picked out; an end is null where it has no limit",
    )
    p_value: float = Field(description="for one group at a time")
    p_adjusted: float = Field(description="adjusted for all groups and metrics tested")
    random_sets: float | None = Field(
        default=None,
        description="of items the share of random sets of as many that are at least as far from "
        "all others, in the same direction: it describes the group, and no verdict rests on it; "
        "null of users",
    )
    interaction: Interaction | None = Field(
        default=None,
        description="null for one condition, for more than six, and where not all are scored",
    )
    n_folded: int = Field(description="overlapping groups that add nothing to this one")
    because_of: dict[str, Value] | None = Field(
        default=None,
        description="a group that is served better and without which this one would not stand out; "
        "null for most",
    )
    counts: tuple[int, ...] = Field(
        default=(), description="users of the group with a value in each of the metric's bins"
    )
    counts_of_others: tuple[int, ...] = Field(default=(), description="the same of all others")


class Detectable(Part):
    """The power of the audit for groups of one size."""

    support: int
    difference: float = Field(description="smallest true harm shown with 80% probability")


class CertifiedSize(Part):
    """What is ruled out for groups of at least one size that are not shown to be worse."""

    support: int = Field(description="users, at least")
    harm: float = Field(description="none of them is worse by more, all at once at 1 - alpha")
    n_groups: int


class Unknown(Part):
    """A group to which users may belong whose attributes are not known."""

    group: dict[str, Value]
    n_known: int = Field(description="users who belong to it, with a value")
    n_unknown: int = Field(description="users who may belong to it, with a value")
    difference: float = Field(
        description="mean of those who belong to it minus mean of all others, unknown ones included"
    )
    bounds: tuple[float, float] = Field(
        description="smallest and largest difference, whichever of the unknown users belong to it"
    )
    at_worst: float | None = Field(
        default=None,
        description="the difference at the worse end of the bounds and of the simultaneous "
        "interval on top; null where it has no limit, or nothing was tested",
    )


class MetricVerdict(Part):
    """What is known about the harm of the groups of one metric, and what can be ruled out."""

    outcome: Outcome
    alternative: Outcome | None = Field(
        default=None,
        description="undecided by permutation: the outcome that another seed may give, with the "
        "most permutations that are drawn; null where they decide",
    )
    tolerance: float | None = Field(
        description="the smallest harm worth acting on, in units of the metric; null where nothing "
        "was said"
    )
    n_worse_by_more: int = Field(
        description="groups worse, or different where neither end is better, by more than matters"
    )
    n_worse: int = Field(description="groups shown to be worse, or different, by how much is open")
    n_better: int = Field(description="groups shown to be served better than all others")
    n_ruled_out: int = Field(description="groups not worse, or different, by more than matters")
    n_exceeding_at_worst: int = Field(
        default=0,
        description="of those ruled out, groups that are worse by more than matters at worst: they "
        "are ruled out if the unknown users are like the others",
    )
    at_worst: Unknown | None = Field(
        default=None, description="that of these with the largest harm at worst; null for none"
    )
    n_open: int = Field(description="groups that are inconclusive")
    ruled_out_from: int | None = Field(
        description="of groups with so many users and more none is inconclusive"
    )
    open_share: float | None = Field(description="users in any group that is inconclusive")
    n_not_compared: int = Field(
        default=0,
        description="groups tested of which nothing can be ruled out: most of their users have no "
        "others in the same circumstances, or the interval of their harm has no limit",
    )
    certificate: tuple[CertifiedSize, ...] = Field(
        description="the largest harm that is not ruled out, for groups of at least each size that "
        "are not shown to be worse; smallest size first"
    )


class UndecidedGroup(GroupValue):
    """A group that differs significantly, and of which the simultaneous interval includes 0."""

    difference: float = Field(description="from all others")
    simultaneous: tuple[float, float]
    p_adjusted: float


class MetricResult(Part):
    """All that was found for one metric."""

    definition: str
    called: str = Field(
        default="", description="what it measures, in two or three words; empty where nobody said"
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
    critical_tails: dict[int, tuple[float, float]] | None = Field(
        default=None,
        description="number of attributes -> standard errors above and below all others beyond "
        "which a group differs by more than chance; null untested, and of items",
    )
    is_ratio_scale: bool = Field(
        default=False,
        description="values start at 0, which is none of it, so that one may be so many percent of "
        "another; false for signed metrics, and for auc, of which a random order has 0.5",
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
        description="false where nothing found is no all-clear: too many users have no value, or "
        "too many of a group that differs from the rest have none or got no list",
    )
    is_constant: bool = Field(default=False, description="the same value for every user")
    n_groups: int = Field(description="groups with enough users, all depths")
    is_tested: bool = Field(description="whether groups were tested against chance")
    gap: float | None = Field(
        description="between intersections of all attributes (full combinations); null where none "
        "is eligible"
    )
    is_gap_hidden: bool = Field(
        default=False,
        description="gap, its ends and the null distribution are null because an end is hidden",
    )
    advantaged: GroupValue | None = Field(description="null where no two of them differ")
    disadvantaged: GroupValue | None
    most_advantaged: tuple[GroupValue, ...] = Field(
        description="full combinations served best, best first, as many as asked for; none of them "
        "is among those served worst"
    )
    most_disadvantaged: tuple[GroupValue, ...] = Field(
        description="full combinations served worst, worst first"
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
    varying: tuple[GroupValue, ...] = Field(
        default=(),
        description="groups that vary more than others, so that they stand out by the spread among "
        "all users but not by their own: not shown to be worse or better",
    )
    unknown: tuple[Unknown, ...] = Field(
        default=(),
        description="groups of one attribute, at most 50 each, and findings to which users of "
        "unknown attributes may belong; the largest harm for its size first",
    )
    bins: tuple[float, ...] = Field(
        default=(),
        description="edges of the bins in which values of findings are counted: one for each of up "
        "to 12 values, else 20, of which the outer ones hold far tails and may be wider",
    )


class GroupRatios(Part):
    """A group beside the best group and beside all other users."""

    group: dict[str, Value]
    support: int = Field(description="users of the group with a value")
    value: float
    to_best: float | None = Field(
        description="value over that of the best group of the same attributes; null for a group "
        "that is left out, and without a second one"
    )
    to_best_interval: tuple[float, float] | None = Field(
        description="confidence interval at 1 - alpha, one group at a time; allows for not knowing "
        "which group is best"
    )
    to_rest: float | None = Field(
        description="value over the mean of all other users; null where that is 0, and without any"
    )
    to_rest_interval: tuple[float, float] | None = Field(
        description="confidence interval at 1 - alpha, one group at a time"
    )
    four_fifths: FourFifths | None = Field(
        description="whether to_best is below 0.8; uncertain where 0.8 lies in its interval"
    )
    rate: float = Field(description="selection or scoring rate, as rate_kind says")
    impact_ratio: float | None = Field(
        description="rate over the highest rate of a group of the same attributes"
    )
    left_out: LeftOut | None = Field(
        description="why it is not compared with the best: below 2% of users, or a value unknown"
    )


class CategoryRatios(Part):
    """All groups by one attribute, or by a pair of them."""

    attributes: tuple[str, ...]
    n_unknown: int | None = Field(
        description="users of whom one of these attributes is not known; null where hidden"
    )
    n_too_few: int = Field(description="groups below the smallest size, which are not shown")
    n_users_too_few: int | None = Field(description="their users; null where hidden")
    n_not_listed: int = Field(description="groups that are left out and not listed here")
    groups: tuple[GroupRatios, ...] = Field(
        description="lowest ratio to the best first, then those left out"
    )


class Split(Part):
    """The Theil index between the groups of a partition of all users, and within them."""

    attributes: tuple[str, ...]
    n_groups: int = Field(description="of any size, '(missing)' among them")
    between: float = Field(description="Theil index if everyone had the mean of the group")
    within: float = Field(description="Theil index less between")
    share_between: float | None = Field(description="null where everyone has the same value")
    share_by_chance: float | None = Field(
        description="what share_between is on average where values have nothing to do with groups"
    )
    worst_off: GroupValue | None = Field(
        description="the worst served group of the smallest size or more; null without any, and "
        "where neither end is better"
    )


class MetricRatios(Part):
    """Ratios and inequality of one metric."""

    why_no_ratios: WhyNot | None
    rate_kind: RateKind | None = Field(
        description="selection: the mean of a metric of ones and zeros; scoring: the share of "
        "users above the median"
    )
    threshold: float | None = Field(description="that median")
    by: tuple[CategoryRatios, ...] = Field(description="each attribute, then each pair")
    why_no_inequality: WhyNot | None
    gini: float | None = Field(description="of the values of all users")
    theil: float | None = Field(description="Theil's T of the values of all users")
    splits: tuple[Split, ...] = Field(
        description="by each attribute, then by the intersections of all of them"
    )


class Ratios(Part):
    """Ratios between groups and inequality among users, beside the differences."""

    four_fifths: float
    small_category: float = Field(
        description="share of users below which a group is not compared with the best"
    )
    n_pairs_left_out: int = Field(
        description="pairs of attributes; with too many of them none is compared"
    )
    metrics: dict[str, MetricRatios]


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
