"""The named parts of a plan, and so the table `plan` of a settings file that is frozen."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class PlanPart(BaseModel):
    """A frozen part of a plan; what a later version adds is let pass."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class PlannedTable(PlanPart):
    """A table as it was when the plan was made."""

    file: str | None = Field(default=None, description="its name; none for a table in memory")
    sha256: str | None = None


class PlannedAttribute(PlanPart):
    """An attribute of the users of the plan."""

    n_values: int
    values: tuple[str, ...] = Field(description="those with most users, at most 20")


class PlannedGroups(PlanPart):
    """The groups of one number of attributes."""

    depth: int
    n_groups: int = Field(description="with enough users")
    n_groups_below: int = Field(description="that occur, but have too few users")
    smallest: int | None = Field(default=None, description="users of the smallest of them")
    median: int | None = None
    largest: int | None = None


class Spread(PlanPart):
    """How the values of users are expected to lie."""

    sd: float
    mean: float | None = None


class Expected(PlanPart):
    """What an audit will find in groups of one size."""

    metric: str
    users: int = Field(description="of a group")
    n_groups: int = Field(description="planned groups with at least so many users")
    harm: float | None = Field(
        default=None,
        description="smallest true harm shown with 80% probability; none where not even the "
        "largest possible one is",
    )


class PlanFacts(PlanPart):
    """What a plan was frozen with, beside the options it sets.

    Parameters
    ----------
    spread : by metric; empty where nothing is known, and harm is in standard deviations
    """

    fairrec_version: str
    n_users: int
    min_users: int
    tables: dict[str, PlannedTable]
    attributes: dict[str, PlannedAttribute]
    groups: tuple[PlannedGroups, ...]
    spread: dict[str, Spread] = Field(default_factory=dict)
    expected: tuple[Expected, ...] = ()
    checksum: str = ""
