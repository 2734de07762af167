"""What is chosen by and what is held out, and whose lists are re-ranked."""

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
from fairrec.metrics.parsing import DEFAULT_K
from fairrec.metrics.reading import read_inputs
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.result import CHANGE_COLUMNS, predictions_table
from fairrec.mitigation.tuning import cost_name
from fairrec.result.tables import RESERVED


@dataclass(frozen=True, slots=True)
class TargetSplit:
    """Who is chosen by, who is held out to report on, and all lists to re-rank in the end."""

    choosing: AuditInputs
    reported: AuditInputs
    everyone: AuditInputs
    protocol: Literal["validation targets", "halves of the users"]
    metrics: tuple[MetricAtK, ...]

    @property
    def per_user_metrics(self) -> tuple[MetricAtK, ...]:
        """Those that are means over users."""
        return tuple(metric for metric in self.metrics if not metric.metric.pooled)


def read_split(
    predictions: Any,
    validation: Any,
    tables: TableOptions,
    seed: int,
    max_memory: int | None = None,
) -> TargetSplit:
    """Read all tables, and say who is chosen by and who is held out to report on."""
    settings: dict[str, Any] = {
        "given": tables,
        "wants": ("items", "history"),
        "reserved": (*RESERVED, *CHANGE_COLUMNS),
        "max_memory": max_memory,
    }
    if tables.test is not None and validation is not None:
        raise InputError(
            f"{spell('validation')} holds candidates with labels, and {spell('test')} what was "
            f"held out for recommendations: one of them only. Without {spell('validation')}, "
            "half of the users are chosen by and the other half reported on."
        )
    everyone, wanted = read_inputs(predictions, **settings)
    if validation is not None:
        choosing, _ = read_inputs(validation, **settings)
        for one, other in zip(choosing.attributes, everyone.attributes, strict=True):
            if one.binning and "quantiles" in one.binning and one.values != other.values:
                raise InputError(
                    f"Attribute '{plain(one.name)}' falls into other quantiles for the users with "
                    "validation targets. Bin it by width (age:10), or give the same users in both."
                )
        return TargetSplit(choosing, everyone, everyone, "validation targets", wanted)
    rng = np.random.default_rng(seed)
    order, absent = rng.permutation(everyone.n_users), rng.permutation(everyone.absent)
    middle, of_absent = len(order) // 2, len(absent) // 2
    # who is missing is divided too, or each half would seem to lack the users of both
    choosing, reported = (
        replace(everyone.for_users(np.sort(half)), absent=np.sort(without))
        for half, without in (
            (order[:middle], absent[:of_absent]),
            (order[middle:], absent[of_absent:]),
        )
    )
    return TargetSplit(choosing, reported, everyone, "halves of the users", wanted)


def n_shared_targets(choosing: AuditInputs, reported: AuditInputs) -> int:
    """How many targets are both chosen by and reported on, so not held out; with halves none."""
    keys = ["user_id", "item_id"]
    targets = [
        predictions_table(part, part.candidates.scores)
        .filter(pl.col("label") > 0)
        .select(pl.col(keys).cast(pl.String))
        for part in (choosing, reported)
        if part.candidates.labels is not None
    ]
    return targets[0].join(targets[1], on=keys, how="semi").height if len(targets) == 2 else 0


def metric_names(
    plan: MitigationOptions, tables: TableOptions, predictions: Any, validation: Any
) -> list[str]:
    """All metrics to report: those asked for, the target, and NDCG where relevance is known."""
    k = plan.target.k or DEFAULT_K
    given = [predictions, *([] if validation is None else [validation])]
    is_recommended = tables.test is not None
    has_labels = is_recommended or all(
        tables.relevant is not None or Table(table, "predictions", tables.columns).find("label")
        for table in given
    )
    if tables.metrics is None:
        names = [plan.target.name]
        names += ["auc"] if has_labels and not is_recommended else []
        names += [f"mrr@{k}"] if has_labels else []
        names += [f"urd@{k}"] if tables.items is not None else []
        names += [f"urp@{k}", f"urp_abs@{k}"] if tables.history is not None else []
    else:
        names = [*tables.metrics, plan.target.name]
    return [*names, cost_name(plan)] if has_labels else names


@dataclass(frozen=True, slots=True)
class WorstRule:
    """The worst served full combinations: a share of those with enough users, or a number."""

    share: float | None = None
    number: int | None = None

    def worst_cells(self, harms: FloatArray) -> IntArray:
        """The cells with most harm, worst first; those of NaN are not looked at."""
        eligible = np.flatnonzero(~np.isnan(harms))
        order = np.argsort(-harms[eligible], kind="stable")
        n = self.number or max(1, round((self.share or 0) * len(eligible)))
        return eligible[order[:n]]


def parse_worst(text: str) -> WorstRule | None:
    """`worst:10%` or `worst:5`; None for anything else; ValueError for another `worst...`.

    >>> parse_worst("worst:10%"), parse_worst("findings")
    (WorstRule(share=0.1, number=None), None)
    """
    if not text.startswith("worst") or detect_format(Path(text)):
        return None
    share = re.fullmatch(r"worst:(\d+(?:\.\d+)?)%", text)
    if share and 0 < float(share[1]) <= 100:
        return WorstRule(share=float(share[1]) / 100)
    number = re.fullmatch(r"worst:(\d{1,9})", text)
    if number and int(number[1]) > 0:
        return WorstRule(number=int(number[1]))
    raise ValueError(text)


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
    named = {
        attribute.name: column
        for attribute in attributes
        if (column := table.attribute_column(attribute.name)) is not None
    }
    if not named:
        raise InputError(
            f"{table.where}: no column is an attribute of this audit "
            f"({', '.join(plain(a.name) for a in attributes)}). Give one row per group with a "
            "column for each attribute, empty where any value will do."
        )
    known = {attribute.name: attribute.values for attribute in attributes}
    for column in table.columns:
        # a table of groups that an audit wrote is welcome
        if column not in named.values() and column not in RESERVED:
            raise UnknownNameError(f"{table.where}: {unknown_name('attribute', column, known)}")
    frame = table.read(named, labels=list(named)).fill_nan(None)
    groups = []
    for row, values in enumerate(frame.iter_rows(named=True), start=1):
        given = {name: value for name, value in values.items() if value not in (None, "")}
        if not given:
            raise InputError(f"{table.where}, row {row}: the group has no condition. Fill in one.")
        # as the attribute has it: whole numbers with a gap are stored as floats
        same = {
            name: next((own for own in known[name] if own == value), value)
            for name, value in given.items()
        }
        groups.append(Group.of(same))
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

    @property
    def learned_groups(self) -> tuple[Group, ...]:
        """Those to re-rank, then those that only the tuning needs."""
        extra = tuple(group for group in self.tuned_groups if group not in self.groups)
        return (*self.groups, *extra)


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
    worst = parse_worst(plan.groups) if isinstance(plan.groups, str) else None
    if worst is not None:
        rng = np.random.default_rng(seed)
        return choose_worst(values, grouping, plan.target.metric.higher_is_better, worst, rng)
    if plan.groups == "findings":
        groups = find_groups()
    else:
        groups = read_groups(plan.groups, split.choosing.attributes)
        for part in (split.choosing, split.reported):
            refuse_empty(groups, part.attributes, plain(Path(plan.groups).name))
    is_chosen = group_of_users(groups, split.choosing.attributes) >= 0
    return Choice(tuple(groups), tuple(groups), is_chosen)


def choose_worst(
    values: FloatArray,
    grouping: Grouping,
    higher_is_better: bool | None,
    rule: WorstRule,
    rng: np.random.Generator,
) -> Choice:
    """The worst served intersections of all attributes.

    Groups that are the worst by some values look better by others on their own. So for the tuning
    each half of the users says which groups are the worst, and the other half's users of these
    groups are those to tune on: they did not take part in the choice of their group.

    Parameters
    ----------
    values : (n_users,), the target metric
    """
    cells, min_users = grouping.cells, grouping.min_users

    def worst_cells(seen: FloatArray, least: float) -> IntArray:
        return rule.worst_cells(harm_per_cell(seen, cells, higher_is_better, least))

    def named(chosen: Iterable[int]) -> tuple[Group, ...]:
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
    return Choice(named(worst), named(sorted(tuned)), is_tuned)
