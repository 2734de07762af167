"""The conductor of a plan: what is to be tested, on whom, and what can be found, set beforehand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.special import ndtri

from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import InputError, plain, unknown_name
from fairrec.core.options import Options, declared, documented, spelled
from fairrec.core.settings import read_settings
from fairrec.core.version import __version__
from fairrec.groups.grouping import Grouping, grouping_of
from fairrec.groups.lattice import ANY
from fairrec.inputs.columns import check_mapping
from fairrec.inputs.formats import checksum
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.inputs.users import read_users
from fairrec.inputs.values import read_columns
from fairrec.metrics import MetricAtK
from fairrec.metrics.registry import parse_metric
from fairrec.metrics.value_columns import metric_of_column
from fairrec.result.coverage import attribute_summaries, coverage
from fairrec.result.plan_schema import (
    Expected,
    PlanFacts,
    PlannedAttribute,
    PlannedGroups,
    PlannedTable,
    Spread,
)
from fairrec.statistics.estimates import detectable_difference
from fairrec.workflows.deviations import values_named
from fairrec.workflows.plan_file import EXPECTED, AuditPlan
from fairrec.workflows.plan_options import NOT_PLANNED, SETTINGS, PlanOptions

_STEPS = (1, 2, 5)


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
    options : any other option of `fairrec.audit` that says what is tested, such as `alpha`

    Examples
    --------
    >>> import fairrec, polars as pl
    >>> users = pl.DataFrame({"user_id": range(400), "gender": ["F", "M"] * 200})
    >>> made = fairrec.plan(users=users, by="gender", metrics="ndcg@10", mean=0.3, sd=0.35)
    >>> made.expectations.row(-1, named=True)
    {'metric': 'ndcg@10', 'users': 200, 'n_groups': 2, 'difference': 0.1079}
    """
    for name in options:
        if name not in SETTINGS:
            raise unknown_name("option", name, SETTINGS)
    named = {"users": users, "by": by, "metrics": metrics, "pilot": pilot, "mean": mean, "sd": sd}
    given = {name: value for name, value in {**options, **named}.items() if value is not None}
    found = _set_in(settings, given)
    given = {**found, **given}
    tables = TableOptions.of(**_of(TableOptions, given))
    how = AuditOptions.of(**_of(AuditOptions, given))
    assumed = PlanOptions.of(**_of(PlanOptions, given))
    for name in ("users", "by", "metrics"):
        if name not in given:
            raise InputError(f"{spelled(name)} is missing: a plan says whom and what it tests.")
    check_mapping(tables.columns or {})
    opened = _opened(tables)
    of_pilot = None if assumed.pilot is None else Table(assumed.pilot, "pilot")
    wanted = _wanted(tables, of_pilot)
    everyone = read_users(opened["users"], tables.by)
    grouping = grouping_of(everyone.attributes(np.arange(len(everyone.ids))), how)
    tested = [metric for metric in wanted if not metric.metric.pooled]
    spread = _spread(assumed, of_pilot, tested)
    expected = expectations(tested, grouping, how, spread)
    if of_pilot is not None:
        opened["pilot"] = of_pilot
    facts = PlanFacts(
        fairrec_version=__version__,
        n_users=grouping.n_users,
        min_users=grouping.min_users,
        tables={name: _table(table) for name, table in opened.items()},
        attributes=_attributes(grouping),
        groups=_groups(grouping, how),
        spread=spread,
        expected=tuple(Expected(**row) for row in expected.iter_rows(named=True)),
    )
    names = tuple(metric.name for metric in wanted)
    return AuditPlan(
        _to_freeze({**vars(tables), **vars(how), **vars(assumed), "metrics": names}),
        facts,
        from_settings=tuple(found),
    )


def expectations(
    metrics: Sequence[MetricAtK],
    grouping: Grouping,
    options: AuditOptions,
    spread: Mapping[str, Spread],
) -> pl.DataFrame:
    """One row for each metric and size of group up to half of all users, see `Expected`.

    The significance level is divided by the number of tests (Bonferroni), which asks for somewhat
    more than the permutations of an audit will.

    Parameters
    ----------
    spread : by metric; where it is not known, differences are in standard deviations among users
    """
    if not options.permutations:
        return pl.DataFrame(schema=EXPECTED)  # nothing is tested
    n_users = grouping.n_users
    n_tests = max(1, len(grouping.lattice) * len(metrics))
    critical = -float(ndtri(options.alpha / (2 * n_tests)))
    n_users_per_group = grouping.lattice.n_users
    least, most = int(n_users_per_group.min()), int(n_users_per_group.max())
    sizes = _sizes(least, min(most, n_users // 2))
    rows = []
    for metric in metrics:
        assumed = spread.get(metric.name, Spread(sd=1.0))
        for size in sizes:
            error = assumed.sd * math.sqrt(n_users / (size * (n_users - size)))
            difference = float(detectable_difference(np.array([error]), critical)[0])
            if difference > _largest_harm(metric, assumed, size / n_users):
                difference = math.nan
            rows.append(
                {
                    "metric": metric.name,
                    "users": size,
                    "n_groups": int((n_users_per_group >= size).sum()),
                    # no more digits than the assumptions have, and the same on every machine
                    "difference": None if math.isnan(difference) else float(f"{difference:.4g}"),
                }
            )
    return pl.DataFrame(rows, schema=EXPECTED)


def _sizes(least: int, most: int) -> list[int]:
    """The smallest group and rounder ones, up to the largest.

    >>> _sizes(12, 700)
    [12, 20, 50, 100, 200, 500]
    """
    steps = (step * 10**power for power in range(len(str(most)) + 1) for step in _STEPS)
    return [size for size in [least, *(step for step in steps if step > least)] if size <= most]


def _largest_harm(metric: MetricAtK, assumed: Spread, share: float) -> float:
    """How much worse than all others a share of users can be, where the mean of all is known."""
    if metric.metric.bounds is None or assumed.mean is None:
        return math.inf
    low, high = metric.metric.bounds
    below, above = (assumed.mean - low) / (1 - share), (high - assumed.mean) / (1 - share)
    is_higher_better = metric.metric.higher_is_better
    if is_higher_better is None:
        return max(below, above)
    return below if is_higher_better else above


def _set_in(settings: str | Path | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a settings file or an older plan sets and nobody gave."""
    found = {} if settings is None else read_settings(settings, SETTINGS).values
    beaten = {*given}
    if any(name in given for name in declared(PlanOptions)):
        # a pilot and numbers that stand for one are two words for the same
        beaten |= {*declared(PlanOptions)}
    return {name: value for name, value in found.items() if name not in beaten}


def _of(options: type[Options], given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in declared(options) if name in given}


def _to_freeze(values: Mapping[str, Any]) -> dict[str, Any]:
    """All that was decided, defaults too, as they may be others one day; tables by their paths."""
    return {
        name: values[name]
        for name, option in SETTINGS.items()
        if values[name] is not None
        and name not in NOT_PLANNED
        and not (option.kind.is_path and not isinstance(values[name], str | Path))
    }


def _opened(tables: TableOptions) -> dict[str, Table]:
    """The tables that are named, each opened."""
    columns = tables.columns or {}
    return {
        name: Table(getattr(tables, name), name, columns)
        for name, option in declared(TableOptions).items()
        if option.kind.is_path and getattr(tables, name) is not None
    }


def _wanted(tables: TableOptions, pilot: Table | None) -> tuple[MetricAtK, ...]:
    """The metrics named, each once; columns of values where the plan is about such a table."""
    better = tables.better or {}
    is_of_values = bool(better) or tables.values is not None
    if is_of_values:
        wanted = [metric_of_column(name, better, "the values") for name in tables.metrics]
    else:
        wanted = [parse_metric(name) for name in tables.metrics]
    for name in better:
        if name not in tables.metrics:
            raise InputError(f"{spelled('better')}: {unknown_name('metric', name, tables.metrics)}")
    if pilot is not None:
        for metric in wanted:
            if metric.name not in pilot.columns and not metric.metric.pooled:
                unknown = unknown_name("column", metric.name, pilot.columns)
                raise InputError(f"{pilot.where}: {unknown}{pilot.hint}")
    return tuple({metric.name: metric for metric in wanted}.values())


def _spread(
    assumed: PlanOptions, pilot: Table | None, metrics: Sequence[MetricAtK]
) -> dict[str, Spread]:
    """Mean and standard deviation of each metric, as far as they are known."""
    if pilot is None:
        if assumed.sd is None:
            return {}
        return {metric.name: Spread(sd=assumed.sd, mean=assumed.mean) for metric in metrics}
    values = read_columns(pilot, [metric.name for metric in metrics])
    found = {}
    for name, numbers in values.items():
        known = numbers[~np.isnan(numbers)]
        sd = float(known.std(ddof=1)) if len(known) > 1 else 0.0
        if not sd:
            raise InputError(
                f"{pilot.where}: '{plain(name)}' is the same for everyone, so it tells nothing "
                f"about how users differ. Give {spelled('sd')} instead."
            )
        found[name] = Spread(sd=float(f"{sd:.6g}"), mean=float(f"{known.mean():.6g}"))
    return found


def _table(table: Table) -> PlannedTable:
    return PlannedTable(
        file=table.where if table.path else None,
        sha256=checksum(table.path) if table.path else None,
    )


def _attributes(grouping: Grouping) -> dict[str, PlannedAttribute]:
    return {
        name: PlannedAttribute(n_values=about.n_values, values=values_named(about.values))
        for name, about in attribute_summaries(grouping).items()
    }


def _groups(grouping: Grouping, options: AuditOptions) -> tuple[PlannedGroups, ...]:
    lattice = grouping.lattice
    depth = (lattice.codes != ANY).sum(axis=1)
    planned = []
    for name, about in coverage(grouping, options.min_support).by_depth.items():
        n_users = lattice.n_users[depth == int(name)]
        sizes = {}
        if len(n_users):
            sizes = {
                "smallest": int(n_users.min()),
                "median": int(np.median(n_users)),
                "largest": int(n_users.max()),
            }
        planned.append(PlannedGroups(depth=int(name), **about.model_dump(), **sizes))
    return tuple(planned)
