"""Worlds in which what was seen is not all there is: nothing may be ruled out by luck."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.statistics.covariates import build_strata
from benchmarks.statistics.rates import Claim
from benchmarks.statistics.study import Outcome, Study, happened
from benchmarks.statistics.world import HIT, VALUE, World, audited, random_codes
from fairrec.core.arrays import AnyArray, FloatArray
from fairrec.metrics import MetricAtK, parse_metric
from fairrec.search.options import Search
from fairrec.statistics.analysis import Analysis
from fairrec.statistics.moments import group_moments
from fairrec.statistics.verdict import WITHIN, decide_verdicts

AUC = parse_metric("auc")
MISSED = "an interval of a group of 30 and more misses"
FALSELY = "a harm that matters is ruled out where it is there"


def judged(world: World, analysis: Analysis) -> dict[str, Outcome]:
    """Whether all intervals hold, and nothing is ruled out that is there."""
    expected = world.values if world.expected is None else world.expected
    strata = analysis.moments.strata if analysis.is_adjusted else None
    true = group_moments(expected, analysis.grouping, strata=strata).difference
    low, high = analysis.estimates.simultaneous
    is_known = analysis.is_tested & np.isfinite(true) & analysis.is_comparable
    is_missed = is_known & ((true < low - 1e-9) | (true > high + 1e-9))
    falsely = False
    for i, (groups, verdict) in enumerate(decide_verdicts(analysis, [True] * len(true))):
        harm = world.metrics[i].metric.harm(np.nan_to_num(true[i]))
        is_there = harm > (verdict.tolerance or 0.0) + 1e-9
        falsely |= bool((is_known[i] & is_there & (groups.of_groups == WITHIN)).any())
    return {
        MISSED: happened(bool((is_missed & (analysis.moments.n >= 30)).any())),
        FALSELY: happened(falsely),
    }


def groups_of(n_users: int, n_group: int, n_groups: int) -> AnyArray:
    """Groups of one size, and one of all others."""
    group = np.full(n_users, n_groups)
    group[: n_group * n_groups] = np.repeat(np.arange(n_groups), n_group)
    return group


def rates(
    seed: int,
    base: float,
    share: float,
    n_group: int,
    tolerance: float,
    n_users: int = 1000,
    n_groups: int = 10,
    n_metrics: int = 1,
    is_given: bool = False,
) -> dict[str, Outcome]:
    """Groups with lower rates than all others, and strata that have nothing to do with them."""
    rng = np.random.default_rng(seed)
    group = groups_of(n_users, n_group, n_groups)
    expected = np.where(group < n_groups, share, base) * np.ones((n_metrics, 1))
    values = (rng.random((n_metrics, n_users)) < expected).astype(np.float64)
    codes = [group, *(random_codes(rng, n_users, 2) if is_given else ())]
    world = World(codes, values, (HIT,) * n_metrics, expected)
    strata = build_strata(rng.integers(0, 2, n_users)) if is_given else None
    return judged(world, audited(world, strata=strata, seed=seed, tolerance=tolerance))


def searched(seed: int, searcher: str, budget: str) -> dict[str, Outcome]:
    """A hit rate of 5%, 1% for half of the users, and a sample that may have no hit at all."""
    rng = np.random.default_rng(seed)
    codes = random_codes(rng, 2000, 2, 4, 5)
    expected = np.where(codes[0] == 1, 0.01, 0.05)
    values = (rng.random(2000) < expected).astype(np.float64)
    world = World(codes, values[None], (HIT,), expected[None])
    how = Search(searcher, budget_users=budget)
    return judged(world, audited(world, how, seed=seed, tolerance=0.02))


def failing(seed: int, metric: MetricAtK, n_group: int, share: float) -> dict[str, Outcome]:
    """Five groups in which a few users get nothing at all, while all else is alike."""
    rng = np.random.default_rng(seed)
    group = groups_of(1500, n_group, 5)
    is_failing = (group < 5) & (rng.random(1500) < share)
    values: FloatArray = np.where(is_failing, 0.0, rng.beta(51, 9, 1500))
    expected = np.where(group < 5, (1 - share) * 0.85, 0.85)
    world = World([group], values[None], (metric,), expected[None])
    return judged(world, audited(world, seed=seed, tolerance=0.02))


def lopsided(seed: int) -> dict[str, Outcome]:
    """300 users beside 15 others, and 15 beside 1,500 who vary ten times as much; all lose .5."""
    rng = np.random.default_rng(seed)
    group, level = np.repeat([[0, 1, 0, 1], [0, 0, 1, 1]], [300, 15, 15, 1500], axis=1)
    expected = -0.5 * (group == 0)
    spread = np.where((group == 0) & (level == 1), 10.0, 1.0)
    values = expected + spread * rng.normal(size=len(group))
    world = World([group], values[None], (VALUE,), expected[None])
    return judged(world, audited(world, strata=build_strata(level), seed=seed, tolerance=0.3))


def hardly_compared(seed: int) -> dict[str, Outcome]:
    """900 users beside 10 others lose .1, 200 beside 5,000 nothing: .08 of the group as it is."""
    rng = np.random.default_rng(seed)
    group, level = np.repeat([[0, 1, 0, 1], [0, 0, 1, 1]], [900, 10, 200, 5000], axis=1)
    expected = np.where((group == 0) & (level == 0), -0.1, 0.0)
    values = expected + 0.2 * rng.normal(size=len(group))
    world = World([group], values[None], (VALUE,), expected[None])
    analysis = audited(world, strata=build_strata(level), seed=seed, tolerance=0.03)
    ((_, verdict),) = decide_verdicts(analysis, [True])
    return {FALSELY: happened(verdict.outcome == "within tolerance")}


BOTH = (Claim(MISSED, high=0.07), Claim(FALSELY, high=0.05))
MANY = partial(rates, base=0.9, share=0.6, n_group=40, tolerance=0.2)

STUDIES = (
    Study(
        "rates of 99%, ten groups of 40 with 93%, strata given",
        partial(rates, base=0.99, share=0.93, n_group=40, tolerance=0.03, is_given=True),
        BOTH,
    ),
    Study(
        "rates of 99%, ten groups of 100 with 97%, strata given",
        partial(
            rates, base=0.99, share=0.97, n_group=100, tolerance=0.01, n_users=3000, is_given=True
        ),
        BOTH,
    ),
    Study("300 users beside 15 others, 15 beside 1,500", lopsided, BOTH),
    Study(
        "900 users beside 10 others, 200 beside 5,000",
        hardly_compared,
        (Claim(FALSELY, high=0.05),),
    ),
    *(
        Study(
            f"hit rates of 5% and 1%, {name} with 5%",
            partial(searched, searcher=name, budget="5%"),
            BOTH,
        )
        for name in ("random", "adaptive", "dpso")
    ),
    *(
        Study(
            f"five groups of {n} of whom {share:.0%} get nothing, {kind}",
            partial(failing, metric=metric, n_group=n, share=share),
            BOTH,
        )
        for kind, metric in (("AUC", AUC), ("no bounds", VALUE))
        for n, share in ((60, 0.05), (120, 0.03))
    ),
    Study("ten groups of 40 in one metric", MANY, BOTH),
    Study("ten groups of 40 in 20 metrics", partial(MANY, n_metrics=20), BOTH),
)
