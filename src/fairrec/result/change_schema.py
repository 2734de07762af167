"""What changed, as mitigations and comparisons tell it: for some users, and between groups."""

from __future__ import annotations

from pydantic import Field

from fairrec.result.metric_schema import Chance
from fairrec.result.parts import Part
from fairrec.statistics.changes import ChangeVerdict


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
