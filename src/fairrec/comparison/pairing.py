"""Who and what two audits have in common: metrics, attributes, groups and users.

Who came into a group is in it for what the candidate saw of them, and who left for what it no
longer saw: compared with themselves, they would show a change though the group has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Common:
    """What both audits have.

    Parameters
    ----------
    metrics : in the order of the candidate, without those that are no mean over users
    attributes : the same
    tables : the groups of both by these attributes, base first; columns as `axes` names them
    """

    metrics: tuple[str, ...]
    attributes: tuple[str, ...]
    tables: tuple[pl.DataFrame, pl.DataFrame]


def find_common(base: AuditResult, candidate: AuditResult) -> Common:
    """The metrics and groups of both; an error where there is none."""
    first, last = base.summary, candidate.summary
    if first.unit != last.unit:
        raise InputError(
            f"The base is an audit of {first.unit.many}, the candidate one of {last.unit.many}: "
            "what is measured of one says nothing of the other. Audit both alike."
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
    turned = [name for name in metrics if _turned(name, base, candidate)]
    if turned:
        raise InputError(
            f"{listed(turned)}: higher is better in one audit and not in the other. Audit both "
            "alike."
        )
    tables = _by(base, attributes), _by(candidate, attributes)
    keys = ["metric", *axes(attributes)]
    shared = tables[1].join(tables[0], on=keys, how="semi", nulls_equal=True)
    if not shared["metric"].is_in([*metrics]).any():
        raise InputError(
            f"The two audits have no group in common by {listed(attributes)}: their values differ, "
            "as where ages are binned otherwise. Audit both alike."
        )
    return Common(metrics, attributes, tables)


def _turned(name: str, base: AuditResult, candidate: AuditResult) -> bool:
    return base.metrics[name].higher_is_better != candidate.metrics[name].higher_is_better


def _by(audit: AuditResult, attributes: Sequence[str]) -> pl.DataFrame:
    """The table of groups by some attributes: those with a condition on another are left out."""
    others = [name for name in audit.summary.attributes if name not in attributes]
    table = audit.group_table
    if others:
        table = table.filter(pl.all_horizontal(pl.col(others).is_null()))
    numbers = ("value", "value_low", "value_high")
    table = table.select("metric", *attributes, "depth", "support", *numbers)
    return table.rename(dict(zip(attributes, axes(attributes), strict=True)))


def axes(attributes: Sequence[str]) -> list[str]:
    """Columns of attributes by position, as their names may be anything."""
    return [f"a{at}" for at in range(len(attributes))]


def shared_users(
    base: AuditResult, candidate: AuditResult, common: Common
) -> tuple[Pairing, pl.DataFrame | None]:
    """Whether users can be paired, and the table of those in both; None where they cannot.

    The table has a column an attribute, as the candidate has it, and two a metric.
    """
    unit = candidate.summary.unit
    if not unit.is_users:
        # an interval of paired changes takes them for independent
        why = f"{unit.many} share the places of lists, so that their values depend on each other"
        return _unpaired(why), None
    if base.per_user is None or candidate.per_user is None:
        which = _which(base.per_user is None, candidate.per_user is None)
        return _unpaired(f"the values of users were not saved in {which}"), None
    first, last = (_users(audit, common) for audit in (base, candidate))
    shared = last.join(first, on="id", suffix=" base", maintain_order="left")
    n_moved = int(
        shared.select(
            pl.any_horizontal(
                pl.col(axis) != pl.col(f"{axis} base") for axis in axes(common.attributes)
            ).sum()
        ).item()
    )
    about = Pairing(
        is_paired=False,
        why=_why_not(base, candidate, shared.height, n_moved),
        n_shared=shared.height,
        n_only_base=first.height - shared.height,
        n_only_candidate=last.height - shared.height,
        n_moved=n_moved,
    )
    if about.why:
        return about, None
    return about.model_copy(update={"is_paired": True}), shared


def _why_not(base: AuditResult, candidate: AuditResult, n_shared: int, n_moved: int) -> str:
    """Why users of both are not paired; empty where they can be."""
    is_partial = [
        audit.summary.search.users_scored < audit.summary.search.users_total
        for audit in (base, candidate)
    ]
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


def _unpaired(why: str) -> Pairing:
    return Pairing(
        is_paired=False,
        why=why,
        n_shared=None,
        n_only_base=None,
        n_only_candidate=None,
        n_moved=None,
    )


def _users(audit: AuditResult, common: Common) -> pl.DataFrame:
    """Ids, attributes and values of all users; columns by position, as names may be anything."""
    table = audit.per_user
    assert table is not None
    columns = dict(zip(table.columns, table.get_columns(), strict=True))
    return pl.DataFrame(
        [
            table.to_series(0).cast(pl.String).alias("id"),
            *(
                columns[name].alias(axis)
                for name, axis in zip(common.attributes, axes(common.attributes), strict=True)
            ),
            *(columns[name].alias(f"m{at}") for at, name in enumerate(common.metrics)),
        ]
    )


@dataclass(frozen=True, slots=True)
class PairedUsers:
    """Users of both audits, and the groups they make.

    Parameters
    ----------
    before, after : (n_metrics, n_users), NaN where undefined
    is_compared : (n_metrics, n_groups), groups that both audits tell of, nearly all of whose users
        have both values, and few of whom moved
    n_moved : groups of each metric that are not compared, as many users moved in or out
    """

    before: FloatArray
    after: FloatArray
    grouping: Grouping
    is_compared: BoolArray
    n_moved: tuple[int, ...]

    @property
    def conditions(self) -> list[pl.DataFrame]:
        """The groups that are compared, for each metric."""
        table = group_conditions(self.grouping)
        return [table.filter(is_mine) for is_mine in self.is_compared]


def paired_users(
    shared: pl.DataFrame, common: Common, base: AuditResult, candidate: AuditResult
) -> PairedUsers:
    """The users of both, with the groups that both audits know."""
    values = [
        np.array([shared[f"m{at}{which}"].fill_null(np.nan) for at in range(len(common.metrics))])
        for which in (" base", "")
    ]
    attributes = []
    for name, axis in zip(common.attributes, axes(common.attributes), strict=True):
        labels = shared[axis]
        texts = labels.unique().sort()
        codes = labels.replace_strict(texts, np.arange(len(texts)), return_dtype=pl.Int32)
        attributes.append(Attribute(name, codes.to_numpy(), tuple(texts)))
    depths = [audit.summary.depth for audit in (base, candidate)]
    least = min(audit.summary.coverage.min_users for audit in (base, candidate))
    whole = [depth for depth in depths if depth != "full"]
    options = AuditOptions(
        depth=min(whole) if len(whole) == len(depths) else "full", min_support=least
    )
    grouping = Grouping.of(attributes, options)
    conditions = group_conditions(grouping)
    conditions.columns = [*axes(common.attributes), "depth"]
    n_users = grouping.lattice.n_users.astype(np.float64)
    steady = is_steady(shared, conditions, n_users, axes(common.attributes))
    conditions = conditions.with_row_index("row")
    is_told, enough = np.zeros((2, len(common.metrics), len(grouping.lattice)), dtype=np.bool_)
    for at, name in enumerate(common.metrics):
        rows = conditions
        for table, which in zip(common.tables, ("before", "after"), strict=True):
            mine = table.filter(pl.col("metric") == name)
            mine = mine.select(*axes(common.attributes), pl.col("support").alias(which))
            rows = rows.join(mine, on=axes(common.attributes), nulls_equal=True)
        known = grouping.cells.sums(~np.isnan(values[0][at] + values[1][at]))
        n_paired = grouping.lattice.sums(known[None])[0]
        told = rows["row"].to_numpy()
        sizes = (rows[which].to_numpy() for which in ("before", "after"))
        is_told[at, told] = True
        enough[at, told] = is_enough(n_paired[told], *sizes)
    n_moved = tuple(int(n) for n in (is_told & ~steady).sum(axis=1))
    return PairedUsers(values[0], values[1], grouping, enough & steady, n_moved)


MOST_MOVED = 0.02
"""Share of a group's users, of those in both audits, who may have moved in or out."""
LEAST_OF_GROUP = 0.9
"""Share of a group's users, in the audit that has more of them, who must have both values."""


def is_steady(
    users: pl.DataFrame, conditions: pl.DataFrame, n_users: FloatArray, axes: Sequence[str]
) -> BoolArray:
    """(n_groups,), groups that few users moved into or out of.

    Parameters
    ----------
    users : of both audits: a column an attribute, and one with the suffix " base"
    conditions : of the groups, by the same columns; null where any value counts
    n_users : (n_groups,), users of both audits who are in the group in the candidate
    """
    came, left = np.zeros((2, conditions.height))
    rows = conditions.select(axes).with_row_index("row")
    movers = users.filter(_differ(axes))
    if movers.height:
        for is_given, groups in rows.group_by([pl.col(axis).is_not_null() for axis in axes]):
            on = [axis for axis, is_mine in zip(axes, is_given, strict=True) if is_mine]
            mine = movers.filter(_differ(on))
            for counts, suffix in ((came, ""), (left, " base")):
                there = mine.select(pl.col(f"{axis}{suffix}").alias(axis) for axis in on)
                found = groups.join(there.group_by(on).len(), on=on)
                counts[found["row"].to_numpy()] = found["len"].to_numpy()
    return np.asarray(came + left <= MOST_MOVED * (n_users + left))


def _differ(axes: Sequence[str]) -> pl.Expr:
    return pl.any_horizontal(pl.col(axis).ne_missing(pl.col(f"{axis} base")) for axis in axes)


def is_enough(n_paired: FloatArray, n_before: FloatArray, n_after: FloatArray) -> BoolArray:
    """(n_groups,), groups of whose users nearly all are in both audits with a value."""
    n_most = np.maximum(np.maximum(n_before, n_after), 1.0)
    return np.asarray(n_paired >= LEAST_OF_GROUP * n_most)


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
