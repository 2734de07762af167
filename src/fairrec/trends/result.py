"""The result of looking at releases together: `trend.json` and its page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, Field

from fairrec.core.audited_entity import USERS, Unit
from fairrec.core.files import load_json
from fairrec.inputs.users import Value
from fairrec.report.paged_result import PagedResult
from fairrec.result.folder import TREND
from fairrec.result.parts import Part, ResultFile
from fairrec.statistics.verdict import Outcome

Order = Literal["as given", "made_at", "name"]
Users = Literal["the same", "partly the same", "others", "not known"]
Why = Literal["named", "one attribute", "finding", "worse since"]
Ends = tuple[float | None, float | None]


class TrendRelease(Part):
    """One audit."""

    name: str = Field(
        description="version of the model where one was given, else the title, else the folder"
    )
    folder: str = Field(description="its last name; empty for an audit in memory")
    made_at: AwareDatetime | None = Field(description="null where the audit has no run.json")
    n_users: int
    n_hidden: int = Field(default=0, description="small groups that are hidden in this audit")
    outcome: Outcome | None


class TrendMetric(Part):
    """A metric that is followed."""

    definition: str
    higher_is_better: bool | None


class TrendPoint(Part):
    """A group in one release."""

    value: float
    support: int
    harm: float | None = Field(description="how much worse than all others")
    interval: Ends = Field(description="of the harm, for one group at a time; null: no limit")
    simultaneous: Ends = Field(description="for all groups and metrics of that audit at once")
    outcome: Outcome | None


class WorseSince(Part):
    """A harm that grew: larger from one release on than in all before it."""

    since: int = Field(description="the position of that release, 0 for the first")
    release: str = Field(description="its name")
    shown_at: str = Field(description="name of the first release by which it is significant")
    before: float = Field(description="mean harm of the releases before it")
    growth: float = Field(description="by how much the harm grew")
    p_adjusted: float = Field(
        description="adjusted for all groups, metrics, releases it may have begun with, and looks"
    )
    is_back: bool = Field(
        description="the harm of the newest release is nearer to what it was before"
    )


class WorseTogether(Part):
    """Worse than all others, by all releases together."""

    harm: float
    shown_at: str
    p_adjusted: float


class TrendLine(Part):
    """A group in one metric over all releases."""

    group: dict[str, Value]
    metric: str
    why: Why = Field(description="why it is shown")
    points: tuple[TrendPoint | None, ...] = Field(description="one a release, null for a gap")
    worse_since: WorseSince | None
    together: WorseTogether | None = Field(
        description="whether it is worse than all others, by all releases together; null where "
        "that is not shown"
    )


class TrendSummary(ResultFile):
    """The content of `trend.json`."""

    schema_version: Literal["1"] = "1"
    fairrec_version: str
    command: str
    alpha: float = Field(
        description="significance level of each of the two questions, over all groups, metrics "
        "and looks"
    )
    unit: Unit = Field(default=USERS, description="what has one value each, in all releases")
    order: Order = Field(description="of the releases")
    releases: tuple[TrendRelease, ...]
    metrics: dict[str, TrendMetric]
    users: Users = Field(description="whether the releases were judged by the same users")
    n_groups: int = Field(description="groups that share the level: those named, or all")
    lines: tuple[TrendLine, ...] = Field(description="those worse since a release first")
    notes: tuple[str, ...]

    @property
    def worse(self) -> tuple[TrendLine, ...]:
        """Groups whose harm rose and has not fallen back in the newest release: a gate asks."""
        return tuple(
            line for line in self.lines if line.worse_since and not line.worse_since.is_back
        )


@dataclass(frozen=True, slots=True)
class TrendResult(PagedResult):
    """Groups over releases.

    Parameters
    ----------
    summary : the content of `trend.json`
    """

    kind = TREND
    summary: TrendSummary

    @property
    def lines(self) -> tuple[TrendLine, ...]:
        """Each group and metric that is shown."""
        return self.summary.lines

    @property
    def worse(self) -> tuple[TrendLine, ...]:
        """Groups whose harm rose and has not fallen back by the newest release."""
        return self.summary.worse

    def page(self) -> str:
        """Its page as HTML."""
        from fairrec.trends.page import trend_page

        return trend_page(self.summary)


def load_trend(folder: Path) -> TrendSummary:
    """The trend saved in a folder."""
    return load_json(folder / TREND.known_by, TrendSummary, "trend").model_copy(update={"id": ""})
