"""Which groups a mitigation re-ranks: by a rule, from a file, or those an audit finds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from fairrec.core.arrays import FloatArray
from fairrec.core.audit_options import AuditOptions
from fairrec.core.errors import InputError, plain
from fairrec.core.progress import Progress
from fairrec.groups.cells import cells_by
from fairrec.groups.group import Group
from fairrec.groups.membership import group_of_users, refuse_empty
from fairrec.mitigation.choice import Choice, best_served, choose_worst, parse_worst, read_groups
from fairrec.mitigation.options import MitigationOptions
from fairrec.mitigation.split import Split
from fairrec.workflows.audit import audit_inputs


def choose_groups(
    plan: MitigationOptions, split: Split, values: FloatArray, options: AuditOptions, told: Progress
) -> Choice:
    """Groups by the rule, and those served best where they may be lowered.

    Parameters
    ----------
    values : (n_users,), the target metric of the users to choose by
    """
    inputs, higher_is_better = split.choosing, plan.target.metric.higher_is_better
    min_users = options.min_users(inputs.n_users)
    cells = cells_by(inputs.attributes)
    worst = parse_worst(plan.groups) if isinstance(plan.groups, str) else None
    if worst is not None:
        rng = np.random.default_rng(options.seed)
        about = (cells, inputs.attributes, higher_is_better, min_users)
        choice = choose_worst(values, *about, worst, rng)
    else:
        groups = (
            _found_groups(plan, split, options, told)
            if plan.groups == "findings"
            else _named_groups(plan, split)
        )
        is_chosen = group_of_users(groups, inputs.attributes) >= 0
        choice = Choice(tuple(groups), (), tuple(groups), is_chosen)
    if not plan.allow_level_down:
        return choice
    assert higher_is_better is not None
    # among those nobody raises; a group of a file may hold several full combinations
    is_raised = group_of_users(choice.groups, inputs.attributes) >= 0
    others = np.where(is_raised, np.nan, values)
    n_groups = len(choice.groups)
    best = best_served(others, cells, inputs.attributes, higher_is_better, min_users, n_groups)
    return replace(choice, lowered=best)


def _named_groups(plan: MitigationOptions, split: Split) -> list[Group]:
    """Groups of a file."""
    groups = read_groups(plan.groups, split.choosing.attributes)
    for part in (split.choosing, split.reported):
        refuse_empty(groups, part.attributes, plain(Path(plan.groups).name))
    return groups


def _found_groups(
    plan: MitigationOptions, split: Split, options: AuditOptions, told: Progress
) -> list[Group]:
    """Findings that are served worse than the rest."""
    if not options.permutations:
        raise InputError("--groups findings needs tests against chance: --permutations 1000")
    findings = audit_inputs(split.choosing, options, told=told).findings(plan.target.name)
    sign = {True: -1.0, False: 1.0, None: 0.0}[plan.target.metric.higher_is_better]
    worse = [Group.of(f.group) for f in findings if f.difference * sign >= 0]
    if not worse:
        raise InputError(
            f"No group is served worse than the rest by more than chance in {plan.target.name}, on "
            "the targets to choose by, so there is nothing to mitigate. To re-rank the worst ones "
            "all the same: --groups worst:10%"
        )
    return worse
