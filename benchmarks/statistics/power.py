"""Worlds in which a group is worse by construction: is it shown, and which end is named."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from benchmarks.statistics.rates import Claim
from benchmarks.statistics.said import is_shown_worse, named_groups, promised, results
from benchmarks.statistics.study import Outcome, Study, happened
from benchmarks.statistics.world import (
    HIT,
    World,
    audited,
    one_group,
    outcome_position,
    random_codes,
)
from fairrec.core.arrays import AnyArray

N_USERS = 10_000
SHOWN = "the group is shown worse"
NAMED = "the group is named first"
POSSIBLE = "no harm is promised to be found that cannot exist"
KEPT = "a harm as promised is shown"
GAP = "the gap is beyond chance"
WORSE_END = "what is named first is truly worse"
ERRORS = 4.2
"""A shift by so many standard errors is found in about 3 of 4 worlds."""


def users_with_a_group(rng: np.random.Generator, n_group: int) -> list[AnyArray]:
    """Three attributes; the group has the value 0 of the first, all others one of five more."""
    own = np.where(one_group(N_USERS, n_group), 0, rng.integers(1, 6, N_USERS))
    return [own, *random_codes(rng, N_USERS, 2, 5, skew=0.5)]


def shifted(
    rng: np.random.Generator, codes: list[AnyArray], share: float | None, harm: float
) -> World:
    """Values that are lower by the harm for everyone with the value 0 of the first attribute.

    Parameters
    ----------
    share : the hit rate of all others; None for normal values of spread 1
    """
    harm_per_user = np.where(codes[0] == 0, harm, 0.0)
    if share is None:
        values = rng.normal(size=N_USERS) - harm_per_user
        return World(codes, values[None], expected=-harm_per_user[None])
    expected = np.maximum(share - harm_per_user, 0.0)
    values = (rng.random(N_USERS) < expected).astype(np.float64)
    return World(codes, values[None], (HIT,), expected[None])


def lone_shift(seed: int, n_group: int) -> dict[str, Outcome]:
    """Whether a lone shift of the mean is found."""
    rng = np.random.default_rng(seed)
    harm = ERRORS * math.sqrt(1 / n_group + 1 / (N_USERS - n_group))
    world = shifted(rng, users_with_a_group(rng, n_group), None, harm)
    analysis = audited(world, seed=seed)
    group = outcome_position(analysis, 0, -1, -1)
    named = named_groups(analysis)
    return {
        SHOWN: happened(is_shown_worse(analysis, group)),
        NAMED: happened(named[:1] == [group]),
    }


def promise(seed: int, n_group: int, share: float | None) -> dict[str, Outcome]:
    """Whether the harm that an audit promises to find can exist, and is found where it does."""
    rng = np.random.default_rng(seed)
    codes = users_with_a_group(rng, n_group)
    before = audited(shifted(rng, codes, share, 0.0), seed=seed)
    group = outcome_position(before, 0, -1, -1)
    harm = promised(before, group)
    if math.isnan(harm):
        return {POSSIBLE: happened(True), KEPT: (0.0, 0.0)}
    if share is not None and harm > before.moments.mean[0]:
        return {POSSIBLE: happened(False), KEPT: (0.0, 0.0)}
    after = audited(shifted(rng, codes, share, harm), seed=seed)
    return {POSSIBLE: happened(True), KEPT: happened(is_shown_worse(after, group))}


def one_cell_lost(rng: np.random.Generator) -> tuple[World, tuple[int, ...]]:
    """A hit rate of 20%, of which the intersection nearest to 194 of 3,000 users loses 75%."""
    n_users, n_values = 3000, (2, 4, 5)
    codes = random_codes(rng, n_users, *n_values, skew=0.8)
    cells = np.ravel_multi_index(codes, n_values)
    cell = int(np.abs(np.bincount(cells) - 194).argmin())
    expected = np.where(cells == cell, 0.25 * 0.2, 0.2)
    values = (rng.random(n_users) < expected).astype(np.float64)
    world = World(codes, values[None], (HIT,), expected[None])
    return world, tuple(int(code) for code in np.unravel_index(cell, n_values))


def gap_beyond_chance(seed: int) -> dict[str, Outcome]:
    """Whether the gap is, by its own p-value, and the cell by its own."""
    world, cell = one_cell_lost(np.random.default_rng(seed))
    analysis = audited(world, seed=seed)
    chance = results(analysis)[0].chance
    is_beyond = chance is not None and chance.p_value <= analysis.options.alpha
    is_shown = is_shown_worse(analysis, outcome_position(analysis, *cell))
    return {GAP: happened(is_beyond), SHOWN: happened(is_shown)}


def either_or(rng: np.random.Generator, n_users: int = 3000, harm: float = 0.3) -> World:
    """Who has the one or the other of two attributes is worse; who has both or none is not."""
    codes = random_codes(rng, n_users, 2, 2, 3)
    expected = np.where(codes[0] != codes[1], -harm, 0.0)
    return World(codes, (expected + rng.normal(size=n_users))[None], expected=expected[None])


def first_named(seed: int) -> dict[str, Outcome]:
    """Which end comes first."""
    analysis = audited(either_or(np.random.default_rng(seed)), seed=seed)
    named = named_groups(analysis)
    pairs = [tuple(analysis.grouping.lattice.codes[group][:2].tolist()) for group in named]
    return {WORSE_END: happened(bool(pairs) and pairs[0] in {(0, 1), (1, 0)})}


def _promise(size: int, share: float | None, *claims: Claim, before: str = "") -> Study:
    kind = "normal" if share is None else f"hit rate {share:.0%}"
    return Study(
        f"{kind}, a group of {size:,} of {N_USERS:,}",
        partial(promise, n_group=size, share=share),
        claims or (Claim(KEPT, 0.75, 0.85, before),),
    )


STUDIES = (
    _promise(100, 0.05, Claim(POSSIBLE, 1.0)),
    *(_promise(size, 0.05) for size in (600, 1000)),
    # harm makes a rare hit rarer and its spread smaller, and that of a frequent one larger
    *(_promise(size, 0.95, before=".51-.65") for size in (30, 100, 300)),
    *(_promise(size, None) for size in (30, 100, 1000)),
    *(
        Study(
            f"a lone shift of {ERRORS:g} standard errors, {size:,} of {N_USERS:,}",
            partial(lone_shift, n_group=size),
            # what is asked of new statistics: to lose no more than 5 points from 100 users on
            (Claim(SHOWN, low, None, f"{before:.2f}"), Claim(NAMED, before=f"{named:.2f}")),
        )
        for size, before, named, low in (
            (30, 0.76, 0.69, None),
            (100, 0.75, 0.67, 0.70),
            (300, 0.79, 0.72, 0.74),
            (1000, 0.76, 0.69, 0.71),
        )
    ),
    Study(
        "hit rate 20%, about 194 of 3,000 users lose 75%",
        gap_beyond_chance,
        (Claim(GAP, 0.95, None, ".08"), Claim(SHOWN, 0.95)),
    ),
    Study(
        "either of two attributes is worse, both or none is not",
        first_named,
        (Claim(WORSE_END, 0.9, None, ".50"),),
    ),
)
