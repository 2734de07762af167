"""The named parts of a result, and so the schema of `result.json`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fairrec.core.audited_entity import USERS, Unit
from fairrec.inputs.audit_inputs import MeasuredBy
from fairrec.inputs.order import TiedLists
from fairrec.result.metric_schema import MAX_UNDEFINED, MetricResult
from fairrec.result.parts import Part, ResultFile
from fairrec.statistics.confounders import Confounder, NoLongerFound
from fairrec.statistics.inequality import CatalogueExposure
from fairrec.statistics.missing import MissingUsers
from fairrec.statistics.ratios import Ratios
from fairrec.statistics.verdict import Outcome


class AdjustedCovariate(Part):
    """A covariate in which users are alike when groups are compared."""

    n_values: int
    n_missing: int | None = Field(
        description="users of whom it is not known, a stratum of their own; null where hidden"
    )
    binning: str | None


class Adjustment(Part):
    """The covariates in which users are alike when groups are compared."""

    named: tuple[str, ...] = Field(description="as they were named, with their binning")
    covariates: dict[str, AdjustedCovariate]
    n_strata: int = Field(description="combinations of covariates that occur")
    n_users_alone: int | None = Field(
        description="users who are the only one in their stratum; null where hidden"
    )
    n_not_comparable: dict[str, int] = Field(
        description="for each metric, groups of which less than half are in strata with others: "
        "inconclusive"
    )
    no_longer: tuple[NoLongerFound, ...] = Field(
        description="findings without these covariates that are none with them"
    )


class HistoryPoint(Part):
    """The gap found after scoring a number of users."""

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
        default=0, description="intersections of all attributes of which every user is scored"
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
    has_table: bool = Field(
        default=False,
        description="every score was in a table, so that an audit without a search is exact",
    )
    metrics: dict[str, SearchedMetric] = Field(default_factory=dict)


class AttributeSummary(Part):
    """One attribute of the audited users."""

    n_values: int
    n_missing: int | None = Field(description="null where it is hidden, see min_shown")
    binning: str | None
    kind: Literal["integer", "number", "boolean", "text", "bins"] = Field(
        default="text", description="of its values, which are text in tables"
    )
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
    n_full_observed: int
    n_full: int
    n_users_below: int | None = Field(
        description="users in intersections of all attributes that are too small; null where hidden"
    )


class InputSummary(Part):
    """A table the audit read; where it lies is in `run.json`."""

    name: str
    sha256: str | None


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
    checksum: str = Field(description="SHA-256 over the content of the plan")
    options: tuple[str, ...] = Field(description="those taken from it")
    deviations: tuple[str, ...] = Field(description="what is otherwise than planned, one each")


class Hidden(Part):
    """What is left out of a result because too few users are behind it."""

    min_shown: int = Field(description="groups and values of fewer users are not shown")
    n_groups: int = Field(description="groups that are hidden in a metric or more")


class AuditSummary(ResultFile):
    """The content of `result.json`."""

    schema_version: Literal["1"] = "1"
    fairrec_version: str
    versions: dict[str, str] = Field(
        default_factory=dict, description="of Python and the packages the numbers come from"
    )
    title: str = Field(default="", description="what the auditor calls the audit")
    author: str = Field(default="", description="who made it; empty where not given")
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
    gain: str | None = Field(
        default=None, description="column by which held-out items are weighed, where asked"
    )
    missing_lists: Literal["zero", "drop"] = Field(
        default="zero", description="what counts for users with held-out items and no list"
    )
    adjustment: Adjustment | None = Field(
        default=None,
        description="covariates in which users are alike when groups are compared; null where "
        "none were asked for. Values, ratios and missing users are unadjusted",
    )
    confounders: tuple[Confounder, ...] = Field(
        default=(),
        description="covariates not adjusted for in which a finding differs from all others, and "
        "on which the metric depends",
    )
    ties: TiedLists | None = Field(
        default=None,
        description="lists of two or more, those with a score among the first k that is shared, "
        "those with that of the last of these shared, and those of one score throughout; null "
        "where nothing is ranked or scores are not at hand",
    )
    attributes: dict[str, AttributeSummary]
    depth: int | Literal["full"]
    alpha: float = Field(description="significance level: family-wise error rate (Westfall-Young)")
    permutations: int
    permutations_drawn: int = Field(
        default=0,
        description="more than asked for where another seed might have given another outcome",
    )
    tolerance: str | None = Field(
        default=None, description="the largest harm that is accepted, as it was given"
    )
    outcome: Outcome | None = Field(
        default=None,
        description="the worst of the metrics; one without a better end decides only "
        "where there is no other",
    )
    coverage: Coverage
    max_undefined: float = Field(
        default=MAX_UNDEFINED,
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
    ratios: Ratios = Field(description="ratios between groups and inequality among users")
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
