"""The comparison of two audits: frozen, and all that anything printed or drawn of it needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import polars as pl
from pydantic import Field

from fairrec.comparison.losses import Loss
from fairrec.core.audited_entity import USERS, Unit
from fairrec.core.errors import plain, unknown_name
from fairrec.core.files import load_json
from fairrec.report.paged_result import PagedResult
from fairrec.result.folder import COMPARISON, load_table
from fairrec.result.metric_schema import Change
from fairrec.result.parts import Part, ResultFile
from fairrec.result.schema import AuditedModel
from fairrec.result.tables import as_pandas
from fairrec.statistics.verdict import CertifiedSize

MOST_GROUPS = 50
NUMBERS = (
    *("before", "after", "change", "simultaneous_low", "simultaneous_high"),
    *("difference", "difference_low", "difference_high"),
)
JUDGED = ("is_beyond_chance", "is_known", "outcome", "is_behind")
RESERVED = ("metric", "depth", "support", *NUMBERS, *JUDGED)
"""Columns of the table of changes beside attributes, which cannot have these names."""


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
    n_shared: int | None = Field(
        default=None, description="users in both; null where ids were not kept"
    )
    n_only_base: int | None = None
    n_only_candidate: int | None = None
    n_moved: int | None = Field(
        default=None,
        description="users in both whose attributes differ; they count for the groups they are in "
        "in the candidate",
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
        description="how the mean changed, at alpha for all metrics at once; null where no user "
        "has a value in both"
    )
    tolerance: float | None = Field(
        description="the tolerance in units of the metric; null where none was set"
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
    n_lost_beyond_tolerance: int = Field(description="of these, beyond tolerance")
    n_behind: int = Field(
        description="groups shown to have lost more, or gained less, than all others"
    )
    n_gained: int
    n_ruled_out: int = Field(
        description="groups that did not lose, where a tolerance is set by more than that"
    )
    n_open: int
    certificate: tuple[CertifiedSize, ...] = Field(
        description="the largest harm that is not ruled out, for groups of at least each size that "
        "are not shown to have lost; smallest size first"
    )
    lost: tuple[GroupComparison, ...] = Field(
        description="groups shown to have lost, those beyond tolerance first; where neither "
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
    tolerance: str | None = Field(description="the tolerance as it was given")
    outcome: Loss = Field(description="the worst of the metrics; which groups lost more is in each")
    metrics: dict[str, MetricComparison]
    differences: tuple[AuditDifference, ...]
    notes: tuple[str, ...] = Field(description="what was not compared, and what to know of it")


@dataclass(frozen=True, slots=True)
class Comparison(PagedResult):
    """What became of the groups of one audit in another.

    Parameters
    ----------
    summary : the content of `comparison.json`
    changes : one row for each metric and group in both audits
    is_pandas : whether `groups` gives a frame of pandas, as the audits do
    """

    kind = COMPARISON
    summary: ComparisonSummary
    changes: pl.DataFrame = field(repr=False)
    is_pandas: bool = False

    def __repr__(self) -> str:
        """What was compared, and a line for each metric."""
        summary = self.summary
        which = "the same" if summary.pairing.is_paired else "other"
        lines = [f"comparison of two audits by {which} {summary.unit.many}, {summary.outcome}"]
        for name, found in summary.metrics.items():
            has_end = found.higher_is_better is not None
            lost, behind = ("lost", "behind the others") if has_end else ("changed", "otherwise")
            counts = f"{lost}: {found.n_lost:,}, {behind}: {found.n_behind:,}"
            gained = f", gained: {found.n_gained:,}" if has_end else ""
            lines.append(f"  {plain(name)}: {counts}{gained} of {found.n_groups:,} groups")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from fairrec.comparison.page import comparison_card

        return comparison_card(self.summary, self.changes)

    @property
    def metrics(self) -> dict[str, MetricComparison]:
        """Comparisons by metric."""
        return self.summary.metrics

    @property
    def attributes(self) -> tuple[str, ...]:
        """Those that both audits have: the columns of `changes` after the metric."""
        return self.summary.attributes

    def groups(self, metric: str | None = None) -> Any:
        """One row per group; those that lost beyond tolerance first.

        Parameters
        ----------
        metric : None for all, with a column `metric`
        """
        table = self.changes
        if metric is not None:
            if metric not in self.metrics:
                raise unknown_name("metric in this comparison", metric, self.metrics)
            table = table.filter(pl.col("metric") == metric).drop("metric")
        return as_pandas(table) if self.is_pandas else table

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """The table of changes."""
        return {"changes.parquet": self.changes}

    def page(self) -> str:
        """Its page as HTML."""
        from fairrec.comparison.page import comparison_page

        return comparison_page(self.summary, self.changes)


def load_comparison(folder: Path) -> tuple[ComparisonSummary, pl.DataFrame]:
    """The comparison saved in a folder."""
    summary = load_json(folder / COMPARISON.known_by, ComparisonSummary, "comparison")
    changes = load_table(folder / "changes.parquet", summary.id)
    return summary.model_copy(update={"id": ""}), changes
