"""Two audits of one model on redrawn held-out interactions, or of a worse one: what is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.statistics.changes import ALPHA, SHAPES, SKEWED, build_grouping, random_grouping
from benchmarks.statistics.rates import Claim
from benchmarks.statistics.study import Outcome, Study, happened
from benchmarks.statistics.world import random_codes
from fairrec.comparison.losses import (
    ComparedGroups,
    JudgedGroups,
    compare_paired,
    judge_groups,
)
from fairrec.comparison.unpaired_audits import Published, compare_unpaired
from fairrec.core.arrays import AnyArray, BoolArray, FloatArray
from fairrec.groups.grouping import Grouping
from fairrec.statistics.intervals import Interval, estimate
from fairrec.statistics.moments import group_moments

EQUAL = "no group lost or gained"
ALIKE = "no group changed otherwise than all others"
HELD = "all intervals hold the true change"
HELD_DIFFERENCE = "all intervals hold the true difference from the change of all others"
FALSELY = "a loss is ruled out although the group lost more"
FOUND = "the group that is served worse lost"
BY_MORE_FOUND = "it lost beyond the tolerance"
BEHIND_FOUND = "it lost more than all others"
LEVEL, COVERAGE = 0.95, 0.94
BOUNDS = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Kind:
    """A metric: what users are to expect, and what one set of held-out interactions shows.

    Parameters
    ----------
    expected : of so many users
    mean : of what is expected
    shown : one value for each expectation, the spread of users of some groups that many times as
        wide; always with that mean
    bounds : of the metric, where it has any
    """

    expected: Callable[[np.random.Generator, int], AnyArray]
    shown: Callable[[np.random.Generator, FloatArray, FloatArray], AnyArray]
    mean: float
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
    "hits of 20%": Kind(lambda rng, n: rng.beta(1, 4, n), _hits, 0.2, BOUNDS),
    "hits of 3%": Kind(lambda rng, n: rng.beta(0.3, 9.7, n), _hits, 0.03, BOUNDS),
    "shares": Kind(lambda rng, n: 0.02 + 0.96 * rng.beta(1, 3, n), _shares, 0.26, BOUNDS),
    "lognormal amounts": Kind(lambda rng, n: rng.gamma(2.0, 1.0, n), _amounts, 2.0),
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
        sd, mean = float(np.sqrt(moments.variance[0])), float(moments.mean[0])
        sides.append(Published(moments.n[0], *ends, ALPHA, sd, grouping.n_users, mean))
    depth = grouping.lattice.depth
    (found,) = compare_unpaired([sides[0]], [sides[1]], [depth], [kind.bounds], ALPHA)
    return found


def verdict(found: ComparedGroups, grouping: Grouping, tolerance: float | None) -> JudgedGroups:
    return judge_groups(found, grouping.lattice.depth, True, tolerance, is_conclusive=True)


def holds(interval: Interval, true: FloatArray | float) -> bool:
    """Whether no interval leaves out what is true."""
    return not bool(((interval.low > true) | (interval.high < true)).any())


def _alike(found: ComparedGroups, change: float) -> dict[str, Outcome]:
    """What is found where every group is to change by as much."""
    return {
        EQUAL: happened(not found.is_beyond_chance.any()),
        ALIKE: happened(not found.differs.any()),
        HELD: happened(holds(found.interval, change)),
        HELD_DIFFERENCE: happened(holds(found.difference_interval, 0.0)),
    }


def redrawn(
    seed: int, kind: Kind, is_paired: bool = True, wider: float = 1.0, keeps: float = 1.0
) -> dict[str, Outcome]:
    """The same model twice: by the same users with other held-out items, or by other users.

    Parameters
    ----------
    keeps : share of what each user is to expect that is left the second time
    """
    rng = np.random.default_rng(seed)
    grouping = random_grouping(rng)
    n, times = grouping.n_users, _times(grouping, wider)
    first = kind.expected(rng, n)
    second = first if is_paired else kind.expected(rng, n)
    before, after = kind.shown(rng, first, times), kind.shown(rng, keeps * second, times)
    found = compared(kind, grouping, before, after, is_paired)
    return _alike(found, (keeps - 1) * kind.mean)


def skewed_changes(seed: int, shape: str, wider: float, shift: float = 0.0) -> dict[str, Outcome]:
    """Another model by which users change, and all groups by as much on average.

    Parameters
    ----------
    shift : how much that is, in standard deviations of changes
    """
    rng = np.random.default_rng(seed)
    grouping = random_grouping(rng)
    change = shift + SHAPES[shape](rng, grouping.n_users) * _times(grouping, wider)
    found = compared(KINDS["lognormal amounts"], grouping, np.zeros_like(change), change, True)
    return _alike(found, shift)


def _one_group(rng: np.random.Generator) -> tuple[Grouping, BoolArray, int]:
    """20,000 users with a value of an attribute that 300 of them have."""
    codes = random_codes(rng, 20_000, 2, 4, 20, skew=1.0)
    codes[2][:] = np.where(codes[2] == 19, 18, codes[2])
    is_in = np.zeros(20_000, dtype=np.bool_)
    is_in[rng.choice(20_000, 300, replace=False)] = True
    codes[2][is_in] = 19
    grouping = build_grouping(codes)
    lattice = grouping.lattice.codes
    (at,) = np.flatnonzero((lattice == np.array([-1, -1, 19])).all(axis=1))
    return grouping, is_in, int(at)


def planted(
    seed: int, kind: Kind, by: float, is_paired: bool = True, of_all: float = 0.0
) -> dict[str, Outcome]:
    """One group of 300 among 20,000 users loses so much; matters: half of it.

    Parameters
    ----------
    of_all : what everyone loses besides
    """
    rng = np.random.default_rng(seed)
    grouping, is_in, at = _one_group(rng)
    times = np.ones(grouping.n_users)
    # everyone is to expect enough to lose some of it
    least = by + of_all
    first = least + (1 - least) * kind.expected(rng, grouping.n_users)
    second = first if is_paired else least + (1 - least) * kind.expected(rng, grouping.n_users)
    before = kind.shown(rng, first, times)
    after = kind.shown(rng, second - of_all - by * is_in, times)
    found = verdict(compared(kind, grouping, before, after, is_paired), grouping, by / 2)
    loss = found.losses[at]
    return {
        FOUND: happened(loss in ("lost", "lost beyond tolerance")),
        BY_MORE_FOUND: happened(loss == "lost beyond tolerance"),
        BEHIND_FOUND: happened(bool(found.is_behind[at])),
    }


def shifted(seed: int, errors: float = 4.5) -> dict[str, Outcome]:
    """All lose half a standard deviation, one group of 300 of 20,000 so many errors more."""
    rng = np.random.default_rng(seed)
    grouping, is_in, at = _one_group(rng)
    change = rng.normal(size=grouping.n_users) - 0.5 - errors / np.sqrt(300) * is_in
    kind = KINDS["lognormal amounts"]
    found = compared(kind, grouping, np.zeros_like(change), change, True)
    return {BEHIND_FOUND: happened(bool(verdict(found, grouping, None).is_behind[at]))}


def rare_losses(seed: int, share: float) -> dict[str, Outcome]:
    """One user in many loses everything, all others nothing, in every group alike.

    Matters: half of what is lost on average, so that no group may be ruled out.
    """
    rng = np.random.default_rng(seed)
    grouping = random_grouping(rng)
    change = -(rng.random(grouping.n_users) < share).astype(np.float64)
    kind = KINDS["shares"]
    found = compared(kind, grouping, np.ones_like(change), 1 + change, True)
    losses = verdict(found, grouping, share / 2).losses
    falsely = np.isin(losses, ("gained", "no loss")).any()
    return {
        FALSELY: happened(bool(falsely)),
        HELD: happened(holds(found.interval, -share)),
        HELD_DIFFERENCE: happened(holds(found.difference_interval, 0.0)),
        ALIKE: happened(not found.differs.any()),
    }


def _redrawn(name: str, is_paired: bool, wider: float, keeps: float) -> Study:
    who = "the same users" if is_paired else "other users"
    spread = "" if wider == 1 else f", {wider:g} times as wide for rare values"
    claims = (Claim(ALIKE, LEVEL), Claim(HELD, COVERAGE), Claim(HELD_DIFFERENCE, COVERAGE))
    return Study(
        f"a model and {'itself' if keeps == 1 else 'a worse one'}, {name}, {who}{spread}",
        partial(redrawn, kind=KINDS[name], is_paired=is_paired, wider=wider, keeps=keeps),
        (Claim(EQUAL, LEVEL), *claims) if keeps == 1 else claims,
    )


def _changes(name: str, wider: float, shift: float) -> Study:
    level = LEVEL if wider == 1 else 1 - SKEWED
    coverage = COVERAGE if wider == 1 else 1 - SKEWED
    claims = (Claim(ALIKE, level), Claim(HELD, coverage), Claim(HELD_DIFFERENCE, coverage))
    return Study(
        f"another model, changes of {shift:g} on average, {name}, {wider:g} times for rare values",
        partial(skewed_changes, shape=name, wider=wider, shift=shift),
        claims if shift else (Claim(EQUAL, level), *claims),
    )


STUDIES: tuple[Study, ...] = (
    *(
        _redrawn(name, is_paired, wider, keeps)
        for is_paired in (True, False)
        for name in KINDS
        for wider in ((1.0,) if "hits" in name else (1.0, 3.0))
        for keeps in ((1.0, 0.7) if wider == 1 else (1.0,))
    ),
    *(
        _changes(name, wider, shift)
        for name in SHAPES
        for wider in (1.0, 3.0)
        for shift in ((0.0, -0.5) if wider == 1 else (0.0,))
    ),
    *(
        Study(
            f"300 of 20,000 users served worse by {by:g}, {name}, {who}"
            + (f", everyone by {of_all:g}" if of_all else ""),
            partial(
                planted, kind=KINDS[name], by=by, is_paired=who == "the same users", of_all=of_all
            ),
            (Claim(FOUND, 0.9), Claim(BY_MORE_FOUND), Claim(BEHIND_FOUND, 0.9)),
        )
        for name, by in (("hits of 20%", 0.25), ("shares", 0.2))
        for who in ("the same users", "other users")
        for of_all in (0.0, 0.1)
    ),
    Study(
        "all lose half a standard deviation, 300 of 20,000 users 4.5 standard errors more",
        shifted,
        (Claim(BEHIND_FOUND, 0.75),),
    ),
    *(
        Study(
            f"{share:g} of users lose all, in all groups alike",
            partial(rare_losses, share=share),
            (
                Claim(FALSELY, None, ALPHA),
                Claim(HELD, 1 - SKEWED),
                Claim(HELD_DIFFERENCE, COVERAGE),
                Claim(ALIKE, LEVEL),
            ),
        )
        for share in (0.05, 0.01)
    ),
)
