"""Whose lists a mitigation re-ranks, and on whom its strength is tuned."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray, IntArray
from fairrec.core.audit_options import take_smaller_groups
from fairrec.core.errors import InputError, UnknownNameError, plain, unknown_name
from fairrec.core.options import spelled
from fairrec.groups.cells import Cells
from fairrec.groups.group import Group, group_of_users, refuse_empty
from fairrec.groups.grouping import Grouping
from fairrec.inputs.formats import detect_format
from fairrec.inputs.tables import Table
from fairrec.inputs.users import Attribute, Value
from fairrec.metrics.direction import badness, harm
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.split import TargetSplit
from fairrec.result.tables import RESERVED


@dataclass(frozen=True, slots=True)
class WorstRule:
    """The worst served full combinations: a share of those with enough users, or a number."""

    share: float | None = None
    number: int | None = None

    def n_of(self, n_eligible: int) -> int:
        """How many groups that is, at least one."""
        if self.number is not None:
            return min(self.number, n_eligible)
        assert self.share is not None
        return max(1, round(self.share * n_eligible))


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


def worst_cells(harms: FloatArray, rule: WorstRule) -> IntArray:
    """The cells with most harm, worst first."""
    eligible = np.flatnonzero(~np.isnan(harms))
    order = np.argsort(-harms[eligible], kind="stable")
    return eligible[order[: rule.n_of(len(eligible))]]


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
        group = Group.of({name: _as_known(value, known[name]) for name, value in given.items()})
        if not group.conditions:
            raise InputError(f"{table.where}, row {row}: the group has no condition. Fill in one.")
        groups.append(group)
    return list(dict.fromkeys(groups))


def _as_known(value: Value, known: Sequence[Value]) -> Value:
    """A value as the attribute has it: whole numbers with a gap are stored as floats."""
    return next((own for own in known if own == value), value)


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
    groups = find_groups() if plan.groups == "findings" else _named_groups(plan, split)
    is_chosen = group_of_users(groups, split.choosing.attributes) >= 0
    return Choice(tuple(groups), tuple(groups), is_chosen)


def _named_groups(plan: MitigationOptions, split: TargetSplit) -> list[Group]:
    """Groups of a file."""
    groups = read_groups(plan.groups, split.choosing.attributes)
    for part in (split.choosing, split.reported):
        refuse_empty(groups, part.attributes, plain(Path(plan.groups).name))
    return groups


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
    is_first = np.zeros(len(values), dtype=bool)
    is_first[rng.permutation(len(values))[: len(values) // 2]] = True
    is_tuned = np.zeros(len(values), dtype=bool)
    tuned: list[int] = []
    for half in (is_first, ~is_first):
        seen = np.where(half, values, np.nan)
        harm = harm_per_cell(seen, cells, higher_is_better, math.ceil(min_users / 2))
        worst = worst_cells(harm, rule)
        tuned += worst.tolist()
        is_tuned |= ~half & np.isin(cells.of_user, worst)
    worst = worst_cells(harm_per_cell(values, cells, higher_is_better, min_users), rule)
    if not len(worst):
        raise InputError(
            f"No intersection of all attributes has {min_users:,} users with a value to choose by. "
            f"{take_smaller_groups()}, or name fewer attributes in {spelled('by')}."
        )

    return Choice(_named(worst, grouping), _named(sorted(set(tuned)), grouping), is_tuned)


def _named(cells: Iterable[int], grouping: Grouping) -> tuple[Group, ...]:
    codes = grouping.cells.codes
    return tuple(Group.of_codes(codes[:, cell], grouping.attributes) for cell in cells)
