"""Groups with the mean of all others and another spread: nobody is worse, so nobody is named."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.statistics.lists import measured_lists, random_lists
from benchmarks.statistics.rates import Claim
from benchmarks.statistics.said import is_shown_worse, names_any
from benchmarks.statistics.study import Outcome, Study, happened
from benchmarks.statistics.world import (
    Draw,
    World,
    audited,
    one_group,
    outcome_position,
    random_codes,
)
from fairrec.search.options import Search

N_USERS, N_GROUP = 1000, 30
NAMED, SHOWN = "any group named", "the group is shown worse"


def wider_spread(
    rng: np.random.Generator, times: float, n_users: int = N_USERS, n_group: int = N_GROUP
) -> World:
    """Normal values, in one group with so many times the spread; two more attributes."""
    is_member = one_group(n_users, n_group)
    values = rng.normal(size=n_users) * np.where(is_member, times, 1.0)
    return World([~is_member, *random_codes(rng, n_users, 3, 4)], values[None])


def auc_of_unequal_positives(
    rng: np.random.Generator,
    in_group: int = 1,
    elsewhere: int = 30,
    lift: float = 0.0,
    harm: float = 0.0,
    others: tuple[int, ...] = (3, 4),
) -> World:
    """The AUC of lists of 60, with other numbers of positives in a group than elsewhere.

    Parameters
    ----------
    lift : how much higher the scores of positives are, in standard deviations; at 0 the AUC is
        as often below 1/2 as above
    harm : how much less that is in the group
    others : numbers of values of further attributes
    """
    is_member = one_group(N_USERS, N_GROUP)
    lists = random_lists(
        rng,
        n_candidates=np.full(N_USERS, 60),
        n_positives=np.where(is_member, in_group, elsewhere),
        lift=lift - harm * is_member,
    )
    codes = [~is_member, *random_codes(rng, N_USERS, *others)]
    return World(codes, *measured_lists(lists, "auc"))


def anybody(
    seed: int, draw: Draw, how: Search | None = None, min_support: float | None = None
) -> dict[str, Outcome]:
    """Whether any group is named."""
    world = draw(np.random.default_rng(seed))
    analysis = audited(world, how, seed=seed, min_support=min_support)
    return {NAMED: happened(names_any(analysis))}


def low_noise_found(seed: int) -> dict[str, Outcome]:
    """Whether a group is shown worse whose values are far less noisy than all others'."""
    rng = np.random.default_rng(seed)
    world = auc_of_unequal_positives(rng, in_group=30, elsewhere=1, lift=1.0, harm=1.0)
    analysis = audited(world, seed=seed)
    return {SHOWN: happened(is_shown_worse(analysis, outcome_position(analysis, 0, -1, -1)))}


def _study(world: str, draw: Draw, before: str, **how: Any) -> Study:
    return Study(world, partial(anybody, draw=draw, **how), (Claim(NAMED, None, 0.08, before),))


STUDIES = (
    _study("a group of 30 of 1,000, twice the spread", partial(wider_spread, times=2), ".24"),
    _study("a group of 30 of 1,000, 3 times the spread", partial(wider_spread, times=3), ".50"),
    _study(
        "a group of 30 of 1,000, 3 times the spread, groups from 2 users",
        partial(wider_spread, times=3),
        ".89",
        min_support=2,
    ),
    _study(
        "AUC, 1 positive of 60 in a group, 30 elsewhere",
        partial(auc_of_unequal_positives, others=()),
        ".51",
    ),
    _study(
        "AUC, 1 positive of 60 in a group, 30 elsewhere, two more attributes",
        auc_of_unequal_positives,
        "",
    ),
    _study(
        "AUC around .76, 1 positive of 60 in a group, 30 elsewhere, two more attributes",
        partial(auc_of_unequal_positives, lift=1.0),
        "",
    ),
    Study(
        "AUC, 30 positives of 60 and lower scores in a group, 1 elsewhere",
        low_noise_found,
        (Claim(SHOWN, 0.95),),
    ),
    *(
        _study(
            f"a group of 60 of 2,000, 3 times the spread, adaptive with {share}",
            partial(wider_spread, times=3, n_users=2 * N_USERS, n_group=2 * N_GROUP),
            before,
            how=Search("adaptive", budget_users=share),
        )
        for share, before in (("5%", ".11"), ("10%", ".21"), ("30%", ".45"))
    ),
)
