"""What two audits tell of their groups, side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, IntArray
from fairrec.result.audit_result import AuditResult
from fairrec.statistics.unpaired import Published
from fairrec.workflows.pairing import Common, axes

_ROW = "\0row"


@dataclass(frozen=True, slots=True)
class PublishedGroups:
    """The groups of one metric in the same order; NaN where an audit does not have one.

    Parameters
    ----------
    conditions : a text column an attribute, and the depth
    """

    conditions: pl.DataFrame
    before: Published
    after: Published

    @property
    def depth(self) -> IntArray:
        """(n_groups,), how many attributes a group has a condition on."""
        return self.conditions["depth"].to_numpy()

    @property
    def is_in_both(self) -> BoolArray:
        """(n_groups,), those that both audits have."""
        return np.asarray(np.isfinite(self.before.n) & np.isfinite(self.after.n))

    def left_by(self, compared: pl.DataFrame) -> IntArray:
        """Positions of the groups that are not among those compared by their users."""
        rows = self.conditions.with_row_index(_ROW)
        left = rows.join(compared, on=compared.columns, how="anti", nulls_equal=True)
        return left[_ROW].sort().to_numpy().astype(np.int64)


def published_groups(
    common: Common, base: AuditResult, candidate: AuditResult
) -> dict[str, PublishedGroups]:
    """What both audits tell of their groups, by metric.

    Groups of one audit only are among them: that one has vanished, or has another name now, is no
    sign that its users are served as well. Those that the other audit did not look for, by their
    depth or their size, are not.
    """
    found = {}
    on = axes(common.attributes)
    for name in common.metrics:
        first, last = (table.filter(pl.col("metric") == name) for table in common.tables)
        depths = [*{*first["depth"]} & {*last["depth"]}]
        both = last.join(
            first,
            on=on,
            how="full",
            coalesce=True,
            nulls_equal=True,
            suffix=" base",
            maintain_order="left_right",
        )
        both = both.with_columns(depth=pl.coalesce("depth", "depth base")).filter(
            pl.col("depth").is_in(depths),
            _is_looked_for("support", "support base", base),
            _is_looked_for("support base", "support", candidate),
        )
        before, after = (
            _published(both, which, audit, name)
            for which, audit in ((" base", base), ("", candidate))
        )
        conditions = both.select(*on, "depth")
        conditions.columns = [*common.attributes, "depth"]
        found[name] = PublishedGroups(conditions, before, after)
    return found


def _is_looked_for(mine: str, other: str, audit: AuditResult) -> pl.Expr:
    """Whether a group is in an audit, or has as many users in the other as it asks for."""
    is_there = pl.col(other).is_not_null()
    return is_there | (pl.col(mine) >= audit.summary.coverage.min_users)


def _published(both: pl.DataFrame, which: str, audit: AuditResult, name: str) -> Published:
    n, value, low, high = (
        both[f"{column}{which}"].cast(pl.Float64).fill_null(np.nan).to_numpy()
        for column in ("support", "value", "value_low", "value_high")
    )
    about = audit.metrics[name]
    # no group varies less than all users do; of items, whose users are drawn again, it may
    sd = about.sd if audit.summary.unit.is_users else None
    # where a search scored more than a sample, groups are no parts of it
    n_all = about.n_compared if about.n_compared == about.n_defined else np.nan
    return Published(n, value, low, high, audit.summary.alpha, sd or 0.0, n_all, about.mean)
