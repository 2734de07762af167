"""Groups of another shape: the mean of all others, from values that are distributed otherwise."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.statistics.covariates import build_strata
from benchmarks.statistics.rates import Claim
from benchmarks.statistics.study import Outcome, Study, happened
from benchmarks.statistics.world import HIT, VALUE, World, audited
from fairrec.core.arrays import AnyArray, BoolArray
from fairrec.metrics import parse_metric
from fairrec.statistics.verdict import WORSE, decide_verdicts

N_USERS = 3000
COUNTRIES = (0.01, 0.02, 0.04, 0.06, 0.35, 0.2, 0.12, 0.1, 0.06, 0.04)
"""The first four are the small ones, whose values have another shape."""
WORSE_CALLED, MISSED = "any group is called worse", "an interval of a group of 30 and more misses"

Shape = Callable[[np.random.Generator, BoolArray], AnyArray]
"""(n_users,) whether a user is in a small country -> values of one mean."""


def attributes(rng: np.random.Generator, n_users: int = N_USERS) -> list[AnyArray]:
    """Gender, age in bins of ten years, country and plan."""
    return [
        rng.integers(0, 2, n_users),
        rng.choice(7, n_users, p=[0.05, 0.25, 0.25, 0.2, 0.12, 0.08, 0.05]),
        rng.choice(len(COUNTRIES), n_users, p=COUNTRIES),
        rng.choice(3, n_users, p=[0.6, 0.3, 0.1]),
    ]


def ratings(rng: np.random.Generator, is_small: BoolArray) -> AnyArray:
    """From 1 to 5 with a mean of 2: of small countries three in four give 1 and one gives 5."""
    n = len(is_small)
    return np.where(
        is_small,
        rng.choice([1, 5], n, p=[0.75, 0.25]),
        rng.choice([1, 2, 3], n, p=[0.1, 0.8, 0.1]),
    )


def spenders(rng: np.random.Generator, is_small: BoolArray) -> AnyArray:
    """A few spend much in small countries, where 70% are inactive."""
    n = len(is_small)
    spent = rng.exponential(size=n)
    few = np.where(rng.random(n) < 0.3, rng.exponential(1 / 0.3, n), 0.0)
    return np.where(is_small, few, spent)


def refunded(rng: np.random.Generator, is_small: BoolArray) -> AnyArray:
    """The same, where some were paid back a little."""
    return spenders(rng, is_small) - 0.2


def watch_time(rng: np.random.Generator, is_small: BoolArray) -> AnyArray:
    """Lognormal with a mean of 1 and a larger spread in small countries."""
    sd = np.where(is_small, 1.8, 0.8)
    return rng.lognormal(-(sd**2) / 2, sd)


def few_relevant(rng: np.random.Generator, is_small: BoolArray) -> AnyArray:
    """NDCG@10 of one relevant item in small countries and of many elsewhere, with equal means."""
    n, k, mean, first = len(is_small), 10, 0.1, 0.9
    discount = 1 / np.log2(np.arange(2, k + 2))
    many = (rng.random((n, k)) < mean) @ discount / discount.sum()
    # where one item is found, it mostly comes first
    at = np.append(first, np.full(k - 1, (1 - first) / (k - 1)))
    is_found = rng.random(n) < mean / (at @ discount)
    one = np.where(is_found, discount[rng.choice(k, n, p=at)], 0.0)
    return np.where(is_small, one, many)


SHAPES: dict[str, tuple[Shape, str, str]] = {
    "ratings of 1 and 5 instead of 2": (ratings, "value", "0.2"),
    "70% inactive and few big spenders": (spenders, "value", "0.2"),
    "70% inactive and few big spenders, with values below 0": (refunded, "value", "0.2"),
    "watch time, lognormal of 1.8 instead of .8": (watch_time, "value", "0.2"),
    "NDCG@10 of one relevant item instead of many": (few_relevant, "ndcg@10", "0.05"),
}


def another_shape(seed: int, shape: str, n_users: int = N_USERS) -> dict[str, Outcome]:
    """Whether a group is called worse, or an interval misses that all means are equal."""
    rng = np.random.default_rng(seed)
    draw, metric, tolerance = SHAPES[shape]
    codes = attributes(rng, n_users)
    values = draw(rng, codes[2] < 4).astype(np.float64)
    world = World(codes, values[None], (VALUE if metric == "value" else parse_metric(metric),))
    analysis = audited(world, seed=seed, tolerance=tolerance)
    ((groups, _),) = decide_verdicts(analysis, [True])
    low, high = (end[0] for end in analysis.estimates.simultaneous)
    is_large = analysis.is_tested[0] & (analysis.moments.n[0] >= 30)
    return {
        WORSE_CALLED: happened(bool((groups.of_groups <= WORSE).any())),
        MISSED: happened(bool((is_large & ((low > 0) | (high < 0))).any())),
    }


def hits_in_strata(seed: int, share: float, n_users: int = N_USERS) -> dict[str, Outcome]:
    """The same where users hit as rarely in all groups and strata, which are given."""
    rng = np.random.default_rng(seed)
    codes = attributes(rng, n_users)
    world = World(codes, (rng.random((1, n_users)) < share).astype(np.float64), (HIT,))
    analysis = audited(world, seed=seed, strata=build_strata(rng.integers(0, 4, n_users)))
    ((groups, _),) = decide_verdicts(analysis, [True])
    low, high = (end[0] for end in analysis.estimates.simultaneous)
    is_large = analysis.is_tested[0] & (analysis.moments.n[0] >= 30)
    return {
        WORSE_CALLED: happened(bool((groups.of_groups <= WORSE).any())),
        MISSED: happened(bool((is_large & ((low > 0) | (high < 0))).any())),
    }


STUDIES = tuple(
    Study(
        f"hit rate {share:.1%}, four strata given",
        partial(hits_in_strata, share=share),
        (Claim(WORSE_CALLED, None, 0.05), Claim(MISSED, None, 0.06, before)),
    )
    for share, before in ((0.005, ".27"), (0.02, ".19"), (0.05, ".10"), (0.98, ".12"))
) + tuple(
    Study(
        name,
        partial(another_shape, shape=name),
        (Claim(WORSE_CALLED, None, bar, before), Claim(MISSED, None, 0.08, missed)),
    )
    for name, bar, before, missed in (
        ("70% inactive and few big spenders, with values below 0", 0.08, ".18", ""),
        ("ratings of 1 and 5 instead of 2", 0.08, ".69", ".03"),
        ("70% inactive and few big spenders", 0.08, ".46", ".08"),
        ("watch time, lognormal of 1.8 instead of .8", 0.20, ".61", ".30"),
        ("NDCG@10 of one relevant item instead of many", 0.08, ".34", ".05"),
    )
)
