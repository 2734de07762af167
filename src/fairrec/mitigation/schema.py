"""The named parts of a mitigation, and so the schema of `mitigation.json`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fairrec.inputs.users import Value
from fairrec.result.metric_schema import Change, GapChange
from fairrec.result.parts import Part, ResultFile
from fairrec.statistics.paired import ChangeVerdict

Outcome = Literal[ChangeVerdict, "turned round", "gap grew", "intersections further apart"]
"""What became of the chosen groups: the word for their change, unless it took groups apart."""


class GapToOthers(Part):
    """How far the chosen groups are behind all others, who are not re-ranked, on held-out targets.

    Of the target metric; negative where the groups are ahead, or of a distance on the other side
    than where they were chosen.
    """

    before: float | None = Field(description="null where there are none of either")
    p_before: float | None = Field(description="of no difference, two-sided (Welch's t)")
    after: float | None
    p_after: float | None


class GroupCounts(Part):
    """What became of the groups of all depths: family-wise error rate alpha (Holm)."""

    improved: int
    worse: int
    changed: int
    not_significant: int
    unchanged: int


class OrderedChanges(Part):
    """Changes of the groups in which somebody changed: what was seen, and what could have been."""

    n_groups: int = Field(description="groups in which somebody changed")
    n_blind: int = Field(
        description="of these, groups in which too few users changed for any change to be shown"
    )
    least_shown: float | None = Field(
        description="a change as large as this would have been shown in at least half of all "
        "other groups, by the strictest level of Holm's correction; null where there are none"
    )
    changes: tuple[float, ...] = Field(
        description="worst first; lowest first where neither end is better. Of many groups some, "
        "at equal distances in this order, first and last among them"
    )
    verdicts: tuple[ChangeVerdict, ...] = Field(description="of each of these, adjusted (Holm)")


class MetricEffect(Part):
    """What the re-ranking did to one metric."""

    higher_is_better: bool | None
    is_distance: bool = Field(
        description="the values of the chosen groups are distances from the mean of all others, "
        "for a metric of which neither end is better: positive on the side where a group was on "
        "the targets it was chosen by, negative beyond the others"
    )
    chosen: Change = Field(description="users of the chosen groups")
    others: Change = Field(description="users whose lists are not touched")
    everyone: Change
    gap: GapChange
    groups: GroupCounts
    ordered: OrderedChanges


class MitigatedGroup(Part):
    """A group whose lists were re-ranked."""

    group: dict[str, Value]
    chosen_by: float | None = Field(description="its value on the targets it was chosen by")
    change: Change


class HarmedGroup(Part):
    """A group that a metric became significantly worse for."""

    metric: str
    group: dict[str, Value]
    change: Change


class TradeOffPoint(Part):
    """What one strength does to the chosen groups."""

    strength: float
    tuned: float | None = Field(description="the metric where the strength was tuned")
    tuned_cost: float | None = Field(description="NDCG there")
    reported: float | None = Field(description="the metric on the held-out targets")
    reported_cost: float | None = Field(description="NDCG there")
    everyone_cost: float | None = Field(description="NDCG of all users there")


class Regression(Part):
    """What happens to the chosen groups without any re-ranking."""

    chosen_by: float | None = Field(description="their mean on the targets they were chosen by")
    fresh: float | None = Field(description="their mean on other targets, lists as they were")
    others_chosen_by: float | None = Field(description="mean of all others on the first")
    others_fresh: float | None = Field(description="mean of all others on the second")


class ExposureChange(Part):
    """What became of one group of items."""

    group: dict[str, Value]
    n_items: int
    share_of_items: float = Field(description="of all items of the table")
    change: Change = Field(
        description="of the share of a list's attention that goes to them, mean over the users "
        "reported on; the verdict is adjusted for all groups of items (Holm)"
    )


class MitigationSummary(ResultFile):
    """The content of `mitigation.json`."""

    schema_version: Literal["1"] = "1"
    fairrec_version: str
    command: str
    seed: int
    metric: str
    cost_metric: str | None = Field(description="accuracy that the strength must not cost")
    reranker: str
    about: str
    is_upper_bound: bool = Field(description="the re-ranker saw the labels, so it is no remedy")
    strength: float
    is_tuned: bool = Field(description="the strength was chosen here, not given")
    max_loss: float = Field(description="largest relative loss of the cost metric when tuned")
    k: int = Field(description="places that are re-ranked")
    protocol: Literal["validation targets", "halves of the users"]
    n_users_choosing: int
    n_users_tuning: int
    n_users_reported: int
    rule: str
    groups: tuple[MitigatedGroup, ...]
    alpha: float
    effects: dict[str, MetricEffect]
    to_others: GapToOthers
    outcome: Outcome = Field(
        description="of the chosen groups, in the metric: turned round where they were behind all "
        "others and are significantly ahead; gap grew where they are further from them than "
        "before; intersections further apart where the gap between these grew and is more than "
        "chance explains; else the verdict on their change"
    )
    regression: Regression
    trade_off: tuple[TradeOffPoint, ...]
    n_shared_targets: int = Field(
        description="targets both chosen by and reported on, so not held out: should be 0"
    )
    n_group_tests: int = Field(description="groups and metrics in which somebody changed")
    harmed: tuple[HarmedGroup, ...] = Field(description="worst first, at most 20")
    notes: tuple[str, ...]
    exposure: tuple[ExposureChange, ...] = Field(
        default=(),
        description="groups of items by one attribute, the largest change first; empty without "
        "attributes of items",
    )
