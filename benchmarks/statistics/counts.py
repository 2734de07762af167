"""Audits from counts beside audits of the users who were counted."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
from scipy.stats import ks_2samp

import fairrec
from benchmarks.statistics.covariates import build_strata
from benchmarks.statistics.level import heavy_tail, hits, normal, skewed
from benchmarks.statistics.lists import measured_lists, random_lists
from benchmarks.statistics.power import ERRORS, shifted, users_with_a_group
from benchmarks.statistics.rates import Claim
from benchmarks.statistics.said import is_shown_worse, names_any
from benchmarks.statistics.spread import NAMED
from benchmarks.statistics.study import Outcome, Study, happened
from benchmarks.statistics.unseen import groups_of
from benchmarks.statistics.world import (
    PERMUTATIONS,
    VALUE,
    World,
    audited,
    outcome_position,
    random_codes,
)
from fairrec.core.arrays import AnyArray, FloatArray, IntArray
from fairrec.core.audit_options import AuditOptions, Engine
from fairrec.counts.levels import find_level, levels_of
from fairrec.counts.rows import counted_users
from fairrec.counts.selection import select_counts
from fairrec.groups.grouping import build_grouping
from fairrec.inputs.candidates import CandidateLists
from fairrec.statistics import draws
from fairrec.statistics.analysis import Analysis, analyse

ALPHA = 0.05
N_USERS, N_CANDIDATES = 2000, 20
N_VALUES = (2, 5, 8)
POINT = "95% point of the largest score, over that of permuted users"
DIFFERS = "the largest scores differ from those of permuted users (Kolmogorov and Smirnov)"
HELD = "all intervals hold at once, groups of 30 and more"
BY_USERS, BY_COUNTS = "the group is shown worse by its users", "it is shown worse by counts"
BY_BOTH = "shown by counts, where it is shown by users"
KEPT = "standard deviation that is left on levels, over that of values"
Z_KEPT = "score of the group by counts, over that by users"
_MANY = 1000
"""Permutations where their own distribution is looked at."""

Values = Callable[[np.random.Generator, int], AnyArray]


def _frame(codes: list[AnyArray], given: IntArray | None = None) -> pl.DataFrame:
    columns = {chr(ord("a") + at): np.asarray(one, dtype=np.int64) for at, one in enumerate(codes)}
    covariate = {} if given is None else {"stratum": given}
    return pl.DataFrame({"user_id": np.arange(len(codes[0])), **columns, **covariate})


def analysed(counts: fairrec.Counts, **options: Any) -> Analysis:
    """The analysis of counts, by the stages of an audit."""
    how = AuditOptions(**{"permutations": PERMUTATIONS, "engine": Engine(threads=1), **options})
    counted = counted_users(select_counts(counts, (), (), None))
    grouping = build_grouping(counted.attributes, how, counted.n_users)
    return analyse(counted.measured, grouping, how, strata=counted.strata)


def counted_values(
    world: World, given: IntArray | None = None, min_shown: int | None = None, **options: Any
) -> Analysis:
    """The audit from counts of numbers without bounds, on levels that suit them."""
    users = _frame([*world.codes], given)
    names = [f"value {at}" for at in range(len(world.values))]
    values = users.select("user_id").with_columns(
        pl.Series(name, row) for name, row in zip(names, world.values, strict=True)
    )
    tables: dict[str, Any] = {
        "values": values,
        "users": users,
        "by": [name for name in users.columns if len(name) == 1],
        "adjust_for": [] if given is None else ["stratum"],
        "tables": fairrec.Tables(better=dict.fromkeys(names, "higher")),
        "min_shown": min_shown,
        "engine": Engine(threads=1),
    }
    if max(len(np.unique(row)) for row in world.values) <= 256:
        return analysed(fairrec.count(**tables), **options)
    with tempfile.TemporaryDirectory() as folder:
        counts = fairrec.count(**tables, make_levels=Path(folder) / "levels.toml")
    return analysed(counts, **options)


def counted_lists(
    lists: CandidateLists, codes: list[AnyArray], metrics: str, **options: Any
) -> Analysis:
    """The audit from counts of scored candidates."""
    predictions = pl.DataFrame(
        {
            "user_id": np.repeat(np.arange(lists.n_users), np.diff(lists.offsets)),
            "item_id": lists.items,
            "score": lists.scores,
            "label": lists.labels,
        }
    )
    users = _frame(codes)
    return analysed(
        fairrec.count(
            predictions,
            users=users,
            by=users.columns[1:],
            metrics=metrics,
            engine=fairrec.Engine(threads=1),
        ),
        **options,
    )


def lists_of(rng: np.random.Generator, n_positives: int) -> CandidateLists:
    """Lists that have nothing to do with who gets them."""
    return random_lists(
        rng,
        np.full(N_USERS, N_CANDIDATES),
        np.full(N_USERS, n_positives),
        np.full(N_USERS, 0.5),
    )


def on_levels(values: FloatArray, edges: FloatArray) -> FloatArray:
    """The mean of the level of each user."""
    level = find_level(values, edges)
    return np.asarray(
        (np.bincount(level, values) / np.maximum(np.bincount(level), 1))[level], dtype=np.float64
    )


def _beside(counts: Analysis, users: Analysis) -> dict[str, Outcome]:
    mine, its = counts.test, users.test
    assert mine is not None
    assert its is not None
    largest = (test.largest.reshape(len(test.largest), -1).T for test in (mine, its))
    pairs = [*zip(*largest, strict=True)]
    differs = min(len(pairs) * ks_2samp(*pair).pvalue for pair in pairs) <= ALPHA
    of_counts, of_users = (test.critical(ALPHA) for test in (mine, its))
    is_tested = np.isfinite(of_counts) & np.isfinite(of_users)
    points = float(of_counts[is_tested].mean()), float(of_users[is_tested].mean())
    return {POINT: points, DIFFERS: happened(differs)}


def tables_beside_users(seed: int, n_positives: int, metrics: str) -> dict[str, Outcome]:
    """The largest score by chance, of tables of levels and of permuted users on these levels."""
    rng = np.random.default_rng(seed)
    codes = random_codes(rng, N_USERS, *N_VALUES, skew=0.8)
    lists = lists_of(rng, n_positives)
    counts = counted_lists(lists, codes, metrics, permutations=_MANY, seed=seed)
    values, wanted = measured_lists(lists, *metrics.split(","))
    if n_positives > 1 or len(wanted) == 1:
        edges = levels_of(wanted, {})
        rows = [on_levels(row, edges[one.name]) for row, one in zip(values, wanted, strict=True)]
        values = np.array(rows)
    users = audited(World(codes, values, wanted), permutations=_MANY, seed=seed + 1)
    return _beside(counts, users)


def both_draws(seed: int, n_strata: int) -> dict[str, Outcome]:
    """The largest score by chance, of both kinds of permutation that an audit of users may take."""
    rng = np.random.default_rng(seed)
    n_users = draws.LEAST_USERS
    codes = random_codes(rng, n_users, *N_VALUES, skew=0.8)
    hit = rng.random(n_users) < 0.1
    values = np.array([hit, hit * rng.choice([1.0, 0.5, 0.25], n_users)], dtype=np.float64)
    strata = build_strata(rng.integers(0, n_strata, n_users)) if n_strata > 1 else None
    world = World(codes, values, (VALUE, VALUE))
    tables = audited(world, strata=strata, seed=seed, permutations=_MANY)
    with patch.object(draws, "LEAST_USERS", math.inf):
        shuffled = audited(world, strata=strata, seed=seed + 1, permutations=_MANY)
    return _beside(tables, shuffled)


def held(analysis: Analysis) -> bool:
    """Whether all intervals hold where no group differs."""
    low, high = analysis.estimates.simultaneous
    is_large = analysis.is_tested & (analysis.moments.n >= 30)
    return not bool((is_large & ((low > 1e-9) | (high < -1e-9))).any())


def nothing_to_find(analysis: Analysis) -> dict[str, Outcome]:
    return {NAMED: happened(names_any(analysis)), HELD: happened(held(analysis))}


def null_values(
    seed: int, kinds: tuple[Values, ...], strata: int = 1, lean: float = 0, shown: int | None = None
) -> dict[str, Outcome]:
    """Values that have nothing to do with attributes, within strata where there are some."""
    rng = np.random.default_rng(seed)
    codes = random_codes(rng, N_USERS, *N_VALUES, skew=0.8)
    values = np.array([draw(rng, N_USERS) for draw in kinds], dtype=np.float64)
    given = None
    if strata > 1:
        given = rng.integers(0, strata, N_USERS)
        codes[0] = (rng.random(N_USERS) < 0.5 * np.exp(-lean * given)).astype(np.int64)
        values = values + 0.8 * given
    return nothing_to_find(counted_values(World(codes, values), given, shown, seed=seed))


def opposed(seed: int) -> dict[str, Outcome]:
    """Two metrics that are each other's opposite and permuted apart from one another."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=N_USERS)
    codes = random_codes(rng, N_USERS, *N_VALUES, skew=0.8)
    world = World(codes, np.array([values, -values]))
    return nothing_to_find(counted_values(world, seed=seed))


def failing(seed: int, n_group: int = 60, share: float = 0.05) -> dict[str, Outcome]:
    """Five groups in which a few users get nothing at all, while all else is alike."""
    rng = np.random.default_rng(seed)
    group = groups_of(1500, n_group, 5)
    is_failing = (group < 5) & (rng.random(1500) < share)
    values = np.where(is_failing, 0.0, rng.beta(51, 9, 1500))
    expected = np.where(group < 5, (1 - share) * 0.85, 0.85)
    analysis = counted_values(World([group], values[None]), seed=seed)
    low, high = (end[0] for end in analysis.estimates.simultaneous)
    is_held = True
    for code in range(6):
        at, is_member = outcome_position(analysis, code), group == code
        true = expected[is_member].mean() - expected[~is_member].mean()
        is_held &= bool(low[at] - 1e-9 <= true <= high[at] + 1e-9)
    return {HELD: happened(is_held)}


def null_lists(seed: int, n_positives: int, metrics: str) -> dict[str, Outcome]:
    """Lists that have nothing to do with attributes."""
    rng = np.random.default_rng(seed)
    codes = random_codes(rng, N_USERS, *N_VALUES, skew=0.8)
    return nothing_to_find(counted_lists(lists_of(rng, n_positives), codes, metrics, seed=seed))


def lone_shift(seed: int, n_group: int) -> dict[str, Outcome]:
    """Whether a lone shift of the mean is found by counts as by users."""
    rng = np.random.default_rng(seed)
    codes = users_with_a_group(rng, n_group)
    n_users = len(codes[0])
    harm = ERRORS * math.sqrt(1 / n_group + 1 / (n_users - n_group))
    world = shifted(rng, codes, None, harm)
    users, counts = audited(world, seed=seed), counted_values(world, seed=seed)
    by_users, by_counts = (
        is_shown_worse(one, outcome_position(one, 0, -1, -1)) for one in (users, counts)
    )
    return {
        BY_USERS: happened(by_users),
        BY_COUNTS: happened(by_counts),
        BY_BOTH: (float(by_users and by_counts), float(by_users)),
    }


def kept(seed: int, draw: Values) -> dict[str, Outcome]:
    """How much of the spread and of a score is left on the levels that are made of values."""
    rng = np.random.default_rng(seed)
    n_users = 5 * N_USERS
    codes = [(np.arange(n_users) >= 500).astype(np.int64)]
    values = np.asarray(draw(rng, n_users), dtype=np.float64)
    values = values - np.where(codes[0] == 0, 0.2 * values.std(), 0.0)
    world = World(codes, values[None])
    counts, users = counted_values(world, seed=seed), audited(world, seed=seed)
    left = counts.measured.on_levels
    column = left.column(0)
    spread = math.sqrt(((column.filled - column.mean) ** 2 * column.n).sum() / column.n_users)
    scores = [
        abs(float(one.test.scores.by_chance[0, outcome_position(one, 0)]))
        for one in (counts, users)
        if one.test is not None
    ]
    return {KEPT: (spread, float(values.std())), Z_KEPT: (scores[0], scores[1])}


def kept_on_steps(seed: int, draw: Values) -> dict[str, Outcome]:
    """The same on the fixed steps of a metric between 0 and 1."""
    rng = np.random.default_rng(seed)
    _, (metric,) = measured_lists(lists_of(rng, 1), "auc")
    values = np.asarray(draw(rng, 5 * N_USERS), dtype=np.float64)
    cut = on_levels(values, levels_of([metric], {})[metric.name])
    return {KEPT: (float(cut.std()), float(values.std()))}


def zero_inflated(rng: np.random.Generator, n: int) -> AnyArray:
    """Nothing for four of five users, and a long tail for the others."""
    return rng.exponential(size=n) * (rng.random(n) < 0.2)


def lognormal(rng: np.random.Generator, n: int) -> AnyArray:
    return rng.lognormal(sigma=1.5, size=n)


def beta(rng: np.random.Generator, n: int, low: float, high: float) -> AnyArray:
    return rng.beta(low, high, n)


TOGETHER = "auc,ndcg@5,mrr@10,hit@5"
APART = "auc,ndcg@5,map@10"
NULLS: dict[str, Callable[[int], dict[str, Outcome]]] = {
    "normal, on levels of their own": partial(null_values, kinds=(normal,)),
    "hit rate 2%": partial(null_values, kinds=(partial(hits, share=0.02),)),
    "hit rate 30%": partial(null_values, kinds=(partial(hits, share=0.3),)),
    "nothing for four of five": partial(null_values, kinds=(zero_inflated,)),
    "all of these at once": partial(
        null_values,
        kinds=(normal, partial(hits, share=0.02), partial(hits, share=0.3), zero_inflated),
    ),
    "five strata": partial(null_values, kinds=(normal,), strata=5),
    "five strata that a group has other shares of": partial(
        null_values, kinds=(normal,), strata=5, lean=0.7
    ),
    "hit rate 30%, combinations of fewer than 20 merged": partial(
        null_values, kinds=(partial(hits, share=0.3),), shown=20
    ),
    "two metrics that are each other's opposite": opposed,
    f"lists with one positive, {TOGETHER}": partial(null_lists, n_positives=1, metrics=TOGETHER),
    f"lists with five positives, {APART}": partial(null_lists, n_positives=5, metrics=APART),
}

STUDIES = (
    *(
        Study(
            f"counts, {world}",
            partial(tables_beside_users, n_positives=n, metrics=metrics),
            (Claim(POINT, *bounds, is_ratio=True), Claim(DIFFERS, None, differs)),
        )
        for world, n, metrics, bounds, differs in (
            ("one metric", 5, "ndcg@5", (0.99, 1.01), ALPHA),
            ("several metrics counted together", 1, TOGETHER, (0.99, 1.01), ALPHA),
            # independent of one another, their largest is a little larger
            ("several metrics, each by itself", 5, APART, (1.0, 1.04), None),
        )
    ),
    *(
        Study(
            f"both kinds of permutation{given}",
            partial(both_draws, n_strata=n_strata),
            (Claim(POINT, 0.99, 1.01, is_ratio=True), Claim(DIFFERS, None, ALPHA)),
        )
        for n_strata, given in ((1, ""), (4, ", four strata"))
    ),
    *(
        Study(
            f"counts, exchangeable, {name}", trial, (Claim(NAMED, None, ALPHA), Claim(HELD, 0.93))
        )
        for name, trial in NULLS.items()
    ),
    Study(
        "counts, five groups of 60 of whom 5% get nothing, no bounds",
        failing,
        (Claim(HELD, 0.93),),
    ),
    *(
        Study(
            f"counts, a lone shift of {ERRORS:g} standard errors, {n_group:,} of 10,000",
            partial(lone_shift, n_group=n_group),
            (Claim(BY_USERS), Claim(BY_COUNTS), Claim(BY_BOTH, 0.93)),
        )
        for n_group in (100, 1000)
    ),
    *(
        Study(
            f"counts, {name}, on levels of their own",
            partial(kept, draw=draw),
            (Claim(KEPT, low, None, is_ratio=True), Claim(Z_KEPT, low, None, is_ratio=True)),
        )
        for name, draw, low in (
            ("normal", normal, 0.995),
            ("exponential", skewed, 0.97),
            ("squared exponential", heavy_tail, 0.95),
            ("lognormal", lognormal, 0.95),
            ("nothing for four of five", zero_inflated, 0.95),
        )
    ),
    *(
        Study(
            f"counts, {name}, on fixed steps",
            partial(kept_on_steps, draw=draw),
            (Claim(KEPT, 0.98, None, is_ratio=True),),
        )
        for name, draw in (
            ("between 0 and 1", partial(beta, low=2, high=2)),
            ("around .02", partial(beta, low=1, high=49)),
            ("around .002", partial(beta, low=1, high=499)),
            ("around .998", partial(beta, low=499, high=1)),
        )
    ),
)
