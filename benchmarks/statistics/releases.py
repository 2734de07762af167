"""A model that stays as it is, or gets worse for one group, looked at release after release."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import ndtri

from benchmarks.statistics.rates import Claim
from benchmarks.statistics.study import Outcome, Study, happened
from benchmarks.statistics.world import random_codes
from fairrec import Engine
from fairrec.core.arrays import AnyArray, FloatArray, IntArray
from fairrec.core.audit_options import AuditOptions
from fairrec.groups.grouping import Grouping
from fairrec.inputs.users import Attribute
from fairrec.statistics.intervals import CutOffs, Intervals
from fairrec.statistics.moments import group_moments
from fairrec.trends.e_process import (
    Detection,
    evidence_of_change,
    evidence_of_harm,
    shares_of_level,
    standard_errors,
)
from fairrec.trends.release_overlap import shared_differences

ALPHA = 0.05
GREW = "any group is said to be worse since a release"
WORSE = "any group is said to be worse than all others, by all releases"
N_LOOKS, N_USERS = 50, 2000
VALUES = (2, 4, 8)
RARE = VALUES[-1] - 1
PERSISTS = 0.5
"""Share of the variance among users that is the same in every release, about."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A user's taste, and values around it; more is worse.

    Parameters
    ----------
    taste : what persists of so many users
    values : tastes -> values of one release
    bounds : of the values
    """

    taste: Callable[[np.random.Generator, int], FloatArray]
    values: Callable[[np.random.Generator, FloatArray], AnyArray]
    bounds: tuple[float, float] = (-math.inf, math.inf)


def _rate(share: float) -> Shape:
    """1 or 0, by probabilities that vary among users, between 0 and 1."""
    return Shape(
        lambda rng, n: rng.beta(share, 1 - share, n),
        lambda rng, taste: rng.random(len(taste)) < taste,
        (0.0, 1.0),
    )


SHAPES = {
    "normal": Shape(
        lambda rng, n: rng.normal(size=n) * math.sqrt(PERSISTS),
        lambda rng, taste: taste + rng.normal(size=len(taste)) * math.sqrt(1 - PERSISTS),
    ),
    "rate 20%": _rate(0.2),
    "rate 2%": _rate(0.02),
    "rate 98%": _rate(0.98),
    "exponential": Shape(
        lambda rng, n: rng.gamma(3, size=n) / 3,
        lambda rng, taste: taste * rng.exponential(size=len(taste)),
    ),
    "lognormal": Shape(
        lambda rng, n: rng.normal(size=n) * math.sqrt(PERSISTS),
        lambda rng, taste: np.exp(taste + rng.normal(size=len(taste)) * math.sqrt(1 - PERSISTS)),
    ),
}

Audited = Callable[[np.random.Generator, int, int], list[IntArray]]
"""Users and releases -> numbers of the users audited in each."""


def same(rng: np.random.Generator, n_users: int, n_looks: int) -> list[IntArray]:
    return [np.arange(n_users)] * n_looks


def anew(rng: np.random.Generator, n_users: int, n_looks: int) -> list[IntArray]:
    return [np.arange(n_users) + n_users * look for look in range(n_looks)]


def exchanged(rng: np.random.Generator, n_users: int, n_looks: int) -> list[IntArray]:
    """All of them half-way."""
    return [np.arange(n_users) + n_users * (2 * look >= n_looks) for look in range(n_looks)]


def drifting(rng: np.random.Generator, n_users: int, n_looks: int) -> list[IntArray]:
    """One in twenty leaves with each release, and another one comes."""
    users, last, looks = np.arange(n_users), n_users, []
    for _ in range(n_looks):
        looks.append(np.sort(users))
        leaves = rng.random(n_users) < 0.05
        users = users.copy()
        users[leaves] = last + np.arange(leaves.sum())
        last += int(leaves.sum())
    return looks


WHO: dict[str, Audited] = {
    "the same users": same,
    "users drawn anew": anew,
    "users exchanged half-way": exchanged,
    "5% of users exchanged each time": drifting,
}


@dataclass(frozen=True, slots=True)
class Lines:
    """Harms and errors over releases, (n_lines, n_looks); codes and depth of each line's group."""

    harm: FloatArray
    error: FloatArray
    keys: list[tuple[int, ...]]
    depth: IntArray

    def said(self, shared: FloatArray | None) -> tuple[Detection, Detection]:
        """What is said of a growth, and of a harm; None: nothing is known of the users."""
        if shared is None:
            shared = np.full((self.harm.shape[1],) * 2, np.nan)
        shares = shares_of_level(np.isfinite(self.error), (self.depth > 1).astype(np.int64))
        grew = evidence_of_change(self.harm, self.error, shared)
        worse = evidence_of_harm(self.harm, self.error, shared)
        return Detection.of(grew, shares, ALPHA), Detection.of(worse, shares, ALPHA)


def look_at(
    values: FloatArray, codes: list[AnyArray], bounds: tuple[float, float]
) -> dict[tuple[int, ...], tuple[float, float, int]]:
    """Harm, error and depth of each group, by its codes, as the audit of one release has them."""
    attributes = [
        Attribute(chr(ord("a") + at), column.astype(np.int32), tuple(range(n)))
        for at, (column, n) in enumerate(zip(codes, VALUES, strict=True))
    ]
    grouping = Grouping.of(attributes, AuditOptions(engine=Engine(threads=1)))
    moments = group_moments(values[None], grouping, bounds=np.array([bounds]))
    cut_off = np.full((1, 1), ndtri(1 - ALPHA / 2))
    low, high = Intervals(moments).of_differences(CutOffs(cut_off, cut_off))
    error = standard_errors(
        low, high, np.array(ALPHA), moments.n, moments.n_users[:, None], moments.sd[:, None]
    )
    keys = map(tuple, grouping.lattice.codes.tolist())
    return {
        key: (harm, own, depth)
        for key, harm, own, depth in zip(
            keys, moments.difference[0], error[0], grouping.lattice.depth, strict=True
        )
    }


def build_lines(looks: list[dict[tuple[int, ...], tuple[float, float, int]]]) -> Lines:
    """The groups of all releases, with gaps where one has too few users for them."""
    keys = sorted({key for look in looks for key in look})
    gap = (math.nan, math.nan, 0)
    numbers = np.array([[look.get(key, gap) for look in looks] for key in keys])
    depth = numbers[:, :, 2].max(axis=1).astype(np.int64)
    return Lines(numbers[:, :, 0], numbers[:, :, 1], keys, depth)


def members_in_common(
    keys: list[tuple[int, ...]], looks: list[IntArray], codes: list[list[AnyArray]]
) -> FloatArray:
    """(n_lines, n_looks, n_looks), by the codes of each look's users."""
    shared = np.ones((len(keys), len(looks), len(looks)))
    # groups of the same attributes have no user in common
    for has_code in sorted({tuple(code >= 0 for code in key) for key in keys}):
        used = np.flatnonzero(has_code)
        sizes = [VALUES[at] for at in used]
        groups = [np.ravel_multi_index([one[at] for at in used], sizes) for one in codes]
        mine = [at for at, key in enumerate(keys) if tuple(code >= 0 for code in key) == has_code]
        of_lines = np.ravel_multi_index(np.array([keys[at] for at in mine]).T[used], sizes)
        shared[mine] = shared_differences(looks, groups, math.prod(sizes))[of_lines]
    return shared


def unchanging(
    seed: int,
    shape: Shape,
    who: Audited,
    knows: bool,
    n_looks: int = N_LOOKS,
    is_relabelled: bool = False,
) -> dict[str, Outcome]:
    """Whether anything is said of a model that stays as it is and serves everybody alike.

    Parameters
    ----------
    knows : whether it is known who was audited
    is_relabelled : whether half-way the values of all attributes are dealt out to other users
    """
    rng = np.random.default_rng(seed)
    looks = who(rng, N_USERS, n_looks)
    n_all = 1 + max(int(users.max()) for users in looks)
    codes = random_codes(rng, n_all, *VALUES, skew=1.0)
    taste = shape.taste(rng, n_all)
    after = [rng.permutation(column) for column in codes] if is_relabelled else codes
    of_users = [
        [column[users] for column in (codes if 2 * look < n_looks else after)]
        for look, users in enumerate(looks)
    ]
    lines = build_lines(
        [
            look_at(shape.values(rng, taste[users]).astype(np.float64), columns, shape.bounds)
            for users, columns in zip(looks, of_users, strict=True)
        ]
    )
    grew, worse = lines.said(members_in_common(lines.keys, looks, of_users) if knows else None)
    return {
        GREW: happened(bool((grew.at >= 0).any())),
        WORSE: happened(bool((worse.at >= 0).any())),
    }


def one_drop(
    seed: int, who: Audited, release: int = 10, n_looks: int = 20, by: float = 0.3
) -> dict[str, int]:
    """When it is said that 300 of 10,000 users are worse off by so many standard deviations.

    Releases are counted from 1; 0 for never. `since` is the release that is named.
    """
    rng = np.random.default_rng(seed)
    n_users, shape = 10_000, SHAPES["normal"]
    looks = who(rng, n_users, n_looks)
    n_all = 1 + max(int(users.max()) for users in looks)
    codes = random_codes(rng, n_all, *VALUES, skew=1.0)
    # 300 of any 10,000 in a row have this value of the last attribute, and nobody else
    codes[2] = np.where(np.arange(n_all) % n_users < 300, RARE, codes[2] % RARE)
    taste, drops = shape.taste(rng, n_all), (codes[2] == RARE) * by
    found = []
    for look, users in enumerate(looks, start=1):
        values = shape.values(rng, taste[users]) + drops[users] * (look >= release)
        found.append(look_at(values, [column[users] for column in codes], shape.bounds))
    lines = build_lines(found)
    line = lines.keys.index((-1, -1, RARE))
    of_users = [[column[users] for column in codes] for users in looks]
    shared = members_in_common(lines.keys, looks, of_users)
    shares = shares_of_level(np.isfinite(lines.error), (lines.depth > 1).astype(np.int64))
    evidence = evidence_of_change(lines.harm, lines.error, shared)
    said = Detection.of(evidence, shares, ALPHA)
    at = int(said.at[line])
    return {
        "said": at + 1,
        "since": int(evidence.since[line, said.strongest[line]]) + 1 if at >= 0 else 0,
        "lines": len(lines.keys),
    }


def drop_study(seed: int, who: Audited, by: float) -> dict[str, Outcome]:
    """The claims on one drop."""
    found = one_drop(seed, who, by=by)
    claims = {
        f"said by release {last}": happened(0 < found["said"] <= last) for last in (10, 11, 12, 20)
    }
    near = happened(abs(found["since"] - 10) <= 1) if found["said"] else (0.0, 0.0)
    return {**claims, "of those said, since release 9 to 11": near}


def _null(name: str, who: str, knows: bool = True, is_relabelled: bool = False) -> Study:
    about = "" if knows else ", not known who"
    about += ", in other groups half-way" if is_relabelled else ""
    return Study(
        f"unchanging model, {N_LOOKS} releases, {name}, {who}{about}",
        partial(
            unchanging,
            shape=SHAPES[name],
            who=WHO[who],
            knows=knows,
            is_relabelled=is_relabelled,
        ),
        (Claim(GREW, None, ALPHA), Claim(WORSE, None, ALPHA)),
    )


def _drop(who: str, by: float, low: float | None) -> Study:
    return Study(
        f"300 of 10,000 worse by {by:g} sd from release 10 of 20, {who}",
        partial(drop_study, who=WHO[who], by=by),
        (
            *(Claim(f"said by release {last}") for last in (10, 11, 12)),
            Claim("said by release 20", low),
            Claim("of those said, since release 9 to 11", 0.8),
        ),
    )


STUDIES: tuple[Study, ...] = (
    *(_null(name, who) for name in SHAPES for who in ("the same users", "users drawn anew")),
    _null("normal", "users exchanged half-way"),
    _null("normal", "the same users", is_relabelled=True),
    _null("normal", "5% of users exchanged each time"),
    _null("lognormal", "users exchanged half-way", knows=False),
    _drop("the same users", 0.3, 0.95),
    _drop("users drawn anew", 0.3, 0.95),
    _drop("5% of users exchanged each time", 0.3, None),
    _drop("users drawn anew", 0.2, None),
)
