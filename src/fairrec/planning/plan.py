"""The conductor of a plan: what is to be tested, on whom, and what can be found, set beforehand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fairrec.auditing.harms import difference_harms
from fairrec.auditing.options import NOT_PLANNED, SETTINGS, PlanOptions
from fairrec.auditing.plan_file import (
    AuditPlan,
    Needed,
    PlanFacts,
    PlannedGroups,
    PlannedTable,
    Spread,
)
from fairrec.core.audit_options import RAY, AuditOptions, Engine, Statistics
from fairrec.core.errors import FairRecError, InputError, plain, unknown_name
from fairrec.core.options import (
    Options,
    documented,
    expand,
    list_options,
    public_function,
    select,
    spell,
)
from fairrec.core.settings import read_settings
from fairrec.core.tolerance import Tolerance
from fairrec.core.version import __version__
from fairrec.groups.grouping import Grouping, build_grouping
from fairrec.inputs.audit_inputs import read_columns
from fairrec.inputs.columns import check_mapping
from fairrec.inputs.formats import checksum
from fairrec.inputs.ids import find_positions
from fairrec.inputs.table_options import COUNTED, OTHER_LISTS, TABLE_NAMES, TableOptions, Tables
from fairrec.inputs.tables import Table
from fairrec.inputs.users import read_users, users_sum
from fairrec.metrics import MetricAtK
from fairrec.metrics.covariates import refuse_covariates
from fairrec.metrics.parsing import parse_metric
from fairrec.metrics.reading import with_ends
from fairrec.metrics.tolerance import parse_tolerance, refuse_unfit
from fairrec.metrics.value_columns import find_metric, metric_of_column
from fairrec.planning.expectations import Outlook
from fairrec.report.audit_result import AuditResult
from fairrec.result.summary import attribute_summaries, coverage
from fairrec.statistics.verdict import OPEN

_GROUPS: Mapping[str, tuple[type[Options], Sequence[str]]] = {
    "statistics": (Statistics, ()),
    "tables": (Tables, (*OTHER_LISTS, *COUNTED)),
    "engine": (Engine, RAY),
}
"""What rare options travel in, and those of them that a plan has no use for."""


@public_function
@documented(PlanOptions, TableOptions)
def plan(
    *,
    users: Any = None,
    by: Sequence[str] | str | None = None,
    metrics: Sequence[str] | str | None = None,
    pilot: Any = None,
    mean: float | None = None,
    sd: float | None = None,
    settings: str | Path | None = None,
    **options: Any,
) -> AuditPlan:
    """What an audit of these users is to test, and what it can find: `.save("plan.toml")`.

    Nothing is measured. `fairrec.audit(..., plan="plan.toml")` runs it.

    Parameters
    ----------
    users, by, metrics : see TableOptions
    pilot, mean, sd : see PlanOptions
    settings : a settings file to freeze, or a plan to freeze again. Its options hold where no
        other value is given
    options : any other option of `fairrec.audit` that says what is tested, such as `depth` or
        `statistics`

    Examples
    --------
    >>> import fairrec, polars as pl
    >>> users = pl.DataFrame({"user_id": range(400), "gender": ["F", "M"] * 200})
    >>> made = fairrec.plan(users=users, by="gender", metrics="ndcg@10", mean=0.3, sd=0.35)
    >>> made.expectations.row(-1, named=True)
    {'metric': 'ndcg@10', 'users': 200, 'n_groups': 2, 'harm': 0.1, ...}
    """
    for name, (group, without) in _GROUPS.items():
        options |= expand(group, options.pop(name, None), without, only_given=True)
    for name in options:
        if name not in SETTINGS:
            raise unknown_name("option", name, SETTINGS)
    named = {"users": users, "by": by, "metrics": metrics, "pilot": pilot, "mean": mean, "sd": sd}
    given = {name: value for name, value in {**options, **named}.items() if value is not None}
    return plan_for(given, settings)


@public_function
def plan_for(
    given: Mapping[str, Any], settings: str | Path | None = None, audited: Path | None = None
) -> AuditPlan:
    """The same, of all users of the users table or of those who were audited.

    Parameters
    ----------
    given : options by name
    audited : values of the users of an earlier audit; None for all of the users table
    """
    found = _set_in(settings, given)
    given = {**found, **given}
    tables = TableOptions(**select(TableOptions, given))
    how = AuditOptions(**select(AuditOptions, given), engine=Engine(**select(Engine, given)))
    assumed = PlanOptions(**select(PlanOptions, given))
    if tables.side == "items":
        raise InputError(
            f"A plan is about users: how many must be audited. {spell('side', 'items')} can be "
            "audited without one."
        )
    for name in ("users", "by", "metrics"):
        if name not in given:
            raise InputError(
                f"{spell(name)} is missing: a plan names users, attributes and metrics."
            )
    columns = tables.columns or {}
    check_mapping(columns)
    opened = {
        name: Table(getattr(tables, name), name, columns)
        for name in TABLE_NAMES
        if getattr(tables, name) is not None
    }
    pilot = None if assumed.pilot is None else Table(assumed.pilot, "pilot")
    wanted = _wanted(tables)
    how = replace(how, tolerance=parse_tolerance(how.tolerance, wanted))
    refuse_covariates(tables, opened, wanted)
    everyone = read_users(opened["users"], tables.by)
    rows = np.arange(len(everyone.ids))
    if audited is not None:
        table = Table(audited, "users")
        ids = table.read({"user_id": table.require("user_id")})["user_id"]
        rows = np.flatnonzero(find_positions(everyone.keys, table.user_keys(ids)) >= 0)
    attributes = everyone.attributes(rows)
    grouping = build_grouping(attributes, how)
    spread = estimate_spread(assumed, pilot, wanted, how.tolerance)
    outlook = Outlook(wanted, grouping, how, spread)
    read = opened if pilot is None else {**opened, "pilot": pilot}
    facts = PlanFacts(
        fairrec_version=__version__,
        n_users=grouping.n_users,
        users_sha256=users_sum(everyone.ids[rows], [each.labels for each in attributes]),
        min_users=grouping.min_users,
        tables={
            name: PlannedTable(
                file=table.where if table.path else None,
                sha256=checksum(table.path) if table.path else None,
            )
            for name, table in read.items()
        },
        attributes={name: about.n_values for name, about in attribute_summaries(grouping).items()},
        groups=_groups(grouping, how),
        spread=spread,
        expected=outlook.expected,
        needed=outlook.needed,
    )
    values = {
        **expand(TableOptions, tables),
        **expand(AuditOptions, how),
        **expand(PlanOptions, assumed),
        "metrics": tuple(metric.name for metric in wanted),
    }
    # all that was decided, defaults too, as they may be others one day; tables by their paths
    frozen = {
        name: values[name]
        for name, option in SETTINGS.items()
        if name not in NOT_PLANNED
        and values[name] is not None
        and not (option.form.is_path and not isinstance(values[name], str | Path))
    }
    return AuditPlan(frozen, facts, from_settings=tuple(found))


def drop_settled(facts: PlanFacts, audit: AuditResult) -> PlanFacts:
    """Without the needed users of groups that an audit shows to be worse or within tolerance."""

    def is_open(row: Needed) -> bool:
        with suppress(KeyError, FairRecError):  # what the audit does not have
            harms = difference_harms(audit.group_table, audit.summary, row.metric)
            return bool(harms.outcomes(row.tolerance)[harms.position(row.group)] == OPEN)
        return True

    return facts.model_copy(update={"needed": tuple(filter(is_open, facts.needed))})


def _set_in(settings: str | Path | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a settings file or a plan sets and the call does not."""
    found = {} if settings is None else read_settings(settings, SETTINGS).values
    # a pilot takes the place of a mean and a standard deviation, and they of a pilot
    assumed = {*list_options(PlanOptions)}
    beaten = {*given} | (assumed if assumed & {*given} else set())
    return {name: value for name, value in found.items() if name not in beaten}


def _wanted(tables: TableOptions) -> tuple[MetricAtK, ...]:
    """The metrics named, each once; columns of values where the plan is about such a table."""
    better, names = tables.better or {}, tables.metrics or ()
    is_of_values = tables.values is not None or any(find_metric(name) is None for name in better)
    if not is_of_values:
        wanted = {metric.name: metric for metric in map(parse_metric, names)}
        return tuple(with_ends([*wanted.values()], better))
    for name in better:
        if name not in names:
            raise InputError(f"{spell('better')}: {unknown_name('metric', name, names)}")
    columns = [metric_of_column(name, better, "the values") for name in names]
    return tuple({metric.name: metric for metric in columns}.values())


def _groups(grouping: Grouping, options: AuditOptions) -> tuple[PlannedGroups, ...]:
    lattice = grouping.lattice
    planned = []
    for name, about in coverage(grouping, options.min_support).by_depth.items():
        sizes = {}
        if len(n_users := lattice.n_users[lattice.depth == int(name)]):
            three = int(n_users.min()), int(np.median(n_users)), int(n_users.max())
            sizes = dict(zip(("smallest", "median", "largest"), three, strict=True))
        planned.append(PlannedGroups(depth=int(name), **about.model_dump(), **sizes))
    return tuple(planned)


def estimate_spread(
    assumed: PlanOptions,
    pilot: Table | None,
    metrics: Sequence[MetricAtK],
    tolerance: Tolerance | None = None,
) -> dict[str, Spread]:
    """Mean and standard deviation of each metric, as far as they are known.

    Parameters
    ----------
    tolerance : refused where such values make it none
    """
    if pilot is None:
        if assumed.sd is None:
            return {}
        for metric in metrics:
            _refuse_impossible(metric, assumed.mean, assumed.sd)
            refuse_unfit(tolerance, metric, assumed.mean or 0.0, math.inf)
        return {metric.name: Spread(sd=assumed.sd, mean=assumed.mean) for metric in metrics}
    for metric in metrics:
        if metric.name not in pilot.columns:
            unknown = unknown_name("column", metric.name, pilot.columns)
            raise InputError(f"{pilot.where}: {unknown}{pilot.hint}")
    values = read_columns(pilot, [metric.name for metric in metrics])
    found = {}
    for metric in metrics:
        name, numbers = metric.name, values[metric.name]
        known = numbers[~np.isnan(numbers)]
        sd = float(known.std(ddof=1)) if len(known) > 1 else 0.0
        if not sd:
            raise InputError(
                f"{pilot.where}: all values of '{plain(name)}' are equal, so the pilot has no "
                f"standard deviation. Give {spell('sd')} instead."
            )
        refuse_unfit(tolerance, metric, float(known.min()), float(known.max()))
        found[name] = Spread(sd=float(f"{sd:.6g}"), mean=float(f"{known.mean():.6g}"))
    return found


_ROUNDING = 1.01
"""How much too large a standard deviation of two digits may be."""


def _refuse_impossible(metric: MetricAtK, mean: float | None, sd: float) -> None:
    """Refuse a mean and a standard deviation that no values between the bounds have."""
    if metric.metric.bounds is None:
        return
    low, high = metric.metric.bounds
    middle = (low + high) / 2 if mean is None else mean
    if not low <= middle <= high or sd**2 > _ROUNDING**2 * (middle - low) * (high - middle):
        raise InputError(
            f"No values of {metric.name}, from {low:g} to {high:g}, have a mean of {middle:g} and "
            f"a standard deviation of {sd:g}. Change {spell('mean')} or {spell('sd')}, or plan the "
            "metric by itself."
        )
