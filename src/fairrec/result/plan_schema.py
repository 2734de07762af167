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


class PlannedCode(PlanPart):
    """Code of own metrics as it was when the plan was made."""

    name: str = Field(description="of the file; of the metric where it is in none")
    sha256: str = Field(description="empty where the code is not known")


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
    certified: float | None = Field(
        default=None,
        description="the harm that is ruled out with 80% probability where there is no difference; "
        "none where permutations are too few for it, or no group is in its size class",
    )
    certified_median: float | None = Field(
        default=None, description="the same with a probability of one half"
    )


class Needed(PlanPart):
    """How many users it takes to rule out what matters, for a group without any difference."""

    metric: str
    group: dict[str, str]
    users: int = Field(description="of the group now")
    tolerance: float = Field(description="in units of the metric")
    times: float | None = Field(
        default=None,
        description="how many times as many users it takes with 80% probability, 1 where they are "
        "enough; none where 1,000 times as many are not",
    )
    users_needed: int | None = Field(default=None, description="so many users in all")


class Cost(PlanPart):
    """What an attribute, or groups of more attributes than a depth, cost all other groups.

    In a metric without bounds, in a group of as many users as those of one attribute have.
    """

    attribute: str | None = Field(default=None, description="left out")
    depth: int | None = Field(default=None, description="a lower one, where it is no attribute")
    n_groups: int = Field(description="of the plan")
    n_groups_left: int
    users: int = Field(description="of the group it is reckoned for")
    cut_off: float = Field(description="standard errors from which a group is found")
    cut_off_left: float | None = Field(default=None, description="the same without it")
    found: float | None = Field(
        default=None, description="share by which harms that are found would be smaller"
    )
    certified: float | None = Field(
        default=None,
        description="share by which harms that are ruled out would be smaller; none where no group "
        "of about that size would be left",
    )


class PlanFacts(PlanPart):
    """What a plan was frozen with, beside the options it sets.

    Parameters
    ----------
    users_sha256 : of the ids of all users and their attributes, whatever table they come from
    spread : by metric; empty where nothing is known, and harm is in standard deviations
    """

    fairrec_version: str
    n_users: int
    users_sha256: str = ""
    min_users: int
    code: tuple[PlannedCode, ...] = ()
    tables: dict[str, PlannedTable]
    attributes: dict[str, PlannedAttribute]
    groups: tuple[PlannedGroups, ...]
    spread: dict[str, Spread] = Field(default_factory=dict)
    expected: tuple[Expected, ...] = ()
    needed: tuple[Needed, ...] = ()
    costs: tuple[Cost, ...] = ()
    checksum: str = ""
