"""Intervals of all groups hold the truth at once, and the certificate with them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.statistics.rates import Claim
from benchmarks.statistics.study import Outcome, Study, happened
from benchmarks.statistics.world import (
    HIT,
    VALUE,
    World,
    audited,
    random_codes,
    true_differences,
)
from fairrec.core.arrays import FloatArray
from fairrec.metrics import MetricAtK, parse_metric
from fairrec.statistics.verdict import decide_verdicts

N_USERS = 1000
NDCG, AUC = parse_metric("ndcg@5"), parse_metric("auc")
LARGE, SMALL = "all intervals hold, groups of 30 and more", "all intervals hold, smaller groups"
CERTIFIED = "no group not shown worse is worse than certified"
LEVELS = np.array([1.0, 0.63, 0.5, 0.43, 0.39])

Effect = Callable[[np.random.Generator, list[np.ndarray]], FloatArray]
Kind = Callable[[np.random.Generator, FloatArray, list[np.ndarray]], tuple[FloatArray, FloatArray]]
"""Effects on each user -> values, and the means they are drawn from."""


def nothing(rng: np.random.Generator, codes: list[np.ndarray]) -> FloatArray:
    return np.zeros(len(codes[0]))


def one_group(rng: np.random.Generator, codes: list[np.ndarray]) -> FloatArray:
    return np.where((codes[0] == 1) & (codes[1] == 2), -1.0, 0.0)


def every_value(rng: np.random.Generator, codes: list[np.ndarray]) -> FloatArray:
    sizes = (0.15, 0.3, 0.2)
    effects = [rng.normal(0, sd, 6)[column] for sd, column in zip(sizes, codes, strict=True)]
    return np.asarray(np.sum(effects, axis=0))


def _share(effect: FloatArray, base: float) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-(np.log(base / (1 - base)) + effect))))


def normal(
    rng: np.random.Generator, effect: FloatArray, codes: list[np.ndarray], wide: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    spread = np.where(codes[1] == 4, wide, 1.0)
    return effect + spread * rng.normal(size=len(effect)), effect


def hits(
    rng: np.random.Generator, effect: FloatArray, codes: list[np.ndarray], base: float
) -> tuple[FloatArray, FloatArray]:
    share = _share(effect, base)
    return (rng.random(len(effect)) < share).astype(np.float64), share


def gains(
    rng: np.random.Generator, effect: FloatArray, codes: list[np.ndarray]
) -> tuple[FloatArray, FloatArray]:
    hit, share = hits(rng, effect, codes, 0.27)
    return hit * rng.choice(LEVELS, len(effect)), share * LEVELS.mean()


def positive(
    rng: np.random.Generator, effect: FloatArray, codes: list[np.ndarray], power: int
) -> tuple[FloatArray, FloatArray]:
    mean = np.exp(0.5 * effect)
    return mean * rng.exponential(size=len(effect)) ** power / power, mean


def lognormal(
    rng: np.random.Generator, effect: FloatArray, codes: list[np.ndarray]
) -> tuple[FloatArray, FloatArray]:
    mean = np.exp(0.5 * effect)
    return mean * rng.lognormal(-0.5, 1, len(effect)), mean


def areas(
    rng: np.random.Generator, effect: FloatArray, codes: list[np.ndarray]
) -> tuple[FloatArray, FloatArray]:
    share = _share(0.5 * effect, 0.62)
    sharpness = np.where(codes[1] == 4, 2.0, 30.0)
    return rng.beta(sharpness * share, sharpness * (1 - share)), share


KINDS: dict[str, tuple[Kind, MetricAtK]] = {
    "normal": (normal, VALUE),
    "normal, a value of 5% with 3 times the spread": (partial(normal, wide=3.0), VALUE),
    "hit rate 5%": (partial(hits, base=0.05), HIT),
    "hit rate 20%": (partial(hits, base=0.2), HIT),
    "few levels": (gains, NDCG),
    "exponential": (partial(positive, power=1), VALUE),
    "squared exponential": (partial(positive, power=2), VALUE),
    "lognormal": (lognormal, VALUE),
    "AUC of unequal spread": (areas, AUC),
}
EFFECTS: dict[str, Effect] = {
    "no effect": nothing,
    "one group planted": one_group,
    "every value differs": every_value,
}


def all_hold(seed: int, kind: str, effect: str) -> dict[str, Outcome]:
    """Whether all intervals of the groups of a world hold, and its certificate."""
    rng = np.random.default_rng(seed)
    codes = random_codes(rng, N_USERS, 2)
    codes += [rng.choice(5, N_USERS, p=[0.4, 0.3, 0.15, 0.1, 0.05]), rng.integers(0, 6, N_USERS)]
    draw, metric = KINDS[kind]
    values, expected = draw(rng, EFFECTS[effect](rng, codes), codes)
    world = World(codes, values[None], (metric,), expected[None])
    analysis = audited(world, seed=seed)
    low, high = (end[0] for end in analysis.estimates.simultaneous)
    true = true_differences(world, analysis)[0]
    is_tested = analysis.is_tested[0] & np.isfinite(true)
    is_missed = is_tested & ((true < low - 1e-9) | (true > high + 1e-9))
    is_large = analysis.moments.n[0] >= 30
    ((groups, verdict),) = decide_verdicts(analysis, [True])
    not_worse = is_tested & (groups.of_groups > 1)
    certified = verdict.certificate[0].harm
    return {
        LARGE: happened(not is_missed[is_large].any()),
        SMALL: happened(not is_missed[~is_large].any()),
        CERTIFIED: happened(bool((-true[not_worse] <= certified + 1e-9).all())),
    }


STUDIES = tuple(
    Study(
        f"all at once: {kind}, {effect}",
        partial(all_hold, kind=kind, effect=effect),
        (Claim(LARGE, low=0.93), Claim(SMALL, low=0.90), Claim(CERTIFIED, low=0.93)),
    )
    for kind in KINDS
    for effect in EFFECTS
)
