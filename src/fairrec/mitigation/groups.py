"""Whose lists a mitigation re-ranks, and on whom its strength is tuned."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fairrec.core.arrays import BoolArray, FloatArray
from fairrec.core.audit_options import take_smaller_groups
from fairrec.core.errors import InputError, plain
from fairrec.core.options import spelled
from fairrec.groups.group import Group
from fairrec.groups.grouping import Grouping
from fairrec.groups.membership import group_of_users, refuse_empty
from fairrec.mitigation.group_file import read_groups
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.split import TargetSplit
from fairrec.mitigation.worst import WorstRule, harm_per_cell, parse_worst, worst_cells


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
