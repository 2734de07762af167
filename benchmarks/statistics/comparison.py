"""Two audits of one model on redrawn held-out interactions, or of a worse one: what is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.statistics.changes import ALPHA, SHAPES, SKEWED, grouping_of, random_grouping
from benchmarks.statistics.rates import Claim
from benchmarks.statistics.study import Outcome, Study, happened
from benchmarks.statistics.world import random_codes
from fairrec.core.arrays import AnyArray, BoolArray, FloatArray
from fairrec.groups.grouping import Grouping
from fairrec.statistics.compared import ComparedGroups, ComparedMetric, compare_paired, judged
from fairrec.statistics.estimates import estimate
from fairrec.statistics.moments import group_moments
from fairrec.statistics.outcome import BY_MORE, RULED_OUT, WORSE
from fairrec.statistics.unpaired import Published, compare_unpaired

EQUAL = "no group is called worse or improved"
HELD = "all intervals hold the true change"
FALSELY = "a group is ruled out although it is worse by more"
FOUND = "the group that is served worse is called so"
BY_MORE_FOUND = "it is called worse by more than matters"
LEVEL = 0.95
BOUNDS = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Kind:
    """A metric: what users are to expect, and what one set of held-out interactions shows.

    Parameters
    ----------
    expected : of so many users
    shown : one value for each expectation, the spread of users of some groups that many times as
        wide; always with that mean
    bounds : of the metric, where it has any
    """

    expected: Callable[[np.random.Generator, int], AnyArray]
    shown: Callable[[np.random.Generator, FloatArray, FloatArray], AnyArray]
    bounds: tuple[float, float] | None = None


def _hits(rng: np.random.Generator, expected: FloatArray, times: FloatArray) -> AnyArray:
    return (rng.random(len(expected)) < expected).astype(np.float64)


def _shares(rng: np.random.Generator, expected: FloatArray, times: FloatArray) -> AnyArray:
    """Between 0 and 1, many near 0: the more so the wider."""
    size = 2.0 / times
    return rng.beta(size * expected, size * (1 - expected))


def _amounts(rng: np.random.Generator, expected: FloatArray, times: FloatArray) -> AnyArray:
    """Lognormal, with a long tail."""
    sd = np.minimum(times, 2.0)
    return expected * np.exp(sd * rng.normal(size=len(expected)) - sd**2 / 2)


KINDS = {
    "hits of 20%": Kind(lambda rng, n: rng.beta(1, 4, n), _hits, BOUNDS),
    "hits of 3%": Kind(lambda rng, n: rng.beta(0.3, 9.7, n), _hits, BOUNDS),
    "shares": Kind(lambda rng, n: 0.02 + 0.96 * rng.beta(1, 3, n), _shares, BOUNDS),
    "lognormal amounts": Kind(lambda rng, n: rng.gamma(2.0, 1.0, n), _amounts),
}


def _times(grouping: Grouping, wider: float) -> FloatArray:
    """(n_users,), how much wider values spread: more for users with a rare value."""
    return np.where(grouping.attributes[2].codes >= 10, wider, 1.0)


def compared(
    kind: Kind, grouping: Grouping, before: FloatArray, after: FloatArray, is_paired: bool
) -> ComparedGroups:
    """All groups, of one metric that is better if higher."""
    if is_paired:
        everything = np.ones((1, len(grouping.lattice)), dtype=np.bool_)
        (found,) = compare_paired(
            before[None], after[None], grouping, everything, [True], [kind.bounds], ALPHA
        )
        return found
    bounds = np.array([kind.bounds]) if kind.bounds else None
    sides = []
    for values in (before, after):
        moments = group_moments(values[None], grouping, bounds=bounds)
        told = estimate(moments, ALPHA)
        ends = told.value[0], told.value_low[0], told.value_high[0]
        sides.append(Published(moments.n[0], *ends, ALPHA, float(np.sqrt(moments.variance[0]))))
    (found,) = compare_unpaired([sides[0]], [sides[1]], [kind.bounds], ALPHA)
    return found


def verdict(found: ComparedGroups, grouping: Grouping, matters: float | None) -> ComparedMetric:
    return judged(found, grouping.lattice.depth, True, matters, is_conclusive=True)


def holds(found: ComparedGroups, true: FloatArray | float) -> bool:
    """Whether no interval leaves out what is true."""
    return not bool(((found.interval.low > true) | (found.interval.high < true)).any())


def redrawn(
    seed: int, kind: Kind, is_paired: bool = True, wider: float = 1.0
) -> dict[str, Outcome]:
    """The same model twice: by the same users with other held-out items, or by other users."""
    rng = np.random.default_rng(seed)
    grouping = random_grouping(rng)
    n, times = grouping.n_users, _times(grouping, wider)
    first = kind.expected(rng, n)
    second = first if is_paired else kind.expected(rng, n)
    before, after = kind.shown(rng, first, times), kind.shown(rng, second, times)
    found = compared(kind, grouping, before, after, is_paired)
    return {
        EQUAL: happened(not found.is_beyond_chance.any()),
        HELD: happened(holds(found, 0.0)),
    }


def skewed_changes(seed: int, shape: str, wider: float) -> dict[str, Outcome]:
    """Another model by which nobody's expectation changes on average, though users' values do."""
    rng = np.random.default_rng(seed)
    grouping = random_grouping(rng)
    change = SHAPES[shape](rng, grouping.n_users) * _times(grouping, wider)
    kind = KINDS["lognormal amounts"]
    found = compared(kind, grouping, np.zeros_like(change), change, True)
    return {EQUAL: happened(not found.is_beyond_chance.any()), HELD: happened(holds(found, 0.0))}


def _one_group(rng: np.random.Generator) -> tuple[Grouping, BoolArray, int]:
    """20,000 users with a value of an attribute that 300 of them have."""
    codes = random_codes(rng, 20_000, 2, 4, 20, skew=1.0)
    codes[2][:] = np.where(codes[2] == 19, 18, codes[2])
    is_in = np.zeros(20_000, dtype=np.bool_)
    is_in[rng.choice(20_000, 300, replace=False)] = True
    codes[2][is_in] = 19
    grouping = grouping_of(codes)
    lattice = grouping.lattice.codes
    (at,) = np.flatnonzero((lattice == np.array([-1, -1, 19])).all(axis=1))
    return grouping, is_in, int(at)


def planted(seed: int, kind: Kind, by: float, is_paired: bool = True) -> dict[str, Outcome]:
    """One group of 300 among 20,000 users is served worse by so much; matters: half of it."""
    rng = np.random.default_rng(seed)
    grouping, is_in, at = _one_group(rng)
    times = np.ones(grouping.n_users)
    # everyone is to expect enough to lose some of it
    first = by + (1 - by) * kind.expected(rng, grouping.n_users)
    second = first if is_paired else by + (1 - by) * kind.expected(rng, grouping.n_users)
    before = kind.shown(rng, first, times)
    after = kind.shown(rng, second - by * is_in, times)
    found = compared(kind, grouping, before, after, is_paired)
    named = verdict(found, grouping, by / 2).of_groups[at]
    return {
        FOUND: happened(named <= WORSE),
        BY_MORE_FOUND: happened(named == BY_MORE),
    }


def rare_losses(seed: int, share: float) -> dict[str, Outcome]:
    """One user in many loses everything, all others nothing, in every group alike.

    Matters: half of what is lost on average, so that no group may be ruled out.
    """
    rng = np.random.default_rng(seed)
    grouping = random_grouping(rng)
    change = -(rng.random(grouping.n_users) < share).astype(np.float64)
    kind = KINDS["shares"]
    found = compared(kind, grouping, np.ones_like(change), 1 + change, True)
    outcomes = verdict(found, grouping, share / 2).of_groups
    return {
        FALSELY: happened(bool((outcomes == RULED_OUT).any())),
        HELD: happened(holds(found, -share)),
    }


def _redrawn(name: str, is_paired: bool, wider: float) -> Study:
    who = "the same users" if is_paired else "other users"
    spread = "" if wider == 1 else f", {wider:g} times as wide for rare values"
    return Study(
        f"a model and itself, {name}, {who}{spread}",
        partial(redrawn, kind=KINDS[name], is_paired=is_paired, wider=wider),
        (Claim(EQUAL, LEVEL), Claim(HELD, LEVEL)),
    )


STUDIES: tuple[Study, ...] = (
    *(
        _redrawn(name, is_paired, wider)
        for is_paired in (True, False)
        for name in KINDS
        for wider in ((1.0,) if "hits" in name else (1.0, 3.0))
    ),
    *(
        Study(
            f"another model, changes of 0 on average, {name}, {wider:g} times for rare values",
            partial(skewed_changes, shape=name, wider=wider),
            (Claim(EQUAL, 1 - SKEWED), Claim(HELD, 1 - SKEWED)),
        )
        for name in SHAPES
        for wider in (1.0, 3.0)
    ),
    *(
        Study(
            f"300 of 20,000 users served worse by {by:g}, {name}, {who}",
            partial(planted, kind=KINDS[name], by=by, is_paired=who == "the same users"),
            (Claim(FOUND, 0.9), Claim(BY_MORE_FOUND)),
        )
        for name, by in (("hits of 20%", 0.25), ("shares", 0.2))
        for who in ("the same users", "other users")
    ),
    *(
        Study(
            f"{share:g} of users lose all, in all groups alike",
            partial(rare_losses, share=share),
            (Claim(FALSELY, None, ALPHA), Claim(HELD, 1 - SKEWED)),
        )
        for share in (0.05, 0.01)
    ),
)
