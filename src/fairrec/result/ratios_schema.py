"""The named parts about ratios between groups and inequality among users."""

from __future__ import annotations

from pydantic import Field

from fairrec.inputs.users import Value
from fairrec.result.parts import GroupValue, Part
from fairrec.statistics.ratio_scale import WhyNot
from fairrec.statistics.ratios import FourFifths, LeftOut, RateKind


class GroupRatios(Part):
    """A group beside the best group and beside all other users."""

    group: dict[str, Value]
    support: int = Field(description="users of the group with a value")
    value: float
    to_best: float | None = Field(
        description="value over that of the best group of the same attributes; null for a group "
        "that is left out, and without a second one"
    )
    to_best_interval: tuple[float, float] | None = Field(
        description="confidence interval at 1 - alpha, one group at a time; allows for not knowing "
        "which group is best"
    )
    to_rest: float | None = Field(
        description="value over the mean of all other users; null where that is 0, and without any"
    )
    to_rest_interval: tuple[float, float] | None = Field(
        description="confidence interval at 1 - alpha, one group at a time"
    )
    four_fifths: FourFifths | None = Field(
        description="whether to_best is below 0.8; uncertain where 0.8 lies in its interval"
    )
    rate: float = Field(description="selection or scoring rate, as rate_kind says")
    impact_ratio: float | None = Field(
        description="rate over the highest rate of a group of the same attributes"
    )
    left_out: LeftOut | None = Field(
        description="why it is not compared with the best: below 2% of users, or a value unknown"
    )


class CategoryRatios(Part):
    """All groups by one attribute, or by a pair of them."""

    attributes: tuple[str, ...]
    n_unknown: int | None = Field(
        description="users of whom one of these attributes is not known; null where hidden"
    )
    n_too_few: int = Field(description="groups below the smallest size, which are not shown")
    n_users_too_few: int | None = Field(description="their users; null where hidden")
    n_not_listed: int = Field(description="groups that are left out and not listed here")
    groups: tuple[GroupRatios, ...] = Field(
        description="lowest ratio to the best first, then those left out"
    )


class Split(Part):
    """The Theil index between the groups of a partition of all users, and within them."""

    attributes: tuple[str, ...]
    n_groups: int = Field(description="of any size, '(missing)' among them")
    between: float = Field(description="Theil index if everyone had the mean of the group")
    within: float = Field(description="Theil index less between")
    share_between: float | None = Field(description="null where everyone has the same value")
    share_by_chance: float | None = Field(
        description="what share_between is on average where values have nothing to do with groups"
    )
    worst_off: GroupValue | None = Field(
        description="the worst served group of the smallest size or more; null without any, and "
        "where neither end is better"
    )


class MetricRatios(Part):
    """Ratios and inequality of one metric."""

    why_no_ratios: WhyNot | None
    rate_kind: RateKind | None = Field(
        description="selection: the mean of a metric of ones and zeros; scoring: the share of "
        "users above the median"
    )
    threshold: float | None = Field(description="that median")
    by: tuple[CategoryRatios, ...] = Field(description="each attribute, then each pair")
    why_no_inequality: WhyNot | None
    gini: float | None = Field(description="of the values of all users")
    theil: float | None = Field(description="Theil's T of the values of all users")
    splits: tuple[Split, ...] = Field(
        description="by each attribute, then by the intersections of all of them"
    )


class Ratios(Part):
    """Ratios between groups and inequality among users, beside the differences."""

    four_fifths: float
    small_category: float = Field(
        description="share of users below which a group is not compared with the best"
    )
    n_pairs_left_out: int = Field(
        description="pairs of attributes; with too many of them none is compared"
    )
    metrics: dict[str, MetricRatios]
