"""What is shown of one group among many: by the attributes it takes, and beside other metrics."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.statistics.shape import attributes
from benchmarks.statistics.study import Outcome, happened
from benchmarks.statistics.world import HIT, VALUE, World, audited
from fairrec.core.arrays import AnyArray
from fairrec.metrics import MetricAtK, parse_metric
from fairrec.statistics.outcome import WORSE
from fairrec.statistics.verdict import verdicts_of

N_USERS = 5000
ERRORS = 4.5
FEWEST = 30
SHOWN = "the group is shown worse"
Values = Callable[[np.random.Generator, int], AnyArray]


def normal(rng: np.random.Generator, n: int) -> AnyArray:
    return rng.normal(size=n)


def hits(rng: np.random.Generator, n: int, share: float) -> AnyArray:
    return rng.random(n) < share


def watch_time(rng: np.random.Generator, n: int) -> AnyArray:
    return rng.lognormal(-(0.8**2) / 2, 0.8, n)


def lognormal(rng: np.random.Generator, n: int) -> AnyArray:
    return rng.lognormal(sigma=1.8, size=n)


def few_levels(rng: np.random.Generator, n: int) -> AnyArray:
    return rng.choice([0, 0, 0, 0, 1 / 5, 1 / 4, 1 / 3, 1 / 2, 1], n)


RARE = partial(hits, share=0.02)
OTHERS: tuple[tuple[Values, MetricAtK], ...] = (
    (lognormal, VALUE),
    (RARE, HIT),
    (few_levels, parse_metric("mrr@5")),
    (watch_time, VALUE),
)
"""Metrics of other shapes, in which no group differs."""


def a_group(rng: np.random.Generator, codes: list[AnyArray], depth: int) -> AnyArray:
    """(n_users,), the members of some group by so many attributes, not too small."""
    while True:
        chosen = rng.choice(len(codes), depth, replace=False)
        like = rng.integers(len(codes[0]))
        is_member = np.all([codes[at] == codes[at][like] for at in chosen], axis=0)
        if FEWEST <= is_member.sum() <= len(is_member) / 2:
            return is_member


def shifted(seed: int, depth: int, kind: str = "normal", n_metrics: int = 1) -> dict[str, Outcome]:
    """Whether a group is shown worse whose mean is lower by so many standard errors."""
    rng = np.random.default_rng(seed)
    codes = attributes(rng, N_USERS)
    is_member = a_group(rng, codes, depth)
    n = int(is_member.sum())
    error = math.sqrt(1 / n + 1 / (N_USERS - n))
    metric = VALUE
    if kind == "normal":
        values = rng.normal(size=N_USERS) - ERRORS * error * is_member
    elif kind == "costs":
        values = -(rng.exponential(size=N_USERS) ** 2) / math.sqrt(20) - ERRORS * error * is_member
    elif kind == "watch time":
        draw = watch_time(rng, N_USERS)
        lost = np.clip(ERRORS * error * math.sqrt(math.expm1(0.64)), 0, 0.9)
        values = draw * (1 - lost * is_member)
    else:
        share = {"20% hits": 0.2, "2% hits": 0.02, "98% hits": 0.98}[kind]
        lost = ERRORS * error * math.sqrt(share * (1 - share))
        values, metric = rng.random(N_USERS) < share - lost * is_member, HIT
    rows, metrics = [values], [metric]
    for draw_other, other in OTHERS[: n_metrics - 1]:
        rows.append(draw_other(rng, N_USERS))
        metrics.append(other)
    world = World(codes, np.array(rows, dtype=np.float64), tuple(metrics))
    analysis = audited(world, seed=seed)
    conditions = [
        int(column[is_member][0]) if len(np.unique(column[is_member])) == 1 else -1
        for column in codes
    ]
    at = np.flatnonzero((analysis.moments.n[0] == n) & analysis.is_tested[0])
    verdict = verdicts_of(analysis, [True] * len(metrics))[0]
    is_it = [
        position
        for position in at
        if all(
            code in (-1, value)
            for code, value in zip(
                analysis.grouping.lattice.codes[position], conditions, strict=True
            )
        )
    ]
    return {SHOWN: happened(bool((verdict.of_groups[is_it] <= WORSE).any()))}


CLEARED = "decided as within what matters"


def nothing_wrong(seed: int, n_users: int) -> dict[str, Outcome]:
    """Whether a metric is cleared of .2 standard deviations where no group is worse."""
    rng = np.random.default_rng(seed)
    codes = [
        rng.integers(0, 2, n_users),
        rng.choice(7, n_users, p=[0.05, 0.2, 0.25, 0.2, 0.15, 0.1, 0.05]),
        rng.choice(5, n_users, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
        rng.choice(3, n_users, p=[0.6, 0.3, 0.1]),
    ]
    world = World(codes, rng.normal(size=(1, n_users)))
    (verdict,) = verdicts_of(audited(world, seed=seed, matters="0.2"), [True])
    return {CLEARED: happened(verdict.outcome == "not worse by more")}
