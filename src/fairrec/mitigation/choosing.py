"""The split into targets to choose by and held-out targets, and the choice of groups."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.audit_options import take_smaller_groups
from fairrec.core.errors import InputError, UnknownNameError, plain, unknown_name
from fairrec.core.options import spell
from fairrec.groups.cells import Cells
from fairrec.groups.group import Group, group_of_users, refuse_empty
from fairrec.groups.grouping import Grouping
from fairrec.inputs.audit_inputs import AuditInputs
from fairrec.inputs.formats import detect_format
from fairrec.inputs.table_options import TableOptions
from fairrec.inputs.tables import Table
from fairrec.inputs.users import Attribute
from fairrec.metrics import MetricAtK
from fairrec.metrics.direction import badness, harm
from fairrec.metrics.reading import read_inputs
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.result import CHANGE_COLUMNS, predictions_table
from fairrec.result.tables import RESERVED


@dataclass(frozen=True, slots=True)
class TargetSplit:
    """Users and targets to choose by, those held out to report on, and all lists to re-rank."""

    choosing: AuditInputs
    reported: AuditInputs
    everyone: AuditInputs
    protocol: Literal["validation targets", "halves of the users"]
    metrics: tuple[MetricAtK, ...]


def read_split(
    predictions: Any,
    validation: Any,
    tables: TableOptions,
    seed: int,
    max_memory: int | None = None,
) -> TargetSplit:
    """Read all tables and split them: by their targets, or else the users into two halves."""
    settings: dict[str, Any] = {
        "given": tables,
        "wants": ("items", "history"),
        "reserved": (*RESERVED, *CHANGE_COLUMNS),
        "max_memory": max_memory,
    }
    if tables.test is not None and validation is not None:
        raise InputError(
            f"{spell('validation')} holds candidates with labels, {spell('test')} the held-out "
            f"items of recommendations. Give one of them. Without {spell('validation')}, groups "
            "are chosen on one half of the users and the effect is reported on the other half."
        )
    everyone, wanted = read_inputs(predictions, **settings)
    if validation is not None:
        choosing, _ = read_inputs(validation, **settings)
        return TargetSplit(choosing, everyone, everyone, "validation targets", wanted)
    rng = np.random.default_rng(seed)
    # users without a list are divided too, or each half would seem to lack those of both
    listed, absent = (
        np.array_split(order, [len(order) // 2])
        for order in (rng.permutation(everyone.n_users), rng.permutation(everyone.absent))
    )
    choosing, reported = (
        replace(everyone.for_users(np.sort(half)), absent=np.sort(without))
        for half, without in zip(listed, absent, strict=True)
    )
    return TargetSplit(choosing, reported, everyone, "halves of the users", wanted)


def n_shared_targets(split: TargetSplit) -> int:
    """The number of targets both chosen by and reported on, so not held out; 0 with halves."""
    keys = ["user_id", "item_id"]
    targets = [
        predictions_table(part, part.candidates.scores)
        .filter(pl.col("label") > 0)
        .select(pl.col(keys).cast(pl.String))
        for part in (split.choosing, split.reported)
        if part.candidates.labels is not None
    ]
    return targets[0].join(targets[1], on=keys, how="semi").height if len(targets) == 2 else 0


def metric_names(
    plan: MitigationOptions, tables: TableOptions, predictions: Any, validation: Any
) -> list[str]:
    """All metrics to report: those of the options, the target, and NDCG where there are labels."""
    k, is_recommended = plan.k, tables.test is not None
    has_labels = is_recommended or all(
        tables.relevant is not None or Table(table, "predictions", tables.columns).find("label")
        for table in (predictions, validation)
        if table is not None
    )
    known = {
        "auc": has_labels and not is_recommended,
        f"mrr@{k}": has_labels,
        f"urd@{k}": tables.items is not None,
        f"urp@{k}": tables.history is not None,
        f"urp_abs@{k}": tables.history is not None,
    }
    target, cost = plan.target.name, [plan.cost_name] if has_labels else []
    by_default = [target, *(name for name in known if known[name])]
    names = by_default if tables.metrics is None else [*tables.metrics, target]
    return list(dict.fromkeys([*names, *cost]))


def is_worst_rule(text: str) -> bool:
    """Whether it is `worst:10%` or `worst:5`; ValueError for another `worst...`.

    >>> is_worst_rule("worst:10%"), is_worst_rule("findings")
    (True, False)
    """
    if not text.startswith("worst") or detect_format(Path(text)):
        return False
    return count_worst(text, 1) > 0


def count_worst(rule: str, n_groups: int) -> int:
    """How many of some groups a rule takes, at least one.

    >>> count_worst("worst:10%", 152), count_worst("worst:5", 152)
    (15, 5)
    """
    found = re.fullmatch(r"worst:(\d{1,9}(?:\.\d+)?)(%?)", rule)
    if found and found[2] and 0 < (share := float(found[1]) / 100) <= 1:
        return max(1, round(share * n_groups))
    if found and not found[2] and found[1].isdigit() and int(found[1]):
        return int(found[1])
    raise ValueError(rule)


def harm_per_cell(
    values: FloatArray, cells: Cells, higher_is_better: bool | None, min_users: float
) -> FloatArray:
    """(n_cells,), how badly each intersection is served; NaN with too few defined values.

    Where neither end is better, how far its mean is from the mean of everyone else.
    """
    is_defined = ~np.isnan(values)
    known = np.where(is_defined, values, 0.0)
    n, total = cells.sums(is_defined), cells.sums(known)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / n
        others = (total.sum() - total) / (n.sum() - n)
    is_distance = higher_is_better is None
    worse = harm(mean - others, None) if is_distance else badness(mean, higher_is_better)
    return np.where(n >= max(1, min_users), worse, np.nan)


def read_groups(path: str | Path, attributes: Sequence[Attribute]) -> list[Group]:
    """Groups from a table with a column for each attribute; an empty cell stands for any value."""
    table = Table(path, "groups")
    known = {attribute.name: attribute.values for attribute in attributes}
    named = {name: column for name in known if (column := table.attribute_column(name)) is not None}
    if not named:
        raise InputError(
            f"{table.where}: no column is an attribute of this audit "
            f"({', '.join(map(plain, known))}). Give one row per group with a column for each "
            "attribute, empty where any value will do."
        )
    for column in table.columns:
        # the table of groups of an audit has columns of results beside the attributes
        if column not in named.values() and column not in RESERVED:
            raise UnknownNameError(f"{table.where}: {unknown_name('attribute', column, known)}")
    groups = []
    rows = table.read(named, labels=[*named]).fill_nan(None).iter_rows(named=True)
    for at, row in enumerate(rows, start=1):
        # the attribute's own value: whole numbers with a gap are stored as floats
        conditions = {
            name: next((own for own in known[name] if own == value), value)
            for name, value in row.items()
            if value not in (None, "")
        }
        if not conditions:
            raise InputError(f"{table.where}, row {at}: the group has no condition. Fill in one.")
        groups.append(Group.of(conditions))
    return list(dict.fromkeys(groups))


@dataclass(frozen=True, slots=True)
class Choice:
    """The groups, and on whom the strength is tuned.

    Parameters
    ----------
    groups : whose lists are re-ranked
    tuned_groups : groups of the users to tune on
    is_tuned : (n_users,), users to tune on
    """

    groups: tuple[Group, ...]
    tuned_groups: tuple[Group, ...]
    is_tuned: BoolArray


def choose_groups(
    plan: MitigationOptions,
    split: TargetSplit,
    values: FloatArray,
    grouping: Grouping,
    seed: int,
    find_groups: Callable[[], Sequence[Group]],
) -> Choice:
    """Groups by the rule.

    Parameters
    ----------
    values : (n_users,), the target metric of the users to choose by
    grouping : of the users to choose by
    find_groups : the groups an audit of the users to choose by finds, for the rule "findings"
    """
    rule = plan.groups
    if isinstance(rule, str) and is_worst_rule(rule):
        rng = np.random.default_rng(seed)
        return choose_worst(values, grouping, plan.target.metric.higher_is_better, rule, rng)
    if rule == "findings":
        groups = find_groups()
    else:
        groups = read_groups(rule, split.choosing.attributes)
        for part in (split.choosing, split.reported):
            refuse_empty(groups, part.attributes, plain(Path(rule).name))
    is_chosen = group_of_users(groups, split.choosing.attributes) >= 0
    return Choice(tuple(groups), tuple(groups), is_chosen)


def choose_worst(
    values: FloatArray,
    grouping: Grouping,
    higher_is_better: bool | None,
    rule: str,
    rng: np.random.Generator,
) -> Choice:
    """The worst served intersections of all attributes, by the rule `worst:5` or `worst:10%`.

    Groups that are the worst by some values look better by others on their own. So for the tuning
    each half of the users selects the worst groups, and the other half's users of these groups are
    those to tune on: they did not take part in the choice of their group.

    Parameters
    ----------
    values : (n_users,), the target metric
    """
    cells, min_users = grouping.cells, grouping.min_users

    def worst_cells(known: FloatArray, least: float) -> IntArray:
        harms = harm_per_cell(known, cells, higher_is_better, least)
        eligible = np.flatnonzero(~np.isnan(harms))
        order = np.argsort(-harms[eligible], kind="stable")
        return eligible[order[: count_worst(rule, len(eligible))]]

    def name_groups(chosen: Iterable[int]) -> tuple[Group, ...]:
        return tuple(Group.of_codes(cells.codes[:, one], grouping.attributes) for one in chosen)

    is_first = np.zeros(len(values), dtype=bool)
    is_first[rng.permutation(len(values))[: len(values) // 2]] = True
    is_tuned = np.zeros(len(values), dtype=bool)
    tuned: set[int] = set()
    for half in (is_first, ~is_first):
        worst = worst_cells(np.where(half, values, np.nan), math.ceil(min_users / 2))
        tuned.update(worst.tolist())
        is_tuned |= ~half & np.isin(cells.of_user, worst)
    worst = worst_cells(values, min_users)
    if not len(worst):
        raise InputError(
            f"No intersection of all attributes has {min_users:,} users with a value to choose by. "
            f"{take_smaller_groups()}, or name fewer attributes in {spell('by')}."
        )
    return Choice(name_groups(worst), name_groups(sorted(tuned)), is_tuned)
