"""The harm of every group as a saved table has it, so that any limit can be judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.errors import InputError, unknown_name
from fairrec.core.options import spelled
from fairrec.inputs.users import Value
from fairrec.metrics.direction import harm
from fairrec.report.words import group_label
from fairrec.result.metric_schema import MetricResult
from fairrec.result.schema import AuditSummary
from fairrec.result.tables import BOUNDED, JUDGED, group_in
from fairrec.statistics.intervals import Interval
from fairrec.statistics.ratios import lacking
from fairrec.statistics.verdict import group_outcomes, harm_interval, is_shown_worse


@dataclass(frozen=True, slots=True)
class GroupHarms:
    """Groups with others to be compared with; arrays have one entry a group.

    Parameters
    ----------
    conditions : one text column an attribute, null where its value does not matter
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
        """(n_groups,), positions in `outcome_names`, with this limit as what matters."""
        is_worse = is_shown_worse(self.size, self.is_beyond_chance, self.is_known)
        return group_outcomes(self.interval, is_worse, self.is_known & self.is_conclusive, limit)

    def group(self, at: int) -> dict[str, Value]:
        """A group by its conditions."""
        return {**group_in(self.conditions.row(at, named=True))}

    def label(self, at: int) -> str:
        """The conditions of a group on one line."""
        return group_label(self.group(at))

    def position(self, group: Mapping[str, str]) -> int:
        """The place of a group; an error where it is not among them."""
        for name in group:
            if name not in self.conditions.columns:
                raise unknown_name("attribute in this audit", name, self.conditions.columns)
        columns = self.conditions.iter_columns()
        is_it = np.ones(len(self), dtype=np.bool_)
        for column in columns:
            value = group.get(column.name)
            same = column.is_null() if value is None else (column == value).fill_null(False)
            is_it &= same.to_numpy()
        if not is_it.any():
            raise self._unknown(group)
        return int(np.flatnonzero(is_it)[0])

    def _unknown(self, group: Mapping[str, str]) -> Exception:
        for name, value in group.items():
            values = self.conditions[name].drop_nulls().unique().to_list()
            if value not in values:
                return unknown_name(f"value of {name}", value, values)
        return InputError(
            f"No group '{group_label(group)}' was audited: it is too small, has more attributes "
            "than the depth, or names several values of one column and lacks one of them. Name "
            f"another one, or change {spelled('min_support')} or {spelled('depth')} of the audit."
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
    if is_at_worst:
        _refuse_no_bounds(metric, groups, summary)
    direction = None if either_way else about.higher_is_better
    return harms_in(
        _compared(groups, about, metric),
        [*summary.attributes],
        metric,
        direction,
        "difference",
        is_conclusive=about.is_conclusive,
        is_at_worst=is_at_worst,
    )


def _refuse_no_bounds(metric: str, groups: pl.DataFrame, summary: AuditSummary) -> None:
    """An error where attributes are unknown, and what that could make of groups is too."""
    is_unknown = any(one.n_missing != 0 for one in summary.attributes.values())
    why = ""
    if is_unknown and summary.given is not None:
        why = "groups are compared in given circumstances"
    elif is_unknown and not {*BOUNDED} <= {*groups.columns}:
        why = "not everyone was scored"
    if why:
        raise InputError(f'{metric}: unknown = "worst" cannot be judged, because {why}.')


def _compared(groups: pl.DataFrame, about: MetricResult, metric: str) -> pl.DataFrame:
    """The groups of a metric that have others, also those who are in no circumstances like theirs.

    A group that is everyone has none.
    """
    has_others = pl.col("difference").is_not_null() | (pl.col("support") < about.n_defined)
    return groups.filter(pl.col("metric") == metric, has_others)


def harms_in(
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
    """How much of the others' value each group lacks: 0.2 where it has 0.8 of it."""
    about = summary.metrics[metric]
    _refuse_no_ratio(metric, about, summary)
    assert about.sd is not None
    found = difference_harms(groups, summary, metric)
    rows = _compared(groups, about, metric)
    others = (rows["value"] - rows["difference"]).to_numpy()
    n_others = np.maximum(about.n_defined - found.support, 1)
    # all others may vary more than everyone does, but their squares are among everyone's
    error = about.sd * np.sqrt(about.n_defined) / n_others
    share = lacking(found.size, found.interval, others, error, bool(about.higher_is_better))
    return replace(
        found,
        size=share.size,
        interval=share.interval,
        is_known=found.is_known & share.is_sure,
    )


def _refuse_no_ratio(metric: str, about: MetricResult, summary: AuditSummary) -> None:
    why = ""
    if not about.is_ratio_scale or about.sd is None:
        why = "its values have no zero that means none of it"
    elif about.higher_is_better is None:
        why = "neither end of it is better"
    elif summary.given is not None:
        why = "groups are compared in given circumstances, and its values are not"
    elif summary.search.n_not_fully_scored:
        why = "a search did not score everyone"
    if why:
        raise InputError(
            f"{metric}: min_ratio is not known, because {why}. Limit the difference: max_worse, or "
            "max_difference where neither end is better."
        )
