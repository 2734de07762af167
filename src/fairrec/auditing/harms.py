"""The harm of every group as a saved table has it, so that any limit can be judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.errors import InputError, unknown_name
from fairrec.core.options import spell
from fairrec.inputs.users import Value
from fairrec.metrics.direction import harm
from fairrec.report.words import group_label
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.result.tables import BOUNDED, JUDGED, row_group
from fairrec.statistics.intervals import Interval
from fairrec.statistics.ratios import relative_shortfall
from fairrec.statistics.verdict import group_outcomes, harm_interval, is_shown_worse


@dataclass(frozen=True, slots=True)
class GroupHarms:
    """Groups with others to be compared with; arrays have one entry a group.

    Parameters
    ----------
    conditions : one text column an attribute, null for any value
    size : how much worse it is; its sign is that of a harm; NaN where nothing is known
    interval : of that, for all groups and metrics at once
    at_worst : the upper end of that, whichever users of unknown attributes belong to the group; NaN
        if not known
    is_beyond_chance : differs from the others by more than chance explains
    is_known : its interval holds
    is_conclusive : whether the users with a value speak for all; otherwise nothing is ruled out
    """

    conditions: pl.DataFrame
    depth: IntArray
    support: IntArray
    size: FloatArray
    interval: Interval
    at_worst: FloatArray
    is_beyond_chance: BoolArray
    is_known: BoolArray
    is_conclusive: bool

    def __len__(self) -> int:
        return len(self.size)

    def outcomes(self, limit: float) -> IntArray:
        """(n_groups,), positions in `outcome_names`, with this limit as tolerance."""
        is_worse = is_shown_worse(self.size, self.is_beyond_chance, self.is_known)
        return group_outcomes(self.interval, is_worse, self.is_known & self.is_conclusive, limit)

    def group(self, at: int) -> dict[str, Value]:
        """A group by its conditions."""
        return {**row_group(self.conditions.row(at, named=True))}

    def label(self, at: int) -> str:
        """The conditions of a group on one line."""
        return group_label(self.group(at))

    def position(self, group: Mapping[str, str]) -> int:
        """The place of a group; an error where it is not among them."""
        columns = self.conditions.columns
        for name, value in group.items():
            if name not in columns:
                raise unknown_name("attribute in this audit", name, columns)
            values = self.conditions[name].drop_nulls().unique().to_list()
            if value not in values:
                raise unknown_name(f"value of {name}", value, values)
        is_it = pl.all_horizontal(pl.col(name).eq_missing(group.get(name)) for name in columns)
        found = self.conditions.select(is_it.arg_true()).to_series()
        if len(found):
            return int(found[0])
        raise InputError(
            f"No group '{group_label(group)}' was audited: it is too small, or has more attributes "
            f"than the depth. Name another one, or change {spell('min_support')} or "
            f"{spell('depth')} of the audit."
        )


def difference_harms(
    groups: pl.DataFrame,
    summary: AuditSummary,
    metric: str,
    *,
    either_way: bool = False,
    is_at_worst: bool = False,
) -> GroupHarms:
    """How much worse each group is than all others.

    Parameters
    ----------
    groups : the table of groups
    either_way : whether a difference counts in both directions, whatever is better
    is_at_worst : whether intervals reach as far as they may where attributes are unknown
    """
    about = summary.metrics[metric]
    is_unknown = any(one.n_missing != 0 for one in summary.attributes.values())
    is_bounded = summary.adjustment is None and {*BOUNDED} <= {*groups.columns}
    if is_at_worst and is_unknown and not is_bounded:
        raise InputError(
            f'{metric}: unknown = "worst" needs an audit that scored everyone, without '
            f"{spell('adjust_for')}."
        )
    return read_harms(
        _compared(groups, about, metric),
        [*summary.attributes],
        metric,
        None if either_way else about.higher_is_better,
        "difference",
        is_conclusive=about.is_conclusive,
        is_at_worst=is_at_worst,
    )


def _compared(groups: pl.DataFrame, about: MetricResult, metric: str) -> pl.DataFrame:
    """The groups of a metric that have others, also those who are in no covariates like theirs.

    A group that is everyone has none.
    """
    has_others = pl.col("difference").is_not_null() | (pl.col("support") < about.n_defined)
    return groups.filter(pl.col("metric") == metric, has_others)


def read_harms(
    table: pl.DataFrame,
    attributes: Sequence[str],
    metric: str,
    higher_is_better: bool | None,
    column: str,
    *,
    is_conclusive: bool,
    is_at_worst: bool = False,
) -> GroupHarms:
    """The harms of one metric in a table of groups, or of changes of groups.

    Parameters
    ----------
    column : of what was measured, "difference" from others or "change" from before; where it is
        null a group has a size of NaN, and nothing of it is known
    is_at_worst : whether intervals reach as far as they may where attributes are unknown; chance
        comes on top of the bounds, by as much as on top of the difference
    """
    rows = table.filter(pl.col("metric") == metric)
    low, high = (
        rows[f"simultaneous_{end}"].fill_null(limit).to_numpy()
        for end, limit in (("low", -np.inf), ("high", np.inf))
    )
    difference = rows[column].cast(pl.Float64).to_numpy()
    bounds = np.full((2, len(rows)), np.nan)
    if {*BOUNDED} <= {*rows.columns}:
        bounds = np.stack([rows[name].cast(pl.Float64).to_numpy() for name in BOUNDED[:2]])
    interval = harm_interval(Interval(low, high), higher_is_better)
    ends = zip((low, high), bounds - difference, strict=True)
    at_worst = harm_interval(Interval(*(end + by for end, by in ends)), higher_is_better).high
    if is_at_worst and {*BOUNDED} <= {*rows.columns}:
        interval = Interval(interval.low, np.where(np.isnan(at_worst), np.inf, at_worst))
    is_beyond, is_known = (rows[name].fill_null(False).to_numpy() for name in JUDGED)
    return GroupHarms(
        conditions=rows.select(attributes),
        depth=rows["depth"].to_numpy(),
        support=rows["support"].to_numpy(),
        size=harm(difference, higher_is_better),
        interval=interval,
        at_worst=at_worst,
        is_beyond_chance=is_beyond,
        is_known=is_known,
        is_conclusive=is_conclusive,
    )


def ratio_harms(groups: pl.DataFrame, summary: AuditSummary, metric: str) -> GroupHarms:
    """By which share of the others' value each group falls short: 0.2 where it has 0.8 of it."""
    about = summary.metrics[metric]
    is_ratio = about.is_ratio_scale and about.higher_is_better is not None
    is_of_all = summary.adjustment is None and not summary.search.n_not_fully_scored
    if about.sd is None or not (is_ratio and is_of_all):
        raise InputError(
            f"{metric}: min_ratio needs a metric whose zero means none of it and that has a better "
            f"end, and an audit that scored everyone, without {spell('adjust_for')}. Limit the "
            "difference instead: max_worse or max_difference."
        )
    found = difference_harms(groups, summary, metric)
    rows = _compared(groups, about, metric)
    others = (rows["value"] - rows["difference"]).to_numpy()
    n_others = np.maximum(about.n_defined - found.support, 1)
    # all others may vary more than everyone does, but their squares are among everyone's
    error = about.sd * np.sqrt(about.n_defined) / n_others
    share = relative_shortfall(
        found.size, found.interval, others, error, bool(about.higher_is_better)
    )
    return replace(
        found,
        size=share.size,
        interval=share.interval,
        is_known=found.is_known & share.is_sure,
    )
