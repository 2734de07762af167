"""The parts of a result that are about circumstances of users beside their attributes."""

from __future__ import annotations

from pydantic import Field

from fairrec.inputs.users import Value
from fairrec.result.parts import Part


class GivenCircumstance(Part):
    """A circumstance in which users are alike when groups are compared."""

    n_values: int
    n_missing: int | None = Field(
        description="users of whom it is not known, a stratum of their own; null where hidden"
    )
    binning: str | None


class NoLongerFound(Part):
    """A group that differs by more than chance, and not among users in the same circumstances."""

    metric: str
    group: dict[str, Value]
    n_users: int = Field(description="with a value")
    raw_difference: float = Field(description="whatever the circumstances")
    difference: float | None = Field(
        description="among users in the same circumstances; null where nobody else is in those of "
        "the group"
    )
    kept_share: float = Field(description="users of the group in strata with others")


class Given(Part):
    """The circumstances in which users are alike when groups are compared."""

    named: tuple[str, ...] = Field(description="as they were named, with their binning")
    circumstances: dict[str, GivenCircumstance]
    n_strata: int = Field(description="combinations of circumstances that occur")
    n_users_alone: int | None = Field(
        description="users who are the only one in their stratum; null where hidden"
    )
    n_not_comparable: dict[str, int] = Field(
        description="for each metric, groups of which less than half are in strata with others: "
        "inconclusive"
    )
    no_longer: tuple[NoLongerFound, ...] = Field(
        description="findings without these circumstances that are none with them"
    )


class DifferingCircumstance(Part):
    """A circumstance, not given, that makes a part of the difference of a finding."""

    metric: str
    group: dict[str, Value]
    circumstance: str
    mean: float = Field(description="of the circumstance in the group")
    mean_of_others: float
    difference: float = Field(description="that of the finding")
    explains: float | None = Field(
        description="the part of the difference that it makes, from how the metric depends on it "
        "among all others; null where too few others are in the circumstances of the group"
    )
    at_random: tuple[float, float] | None = Field(
        description="then the metric in the group and among all others if their lists were in "
        "random order; null where that says nothing"
    )
