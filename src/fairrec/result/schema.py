"""The named parts of a result, and so the schema of `result.json`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from fairrec.core.units import USERS, Unit
from fairrec.inputs.described import MeasuredBy
from fairrec.inputs.users import Value
from fairrec.result.catalogue_schema import CatalogueExposure
from fairrec.result.circumstances_schema import DifferingCircumstance, Given
from fairrec.result.parts import GroupValue, Part
from fairrec.result.ratios_schema import Ratios
from fairrec.statistics.interaction import CarriedBy
from fairrec.statistics.outcome import Outcome

_MAX_UNDEFINED = 0.05


def _without(data: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: part for name, part in data.items() if name not in names}


class Chance(Part):
    """The null distribution of the gap: values are permuted across users."""

    mean: float
    q95: float = Field(description="95% of permutations have a gap of at most this")
    p_value: float = Field(
        description="how often the null distribution has a gap at least this large"
    )
    permutations: int


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
        "is open or nothing was said to matter; not worse by more than matters; inconclusive. Null "
        "in results from before there were verdicts",
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
    shrunken_difference: float | None = Field(
        default=None,
        description="what is left after correcting for this group being picked out",
    )
    interval: tuple[float, float] = Field(
        description="confidence interval of the difference at 1 - alpha, for one group at a time"
    )
    simultaneous: tuple[float | None, float | None] | None = Field(
        default=None,
        description="confidence interval of the difference that holds for all groups and metrics "
        "at once, so also for those picked out; an end is null where it has no limit",
    )
    p_value: float = Field(description="for one group at a time")
    p_adjusted: float = Field(description="adjusted for all groups and metrics tested")
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

    @model_validator(mode="before")
    @classmethod
    def _of_older_results(cls, data: Any) -> Any:
        """Results from before neighbours were looked at have Shapley contributions instead."""
        return _without(data, "contributions") if isinstance(data, dict) else data


class Detectable(Part):
    """The power of the audit for groups of one size."""

    support: int
    difference: float = Field(description="smallest true harm shown with 80% probability")


class CertifiedSize(Part):
    """What is ruled out for groups of at least one size that are not shown to be worse."""

    support: int = Field(description="users, at least")
    harm: float = Field(description="none of them is worse by more, all at once at 1 - alpha")
    n_groups: int


class MetricVerdict(Part):
    """What is known about the harm of the groups of one metric, and what can be ruled out."""

    outcome: Outcome
    matters: float | None = Field(
        description="the smallest harm worth acting on, in units of the metric; null where nothing "
        "was said"
    )
    n_worse_by_more: int = Field(description="groups worse by more than matters")
    n_worse: int = Field(description="groups shown to be worse, by how much is open")
    n_better: int = Field(description="groups shown to be served better than all others")
    n_ruled_out: int = Field(description="groups not worse by more than matters")
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
    critical: float | None = Field(
        default=None,
        description="standard errors from which a group differs by more than chance, the larger of "
        "both tails; null untested",
    )
    critical_tails: tuple[float, float] | None = Field(
        default=None, description="above and below all others"
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
        description="groups with an adjusted p-value of at most alpha, before folding"
    )
    n_not_listed: int = Field(description="of those, neither listed nor folded")
    detectable: tuple[Detectable, ...]
    verdict: MetricVerdict | None = Field(
        default=None, description="null where nothing was tested, and in older results"
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
        description="edges of the bins in which values of findings are counted; the outer bins "
        "hold what is beyond them too",
    )

    @model_validator(mode="before")
    @classmethod
    def _of_older_results(cls, data: Any) -> Any:
        """Results from before users without a value were judged give no all-clear over them."""
        if isinstance(data, dict) and "undefined_share" not in data and data.get("n_undefined"):
            share = data["n_undefined"] / (data["n_defined"] + data["n_undefined"])
            return {**data, "undefined_share": share, "is_conclusive": share <= _MAX_UNDEFINED}
        return data


class MissingUsers(Part):
    """Users without a list or a value; tested by group, in a family apart from the metrics."""

    kind: Literal[
        "no list", "no relevant item", "undefined", "no held-out items", "not evaluated"
    ] = Field(
        description="no list: not served at all; no relevant item: none among the candidates or "
        "held-out items; undefined: any other reason why metrics have no value; no held-out "
        "items: a list, and nothing to judge it by; not evaluated: neither of the two"
    )
    metrics: tuple[str, ...] = Field(description="the metrics it concerns")
    counts_as_zero: bool = Field(
        description="whether these users count as 0 in accuracy and coverage, instead of being "
        "left out"
    )
    n_users: int = Field(description="users who could be missing")
    n_missing: int
    is_tested: bool
    permutations: int = Field(default=0, description="behind its p-values")
    is_too_much: bool = Field(
        default=False,
        description="a group differs in it so far that nothing found in a metric is no all-clear",
    )
    findings: tuple[Finding, ...] = Field(
        description="groups whose share of missing users differs from the rest; value is the share"
    )
    shares: tuple[GroupValue, ...] = Field(
        description="the share in each group of one attribute, largest first, at most 50"
    )

    @property
    def share(self) -> float:
        """The share of users who are missing."""
        return self.n_missing / max(1, self.n_users)


class AttributeSummary(Part):
    """One attribute of the audited users."""

    n_values: int
    n_missing: int | None = Field(description="null where it is hidden, see min_shown")
    binning: str | None
    n_values_below_support: int
    small_values: dict[str, int] = Field(
        description="values with too few users -> their users, the largest 20"
    )
    values: dict[str, int] = Field(
        default_factory=dict, description="values -> their users, the largest 50"
    )


class DepthCoverage(Part):
    """Groups of one number of attributes."""

    n_groups: int = Field(description="with enough users")
    n_groups_below: int = Field(description="that occur, but have too few users")


class Coverage(Part):
    """Which groups and users are large enough to be looked at, and which are not."""

    min_support: float | None = Field(
        description="as given: a share of users below 1, a number of users from 1; null where it "
        "was not given, which is 0.1% of users, at least 10"
    )
    min_users: int
    by_depth: dict[str, DepthCoverage]
    n_full_possible: str = Field(description="product of the value counts, as digits")
    n_full_observed: int
    n_full: int
    n_users_below: int | None = Field(
        description="users in full combinations below the support; null where they are hidden"
    )


class HistoryPoint(Part):
    """What a search had found by then."""

    users: int = Field(description="scored so far")
    gap: float


class SearchedMetric(Part):
    """What a search came to for one metric."""

    may_be_larger_by: float | None = Field(
        description="the exact gap is not larger by more than this, with the confidence stated; "
        "null where the searcher gives no bound"
    )
    history: tuple[HistoryPoint, ...]


class Spent(Part):
    """What the scores in a ledger have cost; how long the calls took is in `run.json`."""

    users: int
    rows: int
    calls: int


class SearchSummary(Part):
    """How users were chosen for scoring."""

    name: str
    users_scored: int
    users_total: int
    ending: Literal["finished", "users spent", "time spent"] = "finished"
    budget_users: int | None = None
    budget_seconds: float | None = None
    hyper_parameters: dict[str, float | None] = Field(default_factory=dict)
    users_reference: int = Field(
        default=0, description="scored first, at random; tests against chance rest on them"
    )
    confidence: float | None = Field(default=None, description="of may_be_larger_by")
    n_fully_scored: int = Field(
        default=0, description="full combinations of which every user is scored"
    )
    n_not_fully_scored: int = Field(default=0, description="the other eligible ones")
    model_identity: str = Field(
        default="",
        description="the model that was asked for scores, as its ledger names it; empty for a "
        "table and for a function without a name",
    )
    users_paid: int = Field(default=0, description="scored by the model in this run")
    users_before: int = Field(default=0, description="users whose scores the ledger had")
    rows_paid: int = 0
    calls: int = Field(default=0, description="of the model in this run")
    faults: dict[str, int] = Field(
        default_factory=dict, description="of the endpoint in this run, each tried again: kind -> n"
    )
    spent_in_all: Spent | None = Field(
        default=None,
        description="for the scores in the ledger, by this run and all before it; null where no "
        "ledger is kept in a file",
    )
    metrics: dict[str, SearchedMetric] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _of_older_results(cls, data: Any) -> Any:
        """Results from before there was a `run.json` have times here."""
        if not isinstance(data, dict):
            return data
        data = _without(data, "seconds", "seconds_scoring")
        if isinstance(spent := data.get("spent_in_all"), dict):
            data["spent_in_all"] = _without(spent, "seconds")
        return data


class InputSummary(Part):
    """A table the audit read; where it lies is in `run.json`."""

    name: str
    sha256: str | None

    @model_validator(mode="before")
    @classmethod
    def _of_older_results(cls, data: Any) -> Any:
        """Results from before there was a `run.json` have paths here."""
        return _without(data, "path") if isinstance(data, dict) else data


class AuditedModel(Part):
    """What the auditor calls the recommender."""

    name: str
    version: str


class SettingsSummary(Part):
    """A settings file that was found or named."""

    file: str
    sha256: str
    options: tuple[str, ...] = Field(description="those taken from it")


class PlanSummary(Part):
    """The plan that an audit was to follow."""

    file: str
    checksum: str = Field(description="SHA-256 over what the plan says")
    options: tuple[str, ...] = Field(description="those taken from it")
    deviations: tuple[str, ...] = Field(description="what is otherwise than planned, one each")


class Hidden(Part):
    """What is left out of a result because too few users are behind it."""

    min_shown: int = Field(description="groups and values of fewer users are not shown")
    n_groups: int = Field(description="groups that are hidden in a metric or more")
    n_findings: int = Field(description="findings that are hidden, in all metrics")
    n_values: int = Field(description="values of attributes that are hidden")


class AuditSummary(Part):
    """The content of `result.json`."""

    schema_version: Literal["1"] = "1"
    fairrec_version: str
    versions: dict[str, str] = Field(
        default_factory=dict, description="of Python and the packages the numbers come from"
    )
    title: str = Field(default="", description="what the auditor calls the audit")
    author: str = Field(default="", description="who made it; empty where nobody said")
    model: AuditedModel | None = Field(default=None, description="null where it was not named")
    seed: int
    command: str = Field(
        description="how to run this again; of paths outside the working folder the last name, and "
        "without the folder for the result: run.json has it in full"
    )
    inputs: dict[str, InputSummary]
    unit: Unit = Field(
        default=USERS,
        description="what has one value each, in singular and plural; wherever names and "
        "descriptions here say users, these are meant",
    )
    unit_column: str = Field(
        default="",
        description="of the items, by which they were taken together; empty where they were not",
    )
    n_users: int
    n_candidates: int
    measured_by: MeasuredBy | None = Field(
        default=None,
        description="scored candidates, recommendations and held-out items, or values of users; "
        "null where another tool has counted them",
    )
    by: tuple[str, ...] = Field(default=(), description="attributes as named, with their binning")
    columns: dict[str, str] = Field(default_factory=dict, description="other names of columns")
    relevant: str | None = Field(
        default=None, description="which held-out items or candidates are relevant, where asked"
    )
    missing_lists: Literal["zero", "drop"] = Field(
        default="zero", description="what counts for users with held-out items and no list"
    )
    given: Given | None = Field(
        default=None,
        description="circumstances in which users are alike when groups are compared; null where "
        "none were asked for. Values, ratios and missing users are whatever the circumstances",
    )
    circumstances: tuple[DifferingCircumstance, ...] = Field(
        default=(),
        description="circumstances not given in which a finding differs from all others, and on "
        "which the metric depends",
    )
    attributes: dict[str, AttributeSummary]
    depth: int | Literal["full"]
    alpha: float = Field(description="significance level")
    correction: Literal["max", "bh"] = Field(
        description="what alpha bounds. max: the family-wise error rate (Westfall-Young); bh: the "
        "false discovery rate (Benjamini-Hochberg)"
    )
    permutations: int
    matters: str | None = Field(
        default=None, description="the smallest harm worth acting on, as it was given"
    )
    outcome: Outcome | None = Field(
        default=None, description="that of the metrics which matters most"
    )
    coverage: Coverage
    max_undefined: float = Field(
        default=_MAX_UNDEFINED,
        description="the largest undefined_share with which nothing found is one",
    )
    missing: tuple[MissingUsers, ...] = Field(
        default=(), description="users without a list or without a value"
    )
    plan: PlanSummary | None = Field(default=None, description="null where none was given")
    settings: SettingsSummary | None = Field(default=None, description="null where none was found")
    warnings: tuple[str, ...]
    search: SearchSummary
    metrics: dict[str, MetricResult]
    ratios: Ratios | None = Field(
        default=None,
        description="ratios between groups and inequality among users; null in "
        "results from before they were computed",
    )
    catalogue: CatalogueExposure | None = Field(
        default=None,
        description="how places are spread over all items; null where users are compared",
    )
    hidden: Hidden | None = Field(
        default=None,
        description="what is left out here; verdicts and numbers of groups are those of the whole "
        "audit all the same. Null where nothing is to be hidden",
    )
    is_aggregates_only: bool = Field(
        default=False, description="no table of users, per_user.parquet, was written beside it"
    )
    files: dict[str, str] = Field(
        default_factory=dict,
        description="SHA-256 of the files beside it that are read again; none in results that are "
        "not saved, or are from before there were any",
    )

    @model_validator(mode="before")
    @classmethod
    def _measured_by_its_tables(cls, data: Any) -> Any:
        """A result from before it was recorded tells by its tables."""
        if not isinstance(data, dict) or data.get("measured_by") is not None:
            return data
        told = {"values": "values", "test": "recommendations", "predictions": "candidates"}
        known = (what for name, what in told.items() if name in data.get("inputs", ()))
        return {**data, "measured_by": next(known, None)}
