"""Small spaces for searches, worlds for the adaptive one, and the slow, obvious answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairrec.core.arrays import AnyArray, FloatArray
from fairrec.groups.grouping import Grouping
from fairrec.search.evidence import Evidence
from fairrec.search.loop import SearchOutcome, search
from fairrec.search.options import Budget
from fairrec.search.searcher import Task, hyper_parameters
from tests.groups.small_grouping import build_grouping


def space_of(
    codes: Sequence[AnyArray | Sequence[int]],
    n_values: Sequence[int],
    min_users: int = 1,
    depth: int | None = None,
) -> Grouping:
    return build_grouping(codes, n_values, min_users, depth)


def product_space(n_values: Sequence[int], users_each: int = 1, min_users: int = 1) -> Grouping:
    """Every combination, with the same number of users."""
    grid = np.indices(n_values).reshape(len(n_values), -1)
    return space_of(np.repeat(grid, users_each, axis=1), n_values, min_users)


def skewed_space(
    seed: int, n_values: Sequence[int], n_users: int, min_users: int, depth: int | None = None
) -> Grouping:
    """Skewed, so that some combinations have too few users."""
    rng = np.random.default_rng(seed)
    codes = [np.minimum(rng.geometric(0.4, n_users) - 1, n - 1) for n in n_values]
    return space_of(codes, n_values, min_users, depth)


def two_metrics(space: Grouping, seed: int = 0) -> FloatArray:
    """Values with effects of the attributes, one of them 0 or 1, undefined for every fifth user."""
    rng = np.random.default_rng(seed + 100)
    codes = space.cells.codes[:, space.cells.of_user]
    effects = sum(rng.normal(0, 0.5, 9)[column] for column in codes)
    smooth = effects + rng.normal(size=space.n_users)
    rare = (effects + rng.logistic(size=space.n_users) > 1.5).astype(float)
    values = np.stack([smooth, rare])
    values[:, ::5] = np.nan
    return values


def evidence_of(
    space: Grouping, values: AnyArray, seed: int = 0, proxy: FloatArray | None = None
) -> Evidence:
    values = np.atleast_2d(values)
    return Evidence(space, lambda users: values[:, users], len(values), seed, proxy)


def task_for(evidence: Evidence, seed: int = 0, alpha: float = 0.05) -> Task:
    """A search by the first metric."""
    return Task(evidence, [0], alpha, np.random.default_rng(seed))


def users_of(space: Grouping, group: int) -> list[int]:
    """The users of a group of the lattice, one by one."""
    wanted = space.lattice.codes[group].tolist()
    codes = space.cells.codes[:, space.cells.of_user].T.tolist()
    return [
        user
        for user, own in enumerate(codes)
        if all(code in (-1, has) for code, has in zip(wanted, own, strict=True))
    ]


def group_means(
    space: Grouping, values: FloatArray, min_share: float = 0.0
) -> dict[tuple[int, ...], float]:
    """The value of each eligible full intersection that has one, user by user."""
    users: dict[tuple[int, ...], list[float]] = {}
    for user, cell in enumerate(space.cells.of_user.tolist()):
        users.setdefault(tuple(space.cells.codes[:, cell].tolist()), []).append(values[user])
    means = {}
    for codes, own in users.items():
        defined = [value for value in own if not np.isnan(value)]
        is_large = len(own) >= space.min_users and len(own) / space.n_users >= min_share - 1e-12
        if is_large and len(defined) >= space.min_users:
            means[codes] = sum(defined) / len(defined)
    return means


def exact_gap(space: Grouping, values: FloatArray, min_share: float = 0.0) -> float:
    means = list(group_means(space, values, min_share).values())
    return max(means) - min(means) if means else 0.0


def gap_found(outcome: SearchOutcome, metric: int = 0) -> float:
    return outcome.history[-1].gaps[metric] if outcome.history else 0.0


def adapt(
    space,
    values,
    seed=0,
    users=None,
    n_reference=0,
    proxy=None,
    alpha=0.05,
    advance=lambda users: None,
    **given,
):
    evidence = evidence_of(space, values, seed, proxy)
    hyper = hyper_parameters("adaptive", given)
    settings = {"budget": Budget(users=users), "n_reference": n_reference, "alpha": alpha}
    return search("adaptive", evidence, hyper, seed=seed, advance=advance, **settings)


def bound(outcome):
    return outcome.searchers[0].may_be_larger_by()


def small_world(seed, kind, depth=None):
    """Some attributes matter and some do not; values are normal, or mostly 0 and else 1."""
    rng = np.random.default_rng(seed)
    space = skewed_space(seed, (2, 4, 6), 400, 4, depth)
    effects = rng.normal(0, 0.1, len(space.cells))[space.cells.of_user]
    for column in space.cells.codes[:, space.cells.of_user]:
        effects += rng.normal(0, rng.choice([0.0, 0.1, 0.4]), 6)[column]
    if kind == "normal":
        return space, effects + rng.normal(0, 0.5, 400)
    return space, (2 * effects + rng.logistic(size=400) > 2.2).astype(float)


def large_gap_world():
    """Two of 100 groups of 20 stand out far, one at each end."""
    space = product_space((10, 10), users_each=20, min_users=10)
    values = 0.1 * np.random.default_rng(0).normal(size=space.n_users)
    values[space.cells.of_user == 35] += 2
    values[space.cells.of_user == 72] -= 2
    return space, values
