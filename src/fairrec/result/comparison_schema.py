"""The named parts of a comparison of two audits, and so the schema of `comparison.json`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fairrec.core.units import USERS, Unit
from fairrec.result.change_schema import Change, GapChange
from fairrec.result.metric_schema import CertifiedSize
from fairrec.result.parts import Part, ResultFile
from fairrec.result.schema import AuditedModel
from fairrec.statistics.compared import Loss

MOST_GROUPS = 50
MOST_DIFFERENCES = 100


class ComparedAudit(Part):
    """One of the two audits."""

    name: str = Field(description="of its folder; empty for a result in memory")
    title: str
    model: AuditedModel | None
    fairrec_version: str
    n_users: int


class AuditDifference(Part):
    """Something in which the two audits differ, other than what they measured."""

    what: str
    base: str = Field(description="as the base has it; empty where it has none")
    candidate: str


class Pairing(Part):
    """Whether the same users are compared, and who could not be."""

    is_paired: bool
    why: str = Field(description="why users are not paired; empty where they are")
    n_shared: int | None = Field(description="users in both; null where ids were not kept")
    n_only_base: int | None
    n_only_candidate: int | None
    n_moved: int | None = Field(
        description="users in both whose attributes differ; where these are few of a group they "
        "count for the one they are in in the candidate"
    )


class GroupComparison(Part):
    """A group in both audits."""

    group: dict[str, str]
    support: int = Field(description="users the change rests on; unpaired, of the candidate")
    before: float
    after: float
    change: float
    simultaneous: tuple[float, float] = Field(
        description="confidence interval of the change that holds for all groups and metrics at "
        "once"
    )
    outcome: Loss
    difference: float | None = Field(
        description="the change minus that of all others (difference in differences); null where "
        "there are none or their error is not known"
    )
    difference_simultaneous: tuple[float, float] | None = Field(
        description="confidence interval of the difference, in one family with those of the changes"
    )
    is_behind: bool = Field(
        description="whether it is shown to have lost more, or gained less, than all others; where "
        "neither end is better, to have changed otherwise"
    )


class MetricComparison(Part):
    """One metric in both audits; harm is how much worse the candidate serves a group."""

    called: str
    higher_is_better: bool | None
    everyone: Change | None = Field(
        description="how the mean changed, at alpha for all metrics at once; null where nobody has "
        "a value in both"
    )
    gap: GapChange
    matters: float | None = Field(
        description="the smallest harm worth acting on, in units of the metric; null where nothing "
        "was said"
    )
    is_conclusive: bool = Field(
        description="false where users without a value, in either audit, leave everything open "
        "that is not shown"
    )
    outcome: Loss = Field(
        description="what is known of a loss of any group, the mean of all included; inconclusive "
        "only where neither a loss nor its absence is known"
    )
    n_groups: int = Field(description="groups of both audits, and of one of them")
    n_unknown: int = Field(
        description="of these, groups in one audit only or with too few users for any interval"
    )
    n_lost: int = Field(description="groups shown to have lost; where no end is better, changed")
    n_lost_by_more: int = Field(description="of these, by more than matters")
    n_behind: int = Field(
        description="groups shown to have lost more, or gained less, than all others"
    )
    n_gained: int
    n_ruled_out: int = Field(
        description="groups that did not lose, where something matters by more than that"
    )
    n_open: int
    ruled_out_from: int | None = Field(
        description="of groups with so many users and more none is inconclusive"
    )
    certificate: tuple[CertifiedSize, ...] = Field(
        description="the largest harm that is not ruled out, for groups of at least each size that "
        "are not shown to have lost; smallest size first"
    )
    lost: tuple[GroupComparison, ...] = Field(
        description="groups shown to have lost, those by more than matters first; where neither "
        "end is better, those that changed. At most 50"
    )
    behind: tuple[GroupComparison, ...] = Field(
        description="groups shown to have lost more, or gained less, than all others; at most 50"
    )
    gained: tuple[GroupComparison, ...] = Field(description="most first; at most 50")


class ComparisonSummary(ResultFile):
    """The content of `comparison.json`."""

    schema_version: Literal["1"] = "1"
    fairrec_version: str
    command: str
    unit: Unit = Field(default=USERS, description="what has one value each, in both audits")
    base: ComparedAudit
    candidate: ComparedAudit
    pairing: Pairing
    attributes: tuple[str, ...] = Field(description="those that both audits have")
    alpha: float = Field(description="family-wise error rate over all groups and metrics")
    matters: str | None = Field(description="the smallest harm worth acting on, as it was given")
    outcome: Loss = Field(description="the worst of the metrics; which groups lost more is in each")
    metrics: dict[str, MetricComparison]
    differences: tuple[AuditDifference, ...] = Field(description="at most 100")
    notes: tuple[str, ...] = Field(description="what was not compared, and what to know of it")
