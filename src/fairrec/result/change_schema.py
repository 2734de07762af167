"""The change of some users, as mitigations and comparisons tell it."""

from __future__ import annotations

from pydantic import Field

from fairrec.result.parts import Part
from fairrec.statistics.changes import ChangeVerdict


class Change(Part):
    """The same users before and after, on held-out targets."""

    n_users: int
    before: float | None = Field(description="mean; null without users")
    after: float | None
    change: float | None
    interval: tuple[float, float] | None = Field(
        description="confidence interval of the change at level 1 - alpha, one at a time; null "
        "below two users, and where too few users changed for one"
    )
    p_value: float | None = Field(
        description="of no change: paired t test. A single group is not taken to vary less than "
        "all who changed do; of the chosen groups together and of everyone skewness is allowed "
        "for. Never below what turning the signs of the changes could show"
    )
    verdict: ChangeVerdict
