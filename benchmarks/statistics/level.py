"""Worlds in which attributes have nothing to do with the values: a finding is a false one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.statistics.rates import Claim
from benchmarks.statistics.spread import NAMED, anybody
from benchmarks.statistics.study import Study
from benchmarks.statistics.world import HIT, VALUE, World, random_codes
from fairrec.core.arrays import AnyArray
from fairrec.metrics import MetricAtK, parse_metric
from fairrec.search.options import Search
from fairrec.search.searcher import SEARCHERS

ALPHA = 0.05
N_USERS = 2000

Values = Callable[[np.random.Generator, int], AnyArray]
"""How many users -> their values, each drawn from one distribution."""


def normal(rng: np.random.Generator, n: int) -> AnyArray:
    return rng.normal(size=n)


def hits(rng: np.random.Generator, n: int, share: float) -> AnyArray:
    return rng.random(n) < share


def skewed(rng: np.random.Generator, n: int) -> AnyArray:
    return rng.exponential(size=n)


def heavy_tail(rng: np.random.Generator, n: int) -> AnyArray:
    return rng.exponential(size=n) ** 2


def few_levels(rng: np.random.Generator, n: int) -> AnyArray:
    """The reciprocal rank at 5 where most have missed."""
    return rng.choice([0, 0, 0, 0, 1 / 5, 1 / 4, 1 / 3, 1 / 2, 1], n)


def exchangeable(rng: np.random.Generator, *kinds: tuple[Values, MetricAtK]) -> World:
    """Three attributes with small groups and large ones, and a metric of each kind."""
    codes = random_codes(rng, N_USERS, 2, 5, 8, skew=0.8)
    values = np.array([draw(rng, N_USERS) for draw, _ in kinds], dtype=np.float64)
    return World(codes, values, tuple(metric for _, metric in kinds))


MRR = parse_metric("mrr@5")
KINDS: dict[str, tuple[Values, MetricAtK]] = {
    "normal": (normal, VALUE),
    "hit rate 5%": (partial(hits, share=0.05), HIT),
    "hit rate 20%": (partial(hits, share=0.2), HIT),
    "exponential": (skewed, VALUE),
    "squared exponential": (heavy_tail, VALUE),
    "few levels": (few_levels, MRR),
}
BUDGETS = ("2%", "5%", "10%", "30%", "50%")
HARDEST = ("hit rate 5%", "squared exponential")


def _study(
    name: str, *kinds: tuple[Values, MetricAtK], how: Search | None = None, before: str = ""
) -> Study:
    scored = "" if how is None else f", {how.name} with {how.budget_users}"
    trial = partial(anybody, draw=partial(_drawn, kinds=kinds), how=how)
    return Study(f"exchangeable, {name}{scored}", trial, (Claim(NAMED, None, ALPHA, before),))


def _drawn(rng: np.random.Generator, kinds: tuple[tuple[Values, MetricAtK], ...]) -> World:
    return exchangeable(rng, *kinds)


STUDIES = (
    *(_study(name, kind) for name, kind in KINDS.items()),
    _study("all of these at once", *KINDS.values()),
    *(
        _study(name, KINDS[name], how=Search("adaptive", budget_users=budget))
        for name in ("normal", *HARDEST)
        for budget in BUDGETS
    ),
    *(
        _study(name, KINDS[name], how=Search(searcher, budget_users=budget))
        for searcher in SEARCHERS
        if searcher != "adaptive"
        for name, budget in (("normal", "10%"), *((name, "30%") for name in HARDEST))
    ),
)
