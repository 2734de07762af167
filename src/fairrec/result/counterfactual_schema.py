"""What a counterfactual says of all users; the groups are those of the audit beside it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fairrec.result.parts import Part, ResultFile
from fairrec.statistics.outcome import Outcome


class MeanChange(Part):
    """The mean over users of a change, with its confidence interval."""

    n: int = Field(description="users with a value")
    mean: float | None
    low: float | None = Field(
        description="one at a time, at 1 - alpha; null where all users are alike"
    )
    high: float | None
    p_value: float | None = Field(
        description="of no change on average; null of what compares two lists, where any change at "
        "all says it"
    )


class Affected(Part):
    """The share of users for whom the change alone makes another list: Themis' causal score."""

    metric: str
    n: int
    n_affected: int
    share: float
    low: float = Field(
        description="of the interval at 1 - alpha, also after several looks at the margin; the "
        "share itself where every user was scored"
    )
    high: float
    margin_wanted: float | None = Field(description="at which sampling was to end; None for none")


class ValueChange(Part):
    """Users with one value, scored as having another one."""

    of: str
    to: str
    n: int
    changes: dict[str, MeanChange]


class Paid(Part):
    """What was asked of models: a user under one value is asked about once."""

    users: int = Field(description="users under one value each, in this process")
    users_before: int = Field(description="those whose scores were found in ledgers")
    rows: int
    calls: int


class AsTheyAre(Part):
    """A metric of the lists as they are: the audit's own answer."""

    outcome: Outcome | None
    n_findings: int
    mean: float | None = Field(description="of users whose change is known, as that of the change")
    means: dict[str, float | None] = Field(
        description="of users with each value, where at least 10 have it"
    )


class CounterfactualSummary(ResultFile):
    """The content of `counterfactual.json`."""

    schema_version: Literal["1"] = "1"
    fairrec_version: str
    command: str
    attribute: tuple[str, ...] = Field(description="empty where the model is changed instead")
    reference: str | None
    model: str
    other_model: str | None
    alpha: float
    seed: int
    n_users: int = Field(description="who were scored twice or more")
    n_users_to_score: int = Field(description="who have candidates and something to change")
    n_unknown: int = Field(
        description="users with candidates and without a value to be changed, who are left out"
    )
    n_at_reference: int = Field(
        description="users with candidates who have the reference already: left out"
    )
    affected: Affected
    changes: dict[str, MeanChange] = Field(description="over the other values of each user")
    pairs: tuple[ValueChange, ...] = Field(description="of at least 10 users each")
    n_small: int = Field(description="pairs of values of fewer users, which are not told")
    as_they_are: dict[str, AsTheyAre]
    paid: Paid
