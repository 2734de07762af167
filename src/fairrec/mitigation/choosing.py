"""What is chosen by, what is held out, and what is chosen: groups, and a strength for them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.audit_options import take_smaller_groups
from fairrec.core.errors import InputError, UnknownNameError, plain, unknown_name
from fairrec.core.options import spell
from fairrec.core.progress import Progress
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
from fairrec.metrics.measured import measure_everyone
from fairrec.metrics.reading import read_inputs
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.result import CHANGE_COLUMNS, predictions_table
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
    # who is missing is divided too, or each half would seem to lack the users of both
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
    """How many targets are both chosen by and reported on, so not held out; with halves none."""
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
    """All metrics to report: those asked for, the target, and NDCG where relevance is known."""
    k, is_recommended = plan.k, tables.test is not None
    has_labels = is_recommended or all(
        tables.relevant is not None or Table(table, "predictions", tables.columns).find("label")
        for table in (predictions, validation)
        if table is not None
    )
    target, cost = plan.target.name, [plan.cost_name] if has_labels else []
    if tables.metrics is not None:
        return [*tables.metrics, target, *cost]
    by_default = {
        "auc": has_labels and not is_recommended,
        f"mrr@{k}": has_labels,
        f"urd@{k}": tables.items is not None,
        f"urp@{k}": tables.history is not None,
        f"urp_abs@{k}": tables.history is not None,
    }
    return [target, *(name for name, is_known in by_default.items() if is_known), *cost]


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
        # a table of groups that an audit wrote is welcome
        if column not in named.values() and column not in RESERVED:
            raise UnknownNameError(f"{table.where}: {unknown_name('attribute', column, known)}")
    groups = []
    rows = table.read(named, labels=[*named]).fill_nan(None).iter_rows(named=True)
    for at, row in enumerate(rows, start=1):
        # as the attribute has it: whole numbers with a gap are stored as floats
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
    each half of the users says which groups are the worst, and the other half's users of these
    groups are those to tune on: they did not take part in the choice of their group.

    Parameters
    ----------
    values : (n_users,), the target metric
    """
    cells, min_users = grouping.cells, grouping.min_users

    def worst_cells(seen: FloatArray, least: float) -> IntArray:
        harms = harm_per_cell(seen, cells, higher_is_better, least)
        eligible = np.flatnonzero(~np.isnan(harms))
        order = np.argsort(-harms[eligible], kind="stable")
        return eligible[order[: count_worst(rule, len(eligible))]]

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


@dataclass(frozen=True, slots=True)
class Measures:
    """All metrics of a mitigation.

    Parameters
    ----------
    target : position of the one to improve
    cost : position of the accuracy that a strength must not cost; None where there are no labels
    """

    metrics: tuple[MetricAtK, ...]
    target: int
    cost: int | None
    threads: int

    @staticmethod
    def of(metrics: tuple[MetricAtK, ...], plan: MitigationOptions, threads: int) -> Measures:
        """The metrics with the places of the two that a mitigation weighs."""
        names = [metric.name for metric in metrics]
        at = names.index(plan.cost_name) if plan.cost_name in names else None
        return Measures(metrics, names.index(plan.target.name), at, threads)

    @property
    def directions(self) -> dict[str, bool | None]:
        """Name -> whether higher is better, None where neither end is."""
        return {metric.name: metric.metric.higher_is_better for metric in self.metrics}

    @property
    def cost_name(self) -> str | None:
        """The accuracy that a strength must not cost."""
        return None if self.cost is None else self.metrics[self.cost].name

    def values(self, inputs: AuditInputs) -> FloatArray:
        """(n_metrics, n_users), NaN where undefined."""
        return measure_everyone(inputs, self.metrics, self.threads).values

    def at_strengths(
        self,
        rescore: Callable[[float], FloatArray],
        inputs: AuditInputs,
        strengths: Sequence[float],
        progress: Progress,
    ) -> FloatArray:
        """(n_strengths, 2, n_users), target and cost; a cost of NaN where there are no labels."""
        wanted = [self.target, *([] if self.cost is None else [self.cost])]
        metrics = [self.metrics[at] for at in wanted]
        measured = np.full((len(strengths), 2, inputs.n_users), np.nan)
        for at, strength in enumerate(strengths):
            progress("tuning the strength", at, len(strengths))
            reranked = inputs.with_scores(rescore(strength))
            measured[at, : len(metrics)] = measure_everyone(reranked, metrics, self.threads).values
        return measured


STRENGTHS = tuple(round(0.05 * step, 2) for step in range(21))
FINER = tuple(round(0.01 * step, 2) for step in range(1, 5))
"""Between two of these."""
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Aim:
    """The target metric as something to bring up or down.

    Where neither end of a metric is better, that is how far a group's mean is from the mean of
    all others.

    Parameters
    ----------
    higher_is_better : of the values the aim gives
    rest : mean over the users outside the chosen groups
    rest_error : its standard error
    is_distance : whether neither end of the metric is better
    side_of_group : 1 for groups above the others, -1 for those below; None: by the values at hand.
        A mean of 0 that is measured with noise lies on some side, and the less noise there is the
        nearer, so that whoever wants to know what became of a distance must know the side before
    """

    higher_is_better: bool
    rest: float
    rest_error: float = 0.0
    is_distance: bool = False
    side_of_group: FloatArray | None = None

    def values(self, metric: FloatArray, group_of_user: IntArray) -> FloatArray:
        """(n_users,), NaN outside the groups.

        Distances are positive on the side of their group, so that their mean over a group is the
        distance of its mean.
        """
        is_chosen = group_of_user >= 0
        if not self.is_distance:
            return np.where(is_chosen, metric, np.nan)
        side = self.side_of_group
        if side is None:
            side = self.sides(metric, group_of_user, int(group_of_user.max(initial=-1)) + 1)
        of_user = np.append(side, np.nan)[np.where(is_chosen, group_of_user, -1)]
        return of_user * (metric - self.rest)

    def sides(self, metric: FloatArray, group_of_user: IntArray, n_groups: int) -> FloatArray:
        """(n_groups,), 1 where the mean of a group is above that of the others, or -1."""
        known = (group_of_user >= 0) & ~np.isnan(metric)
        away = metric[known] - self.rest
        total = np.bincount(group_of_user[known], away, minlength=n_groups)
        return np.where(total < 0, -1.0, 1.0)

    def level(self, metric: FloatArray, group_of_user: IntArray) -> float:
        """The mean over the users of the groups; NaN where undefined."""
        return mean_or_nan(self.values(metric, group_of_user))

    def error(self, metric: FloatArray, group_of_user: IntArray) -> float:
        """The standard error of the difference between the groups and the others."""
        return math.hypot(error_of_mean(self.values(metric, group_of_user)), self.rest_error)


def make_aim(target: MetricAtK, values: FloatArray, group_of_user: IntArray) -> Aim:
    """What to bring up or down, and what the users outside the groups have.

    Parameters
    ----------
    values : (n_users,), the target metric
    """
    others = values[group_of_user < 0]
    rest = mean_or_nan(others)
    higher_is_better = target.metric.higher_is_better
    if higher_is_better is None and np.isnan(rest):
        raise InputError(
            f"Nobody with a value of {target.name} is outside the chosen groups, so there is "
            f"nothing to bring them near to. Choose fewer: {spell('groups', 'worst:10%')}"
        )
    return Aim(bool(higher_is_better), rest, error_of_mean(others), higher_is_better is None)


class AtStrength(NamedTuple):
    """Target and cost of some users at one strength; NaN where undefined.

    Parameters
    ----------
    error : standard error of the difference in the target between the groups and the others
    """

    target: float
    cost: float
    error: float


Levels = dict[float, AtStrength]
"""By strength, the smallest first."""


def measure_levels(
    measured: FloatArray, strengths: Sequence[float], aim: Aim, group_of_user: IntArray
) -> Levels:
    """Levels of the users of the groups.

    Parameters
    ----------
    measured : (n_strengths, 2, n_users), the target metric and the cost metric
    """
    is_mine = group_of_user >= 0
    return {
        strength: AtStrength(
            aim.level(target, group_of_user),
            mean_or_nan(cost[is_mine]),
            aim.error(target, group_of_user),
        )
        for strength, (target, cost) in zip(strengths, measured, strict=True)
    }


def mean_or_nan(values: FloatArray) -> float:
    """The mean of what is defined; NaN where nothing is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


def error_of_mean(values: FloatArray) -> float:
    """The standard error of the mean of what is defined; NaN below two."""
    known = values[~np.isnan(values)]
    return float(known.std(ddof=1)) / math.sqrt(len(known)) if len(known) > 1 else math.nan


def tune_strength(
    plan: MitigationOptions,
    aim: Aim,
    cost: str | None,
    levels_at: Callable[[Sequence[float]], Levels],
) -> tuple[float, Levels]:
    """The strength that is asked for or the best one, and what it and those of a grid do.

    Parameters
    ----------
    cost : the cost metric; None where it could not be measured
    levels_at : what strengths do to the users to tune on
    """
    if plan.strength != "auto":
        strength = float(plan.strength)
        return strength, levels_at(sorted({*STRENGTHS, strength}))
    if cost is None:
        raise InputError(
            f"{spell('strength', 'auto')} weighs the metric against NDCG, which needs labels. "
            "Give tables with a label column, validation targets too, or a "
            f"{spell('strength')} from 0 to 1."
        )
    levels = levels_at(STRENGTHS)
    if not aim.is_distance:
        near = best_strength(levels, aim, plan.max_loss)
        # one may do better: a weaker one where it levels, else a stronger one
        sign = -1 if is_level(levels, aim, near) else 1
        finer = [round(near + sign * step, 2) for step in FINER]
        levels |= levels_at([one for one in finer if 0 < one < 1])
    strength = best_strength(levels, aim, plan.max_loss)
    return strength, {one: levels[one] for one in sorted({*STRENGTHS, strength})}


def best_strength(levels: Levels, aim: Aim, max_loss: float) -> float:
    """The strength that brings the groups level with the others, among those that cost little.

    Level is a difference of at most one standard error: of several strengths the smallest that
    reaches it (the one-standard-error rule), since a difference of 0 where it is tuned is one of
    several errors on other targets, as often ahead of the others as behind. Where none is level,
    the best one that does not put the groups ahead; 0 where none helps. Where neither end of the
    metric is better, the smallest distance. Of equal ones the smallest.

    Parameters
    ----------
    max_loss : relative loss of the cost metric against strength 0, which comes first
    """
    strengths = sorted(levels)
    target, cost, error = np.array([levels[one] for one in strengths]).T
    gain = -harm(target - target[0], aim.higher_is_better)
    is_allowed = ~(cost < (1 - max_loss) * cost[0])
    if not aim.is_distance:
        behind = harm(target - aim.rest, aim.higher_is_better)
        is_allowed &= ~(behind < -ROUNDING)
        is_allowed[0] = True
        is_near = is_allowed & (behind <= error)
        if is_near.any():
            return strengths[int(np.argmax(is_near))]
    gain = np.where(is_allowed & ~np.isnan(gain), gain, -np.inf)
    gain[0] = 0.0
    return strengths[int(np.argmax(np.round(gain, 12)))]


def is_level(levels: Levels, aim: Aim, strength: float) -> bool:
    """Whether the groups are behind the others by one standard error at most; never a distance."""
    behind = harm(levels[strength].target - aim.rest, aim.higher_is_better)
    return not aim.is_distance and bool(behind <= levels[strength].error)
