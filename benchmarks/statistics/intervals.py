"""Intervals hold the truth: of every group one at a time, and of those that are named."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from benchmarks.statistics.rates import Claim
from benchmarks.statistics.said import interval_of, named_groups, size_of
from benchmarks.statistics.study import Outcome, Study, happened
from benchmarks.statistics.world import (
    HIT,
    World,
    audited,
    outcome_position,
    random_codes,
    true_differences,
)

SIZES = (13, 30, 60, 150)
N_OTHERS = 1000
VALUE, DIFFERENCE = "interval of the value", "interval of the difference"
ALL = "all sizes"
"""With so few different counts, one size by itself may be covered more often than asked for."""

N_USERS, N_VALUES = 10_000, (8, 12)
HELD = "interval of what is named holds the true difference"
TOO_LARGE = "size of what is named over its true size"


def rare_hits(rng: np.random.Generator, share: float) -> World:
    """One hit rate for all, in groups of a few sizes and many others."""
    codes = np.repeat(np.arange(len(SIZES) + 1), [*SIZES, N_OTHERS])
    values = (rng.random(len(codes)) < share).astype(np.float64)
    return World([codes], values[None], (HIT,))


def one_at_a_time(seed: int, share: float) -> dict[str, Outcome]:
    """Whether the intervals of each group hold its rate, and its difference from the others."""
    analysis = audited(rare_hits(np.random.default_rng(seed), share), permutations=0, min_support=1)
    found = analysis.estimates
    groups = [outcome_position(analysis, code) for code in range(len(SIZES))]
    outcomes = {}
    for what, low, high, truth in (
        (VALUE, found.value_low, found.value_high, share),
        (DIFFERENCE, found.difference_low, found.difference_high, 0.0),
    ):
        is_held = (low[0, groups] <= truth) & (truth <= high[0, groups])
        for size, one in zip(SIZES, is_held, strict=True):
            outcomes[f"{what}, {size} users"] = happened(one)
        outcomes[f"{what}, {ALL}"] = (float(is_held.sum()), len(SIZES))
    return outcomes


def many_effects(rng: np.random.Generator, sd: float) -> World:
    """Intersections of many sizes, each with an effect of its own; values have the spread 1."""
    codes = random_codes(rng, N_USERS, *N_VALUES, skew=0.8)
    cells = np.ravel_multi_index(codes, N_VALUES)
    expected = rng.normal(0, sd, math.prod(N_VALUES))[cells]
    return World(codes, (expected + rng.normal(size=N_USERS))[None], expected=expected[None])


def winners(seed: int, sd: float) -> dict[str, Outcome]:
    """What is said of the groups that are named, which are those that look worst."""
    world = many_effects(np.random.default_rng(seed), sd)
    analysis = audited(world, seed=seed)
    truth = true_differences(world, analysis)[0]
    named = named_groups(analysis)
    n_held, said, true = 0, 0.0, 0.0
    for group in named:
        low, high = interval_of(analysis, group)
        n_held += low <= truth[group] <= high
        # a difference the other way is no part of the size that is claimed
        sign = np.sign(size_of(analysis, group))
        said += sign * size_of(analysis, group)
        true += sign * truth[group]
    return {HELD: (n_held, len(named)), TOO_LARGE: (said, true)}


STUDIES = (
    *(
        Study(
            f"hit rate {share:.0%}",
            partial(one_at_a_time, share=share),
            tuple(
                Claim(f"{what}, {size}", *bounds, before)
                for what, before in ((VALUE, ".58-.90"), (DIFFERENCE, ""))
                for size, bounds in (
                    *((f"{n} users", (0.93, None)) for n in SIZES),
                    (ALL, (0.93, 0.97)),
                )
            ),
        )
        for share in (0.02, 0.05)
    ),
    *(
        Study(
            f"{math.prod(N_VALUES)} intersections of {N_USERS:,} users, true effects of standard "
            f"deviation {sd:g}",
            partial(winners, sd=sd),
            (Claim(HELD, 0.93, None, held), Claim(TOO_LARGE, 1 / 1.2, 1.2, size, is_ratio=True)),
        )
        for sd, held, size in ((0.05, ".09", "7.5"), (0.1, ".68", "1.9"), (0.2, ".85", "1.3"))
    ),
)
