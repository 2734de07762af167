"""Planted worlds in which it is the combination of two conditions, each by itself, or both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from benchmarks.statistics.rates import Claim
from benchmarks.statistics.said import results
from benchmarks.statistics.study import Outcome, Study, happened
from fairrec import Engine
from fairrec.core.arrays import CodeArray, FloatArray
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.groups.lattice import ANY
from fairrec.inputs.users import Attribute
from fairrec.metrics import MetricAtK
from fairrec.metrics.measured import Measured
from fairrec.metrics.registry import Metric
from fairrec.statistics.analysis import Analysis, analyse
from fairrec.statistics.findings import list_findings

N_USERS = 3000
MIN_USERS = 10
HIT_RATE = 0.4
POWER_SHIFT = 1.645
"""Standard errors beyond the critical value at which 95% of effects are found."""
COMBINATION, BY_ITSELF = "the combination", "each condition by itself"

HALF = (0.5, 0.5)
THIRD = (0.3, 0.7)
MOST = (0.8, 0.2)
AGES = (0.1, 0.2, 0.3, 0.2, 0.1, 0.1)
JOBS = tuple(1 / (1 + i) for i in range(10))

Effect = Callable[[list[CodeArray]], FloatArray]


@dataclass(frozen=True, slots=True)
class World:
    """Who is worse off, in effects of one.

    Parameters
    ----------
    shares : of the values of each attribute
    planted : attributes of which the first value is a condition of the group to be found
    truth : what should be said of it
    times : of the effect that is found in 95 of 100
    right, wrong : the least share of found groups of which it is said, and the most of which the
        other is
    """

    name: str
    shares: tuple[Sequence[float], ...]
    planted: tuple[int, ...]
    effect: Effect
    truth: str
    times: float = 1.0
    right: float = 0.9
    wrong: float = 0.05


def _all_of(*attributes: int) -> Effect:
    return lambda codes: np.all([codes[at] == 0 for at in attributes], axis=0).astype(float)


def _sum_of(*attributes: int) -> Effect:
    return lambda codes: np.sum([codes[at] == 0 for at in attributes], axis=0).astype(float)


def _mostly_both(codes: list[CodeArray]) -> FloatArray:
    """A quarter by the first condition, three quarters by both together."""
    return 0.25 * _all_of(0)(codes) + 0.75 * _all_of(0, 1)(codes)


WORLDS = (
    World("both only, 50% x 10% of users", (HALF, AGES, JOBS), (0, 1), _all_of(0, 1), COMBINATION),
    World("both only, 30% x 10%", (THIRD, AGES, JOBS), (0, 1), _all_of(0, 1), COMBINATION),
    World("both only, 30% x 30%", (THIRD, THIRD, JOBS), (0, 1), _all_of(0, 1), COMBINATION),
    World(
        "all three only, 50% x 10% x 33%",
        (HALF, AGES, (1, 1, 1)),
        (0, 1, 2),
        _all_of(0, 1, 2),
        COMBINATION,
    ),
    # four quarters of users: what is told of the contrast is told least surely here
    World("both only, 50% x 50%", (HALF, HALF, JOBS), (0, 1), _all_of(0, 1), COMBINATION, 1.0, 0.8),
    World(
        "both only, 50% x 50%, 1.3 times the effect",
        (HALF, HALF, JOBS),
        (0, 1),
        _all_of(0, 1),
        COMBINATION,
        1.3,
    ),
    # the second condition alone are 60 users, beside 240 who meet both
    World("both only, 80% x 10%", (MOST, AGES, JOBS), (0, 1), _all_of(0, 1), COMBINATION, 1.0, 0.6),
    World(
        "both only, 80% x 10%, 1.5 times the effect",
        (MOST, AGES, JOBS),
        (0, 1),
        _all_of(0, 1),
        COMBINATION,
        1.5,
    ),
    World("two effects added, 50% x 50%", (HALF, HALF, JOBS), (0, 1), _sum_of(0, 1), BY_ITSELF),
    World("two effects added, 30% x 30%", (THIRD, THIRD, JOBS), (0, 1), _sum_of(0, 1), BY_ITSELF),
    World(
        "3/4 both, 1/4 the first, 50% x 10%", (HALF, AGES, JOBS), (0, 1), _mostly_both, COMBINATION
    ),
    World(
        "3/4 both, 1/4 the first, 50% x 50%",
        *((HALF, HALF, JOBS), (0, 1), _mostly_both, COMBINATION, 1.0, 0.65),
    ),
)
"""The finding has the conditions planted, and its word is looked at."""

ONE_CONDITION = (
    World("one condition, 50%", (HALF, AGES, JOBS), (0,), _sum_of(0), BY_ITSELF),
    World("one condition, 10%", (AGES, HALF, JOBS), (0,), _sum_of(0), BY_ITSELF),
    World(
        "one condition, 50%, beside values of 80% to 90%",
        *((HALF, (0.9, 0.1), (0.85, 0.15), MOST), (0,), _sum_of(0), BY_ITSELF),
    ),
    World(
        "one condition, 10%, among 7 attributes",
        *(((0.1, 0.9), *(HALF,) * 4, AGES, AGES), (0,), _sum_of(0), BY_ITSELF),
        wrong=0.1,
    ),
)
"""The finding is one condition, if chance adds no second; a combination with it is a wrong word."""


def _study(world: World, is_hit: bool) -> Study:
    """How often the right word is said of a planted group, and how often the other one."""

    def trial(seed: int) -> dict[str, Outcome]:
        words = [word for is_planted, word in _words(world, is_hit, seed) if is_planted]
        n_right = words.count(world.truth)
        n_wrong = len(words) - n_right - words.count("not certain which")
        return {"the right word": (n_right, len(words)), "the other word": (n_wrong, len(words))}

    claims = (Claim("the right word", low=world.right), Claim("the other word", high=world.wrong))
    return Study(f"{world.name}, {_kind(is_hit)}", trial, claims)


def _study_of_one(world: World, is_hit: bool) -> Study:
    """How often a single condition is called a combination."""

    def trial(seed: int) -> dict[str, Outcome]:
        is_wrong = any(word == COMBINATION for _, word in _words(world, is_hit, seed))
        return {"called a combination": happened(is_wrong)}

    claims = (Claim("called a combination", high=world.wrong),)
    return Study(f"{world.name}, {_kind(is_hit)}", trial, claims)


def _kind(is_hit: bool) -> str:
    return "hits" if is_hit else "normal values"


def _words(world: World, is_hit: bool, seed: int) -> Iterator[tuple[bool, str | None]]:
    """Of each finding with a planted condition: whether it is the planted group, and its word."""
    rng = np.random.default_rng([seed, is_hit])
    codes = _codes(world, rng)
    grouping, options = _grouping(codes, seed)
    effect = world.effect(codes)
    is_planted = np.all([codes[at] == 0 for at in world.planted], axis=0)
    n = is_planted.sum()
    sd = np.sqrt(HIT_RATE * (1 - HIT_RATE)) if is_hit else 1.0
    error = sd * np.sqrt(N_USERS / (n * (N_USERS - n)))
    size = world.times * (_critical(world) + POWER_SHIFT) * error
    lowered = effect * size / (effect[is_planted].mean() - effect[~is_planted].mean())
    values = rng.normal(size=N_USERS) - lowered
    if is_hit:
        values = (rng.random(N_USERS) < HIT_RATE - lowered).astype(np.float64)
    analysis = _analysis(values, is_hit, grouping, options)
    listed = list_findings(0, analysis)[0]
    for one, found in zip(listed, results(analysis)[0].findings, strict=True):
        of_group = grouping.lattice.codes[one.position]
        conditions = {int(at) for at in np.flatnonzero(of_group != ANY) if of_group[at] == 0}
        if conditions & {*world.planted}:
            is_it = conditions == {*world.planted} == {*np.flatnonzero(of_group != ANY).tolist()}
            yield is_it, None if found.interaction is None else found.interaction.carried_by


@cache
def _critical(world: World) -> float:
    """The critical value where nothing is planted; it hardly differs between draws of a world."""
    rng = np.random.default_rng(0)
    grouping, options = _grouping(_codes(world, rng), 0)
    analysis = _analysis(rng.normal(size=N_USERS), False, grouping, options)
    return float(np.max(analysis.critical))


def _codes(world: World, rng: np.random.Generator) -> list[CodeArray]:
    return [
        rng.choice(len(shares), N_USERS, p=np.array(shares) / np.sum(shares)).astype(np.int32)
        for shares in world.shares
    ]


def _grouping(codes: list[CodeArray], seed: int) -> tuple[Grouping, AuditOptions]:
    options = AuditOptions(
        depth=3, min_support=MIN_USERS, permutations=199, seed=seed, engine=Engine(threads=1)
    )
    attributes = [
        Attribute(f"a{at}", column, tuple(range(int(column.max()) + 1)))
        for at, column in enumerate(codes)
    ]
    return Grouping.of(attributes, options), options


def _analysis(
    values: FloatArray, is_hit: bool, grouping: Grouping, options: AuditOptions
) -> Analysis:
    metric = Metric(
        name="planted",
        compute=lambda lists: None,
        higher_is_better=True,
        needs=frozenset(),
        definition="Planted values.",
        has_cutoff=False,
        bounds=(0.0, 1.0) if is_hit else None,
    )
    everyone = np.ones(len(values), dtype=bool)
    measured = Measured((MetricAtK(metric, None),), values[None], everyone, everyone)
    return analyse(measured, grouping, options)


STUDIES = tuple(
    study
    for is_hit in (False, True)
    for study in (
        *(_study(world, is_hit) for world in WORLDS),
        *(_study_of_one(world, is_hit) for world in ONE_CONDITION),
    )
)
