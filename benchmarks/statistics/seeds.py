"""Whether another seed, which permutes values otherwise, gives another outcome."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from benchmarks.statistics.rates import Claim
from benchmarks.statistics.shape import attributes
from benchmarks.statistics.study import Outcome, Study, happened
from benchmarks.statistics.world import HIT, VALUE, World, audited
from fairrec.core.arrays import AnyArray
from fairrec.statistics.verdict import MetricVerdict, decide_verdicts

N_USERS = 2000
MATTERS = 0.45
"""Of a standard deviation: about what groups of one attribute can be cleared of."""
OPPOSED = "another seed gives another outcome"
UNDECIDED = "undecided by permutation"


def normal(rng: np.random.Generator, is_member: AnyArray, errors: float) -> AnyArray:
    """With a mean that is lower by so many standard errors in a group."""
    n, n_users = int(is_member.sum()), len(is_member)
    shift = errors * math.sqrt(1 / n + 1 / (n_users - n))
    return rng.normal(size=n_users) - shift * is_member


def hits(rng: np.random.Generator, is_member: AnyArray, errors: float) -> AnyArray:
    """One in five users has one, and fewer of the group."""
    n, n_users = int(is_member.sum()), len(is_member)
    lost = 0.4 * errors * math.sqrt(1 / n + 1 / (n_users - n))
    return rng.random(n_users) < 0.2 - lost * is_member


def by_two_seeds(seed: int, kind: str, permutations: int) -> dict[str, Outcome]:
    """A world in which a group is shown worse by half of all seeds or so, audited by two."""
    rng = np.random.default_rng(seed)
    codes = attributes(rng, N_USERS)
    draw, metric = {"normal": (normal, VALUE), "20% hits": (hits, HIT)}[kind]
    values = draw(rng, codes[1] == 4, rng.uniform(3, 3.6)).astype(np.float64)
    world = World(codes, values[None], (metric,))
    tolerance = MATTERS * float(values.std())
    verdicts: list[MetricVerdict] = []
    for own_seed in rng.integers(2**31, size=2).tolist():
        how = {"seed": own_seed, "permutations": permutations, "tolerance": f"{tolerance:.3f}"}
        verdicts += [one.verdict for one in decide_verdicts(audited(world, **how), [True])]
    is_open = [verdict.alternative is not None for verdict in verdicts]
    is_other = verdicts[0].outcome != verdicts[1].outcome
    return {
        OPPOSED: happened(is_other and not any(is_open)),
        UNDECIDED: happened(any(is_open)),
    }


STUDIES = tuple(
    Study(
        f"{kind}, a group about as far off as can be shown, {permutations} permutations",
        partial(by_two_seeds, kind=kind, permutations=permutations),
        (Claim(OPPOSED, None, 0.001, before), Claim(UNDECIDED, None, 0.15)),
    )
    for kind, permutations, before in (
        ("normal", 300, ""),
        ("normal", 1000, ""),
        ("20% hits", 300, ""),
    )
)
