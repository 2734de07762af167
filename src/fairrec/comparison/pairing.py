"""What two audits have in common: metrics, attributes, groups and users.

Users who came into a group are in it for what the candidate saw of them, and users who left it for
what it no longer saw: compared with themselves, or without those who left, they would show a change
though the group has none.

Attributes may be called anything, so tables have them by position here: `a0`, `a1` and so on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from fairrec.comparison.result import Pairing
from fairrec.comparison.unpaired_audits import Published
from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import InputError, listed
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import Attribute
from fairrec.report.audit_result import AuditResult
from fairrec.result.tables import group_conditions

LEAST_SHARED = 0.5
"""Share of the users of each audit that must be in both for pairing: with fewer, most of what is
known of a group would be left out."""
MOST_MOVED = 0.02
"""Share of a group's users, and of all others, of those in both audits, who may have moved."""
LEAST_OF_GROUP = 0.9
"""Share of a group's users, in the audit that has more of them, who must have both values."""


@dataclass(frozen=True, slots=True)
class Common:
    """What both audits have.

    Parameters
    ----------
    metrics : in the order of the candidate, without those that are no mean over users
    attributes : the same
    tables : the groups of both by these attributes, base first
    """

    metrics: tuple[str, ...]
    attributes: tuple[str, ...]
    tables: tuple[pl.DataFrame, pl.DataFrame]

    @property
    def axes(self) -> list[str]:
        """The columns of the attributes."""
        return [f"a{at}" for at in range(len(self.attributes))]


def find_common(base: AuditResult, candidate: AuditResult) -> Common:
    """The metrics and groups of both; an error where there is none."""
    first, last = base.summary, candidate.summary
    if first.unit != last.unit:
        raise InputError(
            f"The base is an audit of {first.unit.many}, the candidate one of {last.unit.many}. "
            "Audit both alike."
        )
    metrics = tuple(
        name
        for name, result in last.metrics.items()
        if result.sd is not None and name in first.metrics and first.metrics[name].sd is not None
    )
    attributes = tuple(name for name in last.attributes if name in first.attributes)
    for what, found, sides in (
        ("metric", metrics, (first.metrics, last.metrics)),
        ("attribute", attributes, (first.attributes, last.attributes)),
    ):
        if not found:
            raise InputError(
                f"The two audits have no {what} in common that can be compared: the base has "
                f"{listed(sides[0])}, the candidate {listed(sides[1])}. Audit both alike."
            )
    ends = [[audit.metrics[name].higher_is_better for name in metrics] for audit in (first, last)]
    turned = [name for name, *two in zip(metrics, *ends, strict=True) if two[0] != two[1]]
    if turned:
        raise InputError(
            f"{listed(turned)}: higher is better in one audit and not in the other. Audit both "
            "alike."
        )
    tables = _by(base, attributes), _by(candidate, attributes)
    common = Common(metrics, attributes, tables)
    shared = tables[1].join(tables[0], on=["metric", *common.axes], how="semi", nulls_equal=True)
    if not shared["metric"].is_in([*metrics]).any():
        raise InputError(
            f"The two audits have no group in common by {listed(attributes)}: their values differ, "
            "as where ages are binned otherwise. Audit both alike."
        )
    return common


def _by(audit: AuditResult, attributes: tuple[str, ...]) -> pl.DataFrame:
    """The table of groups by some attributes: those with a condition on another are left out."""
    others = [pl.col(name).is_null() for name in audit.summary.attributes if name not in attributes]
    return audit.group_table.filter(*others).select(
        "metric",
        *(pl.col(name).alias(f"a{at}") for at, name in enumerate(attributes)),
        *("depth", "support", "value", "value_low", "value_high"),
    )


def shared_users(
    base: AuditResult, candidate: AuditResult, common: Common
) -> tuple[Pairing, pl.DataFrame | None]:
    """Whether users can be paired, and the table of those in both; None where they cannot.

    The table has two columns for each attribute and metric, such as `a0` and `m0` of the candidate
    and `a0 base` and `m0 base` of the base.
    """
    unit = candidate.summary.unit
    if not unit.is_users:
        # an interval of paired changes takes them for independent
        why = f"{unit.many} share the places of lists, so that their values depend on each other"
        return Pairing(is_paired=False, why=why), None
    if base.per_user is None or candidate.per_user is None:
        which = _which(base.per_user is None, candidate.per_user is None)
        return Pairing(is_paired=False, why=f"the values of users were not saved in {which}"), None
    first, last = (_users(table, common) for table in (base.per_user, candidate.per_user))
    shared = last.join(first, on="id", suffix=" base", maintain_order="left")
    n_moved = shared.filter(_has_moved(common.axes)).height
    why = _why_not(base, candidate, shared.height, n_moved)
    about = Pairing(
        is_paired=not why,
        why=why,
        n_shared=shared.height,
        n_only_base=first.height - shared.height,
        n_only_candidate=last.height - shared.height,
        n_moved=n_moved,
    )
    return about, None if why else shared


def _why_not(base: AuditResult, candidate: AuditResult, n_shared: int, n_moved: int) -> str:
    """Why users of both are not paired; empty where they can be."""
    searches = [audit.summary.search for audit in (base, candidate)]
    is_partial = [search.users_scored < search.users_total for search in searches]
    if any(is_partial):
        # those a search scored beyond its random sample were chosen by what it had seen
        return f"not all users were scored in {_which(*is_partial)}"
    n_most = max(base.summary.n_users, candidate.summary.n_users)
    if n_shared < LEAST_SHARED * n_most:
        return f"only {n_shared:,} of {n_most:,} users are in both"
    if n_moved > n_shared / 2:
        return (
            f"{n_moved:,} of the {n_shared:,} ids in both have other attributes, so they seem to "
            "be other people"
        )
    return ""


def _which(is_base: bool, is_candidate: bool) -> str:
    if is_base and is_candidate:
        return "either audit"
    return "the base" if is_base else "the candidate"


def _users(table: pl.DataFrame, common: Common) -> pl.DataFrame:
    """Ids, attributes and values of all users."""
    axes = (
        table[name].alias(axis) for name, axis in zip(common.attributes, common.axes, strict=True)
    )
    values = (table[name].alias(f"m{at}") for at, name in enumerate(common.metrics))
    return pl.DataFrame([table.to_series(0).cast(pl.String).alias("id"), *axes, *values])


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
        rows = self.conditions.with_row_index("row")
        left = rows.join(compared, on=compared.columns, how="anti", nulls_equal=True)
        return left["row"].sort().to_numpy().astype(np.int64)


def published_groups(
    common: Common, base: AuditResult, candidate: AuditResult
) -> dict[str, PublishedGroups]:
    """What both audits tell of their groups, by metric.

    Groups of one audit only are among them: that one has vanished, or has another name now, is no
    sign that its users are served as well. Those that the other audit did not look for, by their
    depth or their size, are not.
    """
    found = {}
    for name in common.metrics:
        first, last = (table.filter(pl.col("metric") == name) for table in common.tables)
        both = last.join(
            first,
            on=common.axes,
            how="full",
            coalesce=True,
            nulls_equal=True,
            suffix=" base",
            maintain_order="left_right",
        ).with_columns(depth=pl.coalesce("depth", "depth base"))
        # a group is in an audit, or has as many users in the other as it asks for
        n_first, n_last = pl.col("support base"), pl.col("support")
        both = both.filter(
            pl.col("depth").is_in([*{*first["depth"]} & {*last["depth"]}]),
            n_first.is_not_null() | (n_last >= base.summary.coverage.min_users),
            n_last.is_not_null() | (n_first >= candidate.summary.coverage.min_users),
        )
        found[name] = PublishedGroups(
            both.select(*common.axes, "depth"),
            _published(both, " base", base, name),
            _published(both, "", candidate, name),
        )
    return found


def _published(both: pl.DataFrame, suffix: str, audit: AuditResult, name: str) -> Published:
    n, value, low, high = (
        both[f"{column}{suffix}"].cast(pl.Float64).fill_null(np.nan).to_numpy()
        for column in ("support", "value", "value_low", "value_high")
    )
    about = audit.metrics[name]
    # no group varies less than all users do; of items, whose users are drawn again, it may
    sd = about.sd if audit.summary.unit.is_users else None
    # where a search scored more than a sample, groups are no parts of it
    n_all = about.n_compared if about.n_compared == about.n_defined else np.nan
    return Published(n, value, low, high, audit.summary.alpha, sd or 0.0, n_all, about.mean)


class PairedUsers(NamedTuple):
    """Users of both audits, and the groups they make.

    Parameters
    ----------
    before, after : (n_metrics, n_users), NaN where undefined
    is_compared : (n_metrics, n_groups), groups of both audits nearly all of whose users have both
        values, and of whom few moved
    """

    before: FloatArray
    after: FloatArray
    grouping: Grouping
    is_compared: BoolArray


def paired_users(
    shared: pl.DataFrame,
    published: Mapping[str, PublishedGroups],
    base: AuditResult,
    candidate: AuditResult,
) -> PairedUsers:
    """The users of both, with the groups that both audits know.

    Parameters
    ----------
    shared : as of `shared_users`
    published : as of `published_groups`
    """
    before, after = (
        np.array([shared[f"m{at}{suffix}"].fill_null(np.nan) for at in range(len(published))])
        for suffix in (" base", "")
    )
    *axes, _ = next(iter(published.values())).conditions.columns
    attributes = []
    for axis in axes:
        texts = shared[axis].unique().sort()
        codes = shared[axis].replace_strict(texts, np.arange(len(texts)), return_dtype=pl.Int32)
        attributes.append(Attribute(axis, codes.to_numpy(), tuple(texts)))
    summaries = base.summary, candidate.summary
    depths = [summary.depth for summary in summaries]
    options = AuditOptions(
        depth="full" if "full" in depths else min(depths),
        min_support=min(summary.coverage.min_users for summary in summaries),
    )
    grouping = Grouping.of(attributes, options)
    conditions, lattice = group_conditions(grouping), grouping.lattice
    steady = is_steady(shared, conditions, lattice.n_users)
    is_compared = np.zeros((len(published), len(lattice)), dtype=np.bool_)
    for at, part in enumerate(published.values()):
        sizes = part.conditions.with_columns(n=np.maximum(part.before.n, part.after.n))
        rows = conditions.join(
            sizes, on=conditions.columns, how="left", nulls_equal=True, maintain_order="left"
        )
        n_most = rows["n"].fill_null(np.nan).to_numpy()
        n_paired = lattice.sums(grouping.cells.sums(~np.isnan(before[at] + after[at]))[None])[0]
        is_compared[at] = steady & (n_paired >= LEAST_OF_GROUP * np.maximum(n_most, 1.0))
    return PairedUsers(before, after, grouping, is_compared)


def is_steady(users: pl.DataFrame, conditions: pl.DataFrame, n_users: IntArray) -> BoolArray:
    """(n_groups,), groups that few users moved into or out of, among their own and all others.

    Parameters
    ----------
    users : of both audits: a column an attribute, and one with the suffix " base"
    conditions : of the groups, by the same columns; null where any value counts
    n_users : (n_groups,), users of both audits who are in the group in the candidate
    """
    axes = conditions.columns[:-1]
    came, left = np.zeros((2, conditions.height))
    movers = users.filter(_has_moved(axes))
    rows = conditions.select(axes).with_row_index("row")
    for is_given, groups in rows.group_by([pl.col(axis).is_not_null() for axis in axes]):
        on = [axis for axis, is_mine in zip(axes, is_given, strict=True) if is_mine]
        mine = movers.filter(_has_moved(on))
        for counts, suffix in ((came, ""), (left, " base")):
            there = mine.select(pl.col(f"{axis}{suffix}").alias(axis) for axis in on)
            found = groups.join(there.group_by(on).len(), on=on)
            counts[found["row"].to_numpy()] = found["len"].to_numpy()
    # all others, from whose change its own differs, are to be steady as well
    n_most = np.minimum(n_users + left, users.height - n_users + came)
    return np.asarray((came + left == 0) | (came + left <= MOST_MOVED * n_most))


def _has_moved(axes: list[str]) -> pl.Expr:
    return pl.any_horizontal(pl.col(axis).ne_missing(pl.col(f"{axis} base")) for axis in axes)
