"""Users with equal covariates: what is found of a group whose covariates differ."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.statistics.covariates import NOT_TOLD, TOLD, build_strata, is_told
from benchmarks.statistics.rates import Claim
from benchmarks.statistics.said import is_shown_worse, names_any
from benchmarks.statistics.spread import NAMED
from benchmarks.statistics.study import Outcome, Study, happened
from benchmarks.statistics.world import (
    World,
    audited,
    outcome_position,
    random_codes,
    true_differences,
)
from fairrec.core.arrays import IntArray

N_USERS, N_LEVELS = 1000, 5
ADJUSTED = "any group named, activity given"
FOUND = "the group is shown worse, activity given"
HELD = "all intervals at once hold the true differences within strata, groups of 30 and more"
LEAST = 30


def active_users(
    rng: np.random.Generator,
    slope: float,
    lean: float,
    harm: float = 0.0,
    n_users: int = N_USERS,
    is_continuous: bool = False,
) -> tuple[World, IntArray]:
    """Normal values that grow with activity, a group that is less active, and two attributes.

    Parameters
    ----------
    slope : of the values, a level of activity, in standard deviations within a level
    lean : how much rarer members are a level higher; 0 where activity has nothing to do with them
    harm : how much lower the values of the group are at the same activity
    is_continuous : whether users of a fifth differ in activity too, so that fifths adjust for a
        part of it only
    """
    position = rng.random(n_users) * N_LEVELS
    level = position.astype(np.int64)
    drive = position if is_continuous else level
    is_member = rng.random(n_users) < 0.3 * np.exp(-lean * drive)
    expected = slope * drive - harm * is_member
    codes = [~is_member, *random_codes(rng, n_users, 3, 4)]
    values = expected + rng.normal(size=n_users)
    return World(codes, values[None], expected=expected[None]), level


def compared(seed: int, draw: partial[tuple[World, IntArray]]) -> dict[str, Outcome]:
    """What is named as it is and with activity given, and whether activity is told."""
    world, level = draw(np.random.default_rng(seed))
    raw = audited(world, seed=seed)
    adjusted = audited(world, strata=build_strata(level), seed=seed)
    told = happened(is_told(raw, (level,)))
    truth = true_differences(world, adjusted)[0]
    low, high = adjusted.estimates.simultaneous
    is_large = (adjusted.moments.n[0] >= LEAST) & np.isfinite(truth)
    is_held = (low[0] <= truth + 1e-12) & (truth - 1e-12 <= high[0])
    group = outcome_position(adjusted, 0, -1, -1)
    return {
        NAMED: happened(names_any(raw)),
        ADJUSTED: happened(names_any(adjusted)),
        FOUND: happened(is_shown_worse(adjusted, group)),
        HELD: happened(bool(is_held[is_large].all())),
        TOLD: told,
        NOT_TOLD: told,
    }


def _study(world: str, *claims: Claim, **how: float) -> Study:
    draw = partial(active_users, **how)  # type: ignore[arg-type]
    return Study(world, partial(compared, draw=draw), claims)


LESS_ACTIVE = "a group of 100 of 1,000 that is less active, values grow with activity"
STUDIES = (
    _study(
        LESS_ACTIVE,
        Claim(NAMED),
        Claim(ADJUSTED, None, 0.08, "1.00"),
        Claim(HELD, 0.93),
        Claim(TOLD, 0.95),
        slope=0.8,
        lean=0.7,
    ),
    _study(
        f"{LESS_ACTIVE}, also within the fifths given",
        Claim(NAMED),
        Claim(ADJUSTED),
        slope=0.8,
        lean=0.7,
        is_continuous=True,
    ),
    _study(
        f"{LESS_ACTIVE}, and is worse by .35",
        Claim(FOUND),
        Claim(HELD, 0.93),
        slope=0.8,
        lean=0.7,
        harm=0.35,
    ),
    _study(
        f"{LESS_ACTIVE}, and is better by .5",
        Claim(HELD, 0.93),
        slope=0.8,
        lean=0.7,
        harm=-0.5,
    ),
    _study(
        "a group like all others, values grow with activity",
        Claim(ADJUSTED, None, 0.05),
        Claim(HELD, 0.93),
        slope=0.8,
        lean=0.0,
    ),
    _study(
        "a group like all others, activity makes no difference",
        Claim(ADJUSTED, None, 0.05),
        Claim(NOT_TOLD, None, 0.05),
        slope=0.0,
        lean=0.0,
    ),
    _study(
        "a group that is worse by .5 and as active as all others, values grow with activity",
        Claim(FOUND),
        Claim(NOT_TOLD, None, 0.05),
        slope=0.8,
        lean=0.0,
        harm=0.5,
    ),
    _study(
        "a group that is worse by .5 and less active, activity makes no difference",
        Claim(FOUND),
        Claim(NOT_TOLD, None, 0.05),
        slope=0.0,
        lean=0.7,
        harm=0.5,
    ),
)
