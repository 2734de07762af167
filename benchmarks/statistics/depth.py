"""What is shown of one group among many: by the attributes it takes, and beside other metrics."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.statistics.level import few_levels, heavy_tail, hits, normal
from benchmarks.statistics.rates import Claim
from benchmarks.statistics.shape import attributes
from benchmarks.statistics.study import Outcome, Study, happened
from benchmarks.statistics.world import HIT, VALUE, World, audited
from fairrec.core.arrays import AnyArray, BoolArray
from fairrec.metrics import MetricAtK, parse_metric
from fairrec.statistics.simultaneous import DEPTH_SHARES, NullColumns
from fairrec.statistics.verdict import WITHIN, WORSE, decide_verdicts, outcome_names

N_USERS = 5000
ERRORS = 4.5
"""A shift by so many standard errors."""
FEWEST = 30
SHOWN = "the group is shown worse"
CLEARED = "cleared of .2 standard deviations"
HOLD = "all intervals hold, groups of 30 and more"
NAMED = "any group is beyond chance"

Values = Callable[[np.random.Generator, int], AnyArray]


def watch_time(rng: np.random.Generator, n: int, sd: float = 0.8) -> AnyArray:
    """Lognormal with a mean of 1."""
    return rng.lognormal(-(sd**2) / 2, sd, n)


def losses(rng: np.random.Generator, n: int) -> AnyArray:
    """With the long tail at the worse end."""
    return -watch_time(rng, n, 1.8)


OTHERS: tuple[tuple[Values, MetricAtK], ...] = (
    (losses, VALUE),
    (partial(hits, share=0.02), HIT),
    (few_levels, parse_metric("mrr@5")),
    (watch_time, VALUE),
)
"""Metrics of other shapes, in which no group differs."""


def some_group(rng: np.random.Generator, codes: list[AnyArray], depth: int) -> BoolArray:
    """(n_users,), the members of a group by so many attributes that is not too small."""
    while True:
        chosen = rng.choice(len(codes), depth, replace=False)
        like = rng.integers(len(codes[0]))
        is_member = np.all([codes[at] == codes[at][like] for at in chosen], axis=0)
        if FEWEST <= is_member.sum() <= len(is_member) / 2:
            return np.asarray(is_member)


def lower(rng: np.random.Generator, is_member: BoolArray, kind: str) -> tuple[AnyArray, MetricAtK]:
    """Values of a kind, with a mean that is lower by `ERRORS` standard errors in a group."""
    n_users, n = len(is_member), int(is_member.sum())
    errors = ERRORS * math.sqrt(1 / n + 1 / (n_users - n))
    if kind == "normal":
        return rng.normal(size=n_users) - errors * is_member, VALUE
    if kind == "negative costs":
        return -heavy_tail(rng, n_users) / math.sqrt(20) - errors * is_member, VALUE
    if kind == "watch time":
        lost = min(0.9, errors * math.sqrt(math.expm1(0.8**2)))
        return watch_time(rng, n_users) * (1 - lost * is_member), VALUE
    share = {"20% hits": 0.2, "2% hits": 0.02}[kind]
    lost = errors * math.sqrt(share * (1 - share))
    return rng.random(n_users) < share - lost * is_member, HIT


def shifted(seed: int, depth: int, kind: str, n_metrics: int = 1) -> dict[str, Outcome]:
    """Whether a group is shown worse whose mean is lower."""
    rng = np.random.default_rng(seed)
    codes = attributes(rng, N_USERS)
    is_member = some_group(rng, codes, depth)
    kinds = [lower(rng, is_member, kind)]
    kinds += [(draw(rng, N_USERS), metric) for draw, metric in OTHERS[: n_metrics - 1]]
    values = np.array([values for values, _ in kinds], dtype=np.float64)
    world = World(codes, values, tuple(metric for _, metric in kinds))
    analysis = audited(world, seed=seed, permutations=1000)
    groups = decide_verdicts(analysis, [True] * n_metrics)[0].groups
    members = analysis.grouping.cells.sums(is_member)
    # groups with exactly these users
    shared = analysis.grouping.lattice.sums(members[None])[0]
    is_it = (shared == is_member.sum()) & (analysis.grouping.lattice.n_users == shared)
    return {SHOWN: happened(bool((groups.of_groups[is_it] <= WORSE).any()))}


def nothing_wrong(seed: int, n_users: int) -> dict[str, Outcome]:
    """Whether a metric is cleared where no group is worse, and every value has 5% of users."""
    rng = np.random.default_rng(seed)
    shares = ((0.5, 0.5), (0.05, 0.2, 0.25, 0.2, 0.15, 0.1, 0.05), (0.4, 0.3, 0.15, 0.1, 0.05))
    codes = [rng.choice(len(of), n_users, p=of) for of in (*shares, (0.6, 0.3, 0.1))]
    world = World(codes, rng.normal(size=(1, n_users)))
    ((_, verdict),) = decide_verdicts(audited(world, seed=seed, tolerance="0.2"), [True])
    return {CLEARED: happened(verdict.outcome == outcome_names(True)[WITHIN])}


def five_metrics(seed: int) -> dict[str, Outcome]:
    """Whether any group is beyond chance, or an interval misses, where no group differs."""
    rng = np.random.default_rng(seed)
    kinds = ((normal, VALUE), *OTHERS)
    values = np.array([draw(rng, 2000) for draw, _ in kinds], dtype=np.float64)
    world = World(attributes(rng, 2000), values, tuple(metric for _, metric in kinds))
    analysis = audited(world, seed=seed)
    low, high = analysis.estimates.simultaneous
    is_large = analysis.is_tested & (analysis.moments.n >= FEWEST)
    return {
        NAMED: happened(bool(analysis.is_beyond_chance.any())),
        HOLD: happened(not bool((is_large & ((low > 0) | (high < 0))).any())),
    }


def which_depth(seed: int, kind: str) -> dict[str, Outcome]:
    """Where no group differs, which of the exceedances of critical scores are at each depth."""
    rng = np.random.default_rng(seed)
    draw, metric = EXCEEDING[kind]
    values = np.asarray(draw(rng, 2000), dtype=np.float64)
    analysis = audited(World(attributes(rng, 2000), values[None], (metric,)), seed=seed)
    assert analysis.test is not None
    columns = analysis.test.tested
    cut_offs = NullColumns(columns, analysis.test.largest).cut_offs(0.05)
    n_beyond = (analysis.test.largest > cut_offs).sum(axis=(0, 1))
    depth = np.zeros(columns.n_columns, dtype=np.int64)
    is_tested = columns.of_group[0] >= 0
    depth[columns.of_group[0, is_tested]] = analysis.grouping.lattice.depth[is_tested]
    return {
        _at_depth(at): (float(n_beyond[depth == at].sum()), float(n_beyond.sum()))
        for at in (1, 2, 3)
    }


EXCEEDING: dict[str, tuple[Values, MetricAtK]] = {
    "lognormal of 1.8": (partial(watch_time, sd=1.8), VALUE),
    "2% hits": OTHERS[1],
}


def _at_depth(depth: int) -> str:
    return f"exceedances by groups of {depth} of up to 3 attributes"


def _aims() -> tuple[Claim, ...]:
    """The share of each depth, to .05."""
    total = sum(DEPTH_SHARES[:3])
    aims = [share / total for share in DEPTH_SHARES[:3]]
    return tuple(
        Claim(_at_depth(depth), round(aim - 0.05, 3), round(aim + 0.05, 3))
        for depth, aim in enumerate(aims, start=1)
    )


# with a hit rate of 2%, a group of fewer than 1,000 users cannot be 4.5 standard errors lower
POWER: dict[tuple[str, int], tuple[tuple[float | None, str], ...]] = {
    ("normal", 1): ((0.87, ".74"), (0.66, ".67"), (0.55, ".66")),
    ("normal", 5): ((0.74, ".00"), (0.46, ".00"), (0.40, ".00")),
    ("20% hits", 1): ((0.85, ".92"), (0.75, ".88"), (0.65, ".91")),
    ("2% hits", 1): ((0.75, ".86"), (None, ".55"), (None, ".09")),
    ("watch time", 1): ((0.75, ".92"), (0.60, ".97"), (0.40, ".97")),
    ("negative costs", 1): ((0.85, ".01"), (0.80, ".01"), (0.80, ".00")),
}
"""By kind and number of metrics: the least power by one, two and three attributes, and before."""

STUDIES = (
    *(
        Study(
            f"{kind}, {ERRORS} standard errors lower in a group by {depth}, metrics: {n_metrics}",
            partial(shifted, depth=depth, kind=kind, n_metrics=n_metrics),
            (Claim(SHOWN, bar, None, before),),
        )
        for (kind, n_metrics), bars in POWER.items()
        for depth, (bar, before) in enumerate(bars, start=1)
    ),
    *(
        Study(
            f"no group worse, {n_users:,} users",
            partial(nothing_wrong, n_users=n_users),
            (Claim(CLEARED, bar, None, before),),
        )
        for n_users, bar, before in ((10_000, 0.58, ".25"), (20_000, 0.88, ".93"))
    ),
    Study(
        "five metrics of different shape, no group differs",
        five_metrics,
        (Claim(NAMED, None, 0.05), Claim(HOLD, 0.94)),
    ),
    *(
        Study(f"{kind}, no group differs", partial(which_depth, kind=kind), _aims())
        for kind in EXCEEDING
    ),
)
