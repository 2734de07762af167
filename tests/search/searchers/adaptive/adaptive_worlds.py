"""Worlds for the adaptive search, and a search of one."""

from __future__ import annotations

import numpy as np

from fairrec.search.loop import search
from fairrec.search.options import Budget
from fairrec.search.searcher import hyper_parameters
from tests.search.search_worlds import evidence_of, product_space, skewed_space


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
