"""Tests over releases that may be looked at after each one: e-processes of normal mixtures.

Each line is a group in one metric, each look a release with an estimate of the group's harm and
its standard error. Two questions are asked of a line:

- did its harm grow at some release, against the releases before it (`evidence_of_change`);
- is there a harm, by all releases together (`evidence_of_harm`).

Evidence is a likelihood ratio, averaged over how large the harm or its growth may be and, for a
growth, over the release it began with. Without any it is an e-process: the chance that it ever
reaches 1 / level is at most the level, however often and whenever one looks (Ville 1939). Of lines
that share a level, each must reach the inverse of its own share (`Said`).

Releases are not independent where they are judged by the same users or the same held-out data:
whom the model does not suit is served badly again. What two releases have in common is known, how
much of a value persists is not. So evidence is the least over all shares that may persist.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtri

from fairrec.core.arrays import BoolArray, FloatArray, IntArray

PERSISTING = (0.25, 0.5, 0.75, 0.95)
"""Shares of the variance among users that may be the same in every release."""
WIDTH = 2.0
"""Standard errors of a line's first look: how large harms and their growth are looked for."""
LATER = 0.1
"""Share of the level that is kept for groups which the first release does not have."""
_ROUNDING = 1e-9
_MOST_USERS = 100_000


@dataclass(frozen=True, slots=True)
class Evidence:
    """What all looks up to each one show; arrays are (n_lines, n_looks).

    Parameters
    ----------
    log : natural logarithm of the e-process; that of the look before where a line has a gap
    since : the look with which the harm most probably grew, -1 where there is none to compare
    size : the harm, or how much it grew with that look
    """

    log: FloatArray
    since: IntArray
    size: FloatArray


@dataclass(frozen=True, slots=True)
class Said:
    """Which lines are shown, when first, and how surely; arrays are (n_lines,).

    Parameters
    ----------
    at : the first look by which it could be said, -1 where it could not
    strongest : the look up to which the evidence is the strongest
    p_value : adjusted for all lines and all looks
    """

    at: IntArray
    strongest: IntArray
    p_value: FloatArray

    @classmethod
    def of(cls, evidence: Evidence, shares: FloatArray, alpha: float) -> Said:
        """What is said at a level.

        Parameters
        ----------
        shares : (n_lines,), of the level; they add up to 1 at most
        """
        with np.errstate(divide="ignore"):
            log = evidence.log + np.log(shares)[:, None]
        is_shown = log >= -math.log(alpha)
        strongest = log.argmax(axis=1)
        most = np.take_along_axis(log, strongest[:, None], axis=1)[:, 0]
        at = np.where(is_shown.any(axis=1), is_shown.argmax(axis=1), -1)
        return cls(at, strongest, np.exp(-np.maximum(most, 0.0)))


def standard_errors(
    low: FloatArray,
    high: FloatArray,
    alpha: FloatArray,
    n: FloatArray,
    n_all: FloatArray,
    sd: FloatArray,
) -> FloatArray:
    """Standard errors of differences, from their one-at-a-time intervals; NaN where not known.

    A handful of users may look more alike than they are, so that no error is below that of a
    random group of as many users.

    Parameters
    ----------
    low, high : ends of the intervals at 1 - alpha
    n, n_all : users of each group, and all of them
    sd : standard deviation among all users
    """
    own = (high - low) / 2 / ndtri(1 - alpha / 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        chance = sd * np.sqrt(n_all / (n * (n_all - n)))
    error = np.fmax(own, np.where(np.isfinite(chance), chance, 0.0))
    return np.where((error > 0) & np.isfinite(own), error, math.nan)


def evidence_of_change(
    harm: FloatArray, error: FloatArray, shared: FloatArray | None = None
) -> Evidence:
    """Whether a harm grew, against one that is the same in all releases or falls.

    Only differences between releases count. What persists of the same users cancels in them, so
    that errors of single releases are larger than need be; of other users it is noise, which they
    hold. Where it is not known who was audited, all users may have been exchanged at once: then
    releases before and after count like one each, and each comparison has a share of the level.

    Parameters
    ----------
    harm, error : (n_lines, n_looks), NaN where a line has a gap
    shared : (n_looks, n_looks), users in common as a share of the geometric mean of both numbers,
        or several such matrices, for all that releases may have in common; None where that is not
        known
    """
    n_looks = harm.shape[1]
    if shared is None:
        return _by_gaps(harm, error, [np.eye(n_looks)], _change_of_anybody)
    # of what all have in common nothing is left in differences, and most where nothing persists
    some = [one for one in shared.reshape(-1, n_looks, n_looks) if (one < 1 - _ROUNDING).any()]
    return _by_gaps(harm, error, _correlations(some, n_looks), _change_up_to)


def evidence_of_harm(
    harm: FloatArray, error: FloatArray, shared: FloatArray | None = None
) -> Evidence:
    """Whether there is a harm, by all releases together, against none in any.

    Where it is not known whether users are the same, they are taken to be: more releases then
    tell little more than one.

    Parameters
    ----------
    harm, error, shared : as of `evidence_of_change`
    """
    n_looks = harm.shape[1]
    shared = np.ones((n_looks, n_looks)) if shared is None else shared
    correlations = _correlations(shared.reshape(-1, n_looks, n_looks), n_looks)
    return _by_gaps(harm, error, correlations, _harm_up_to)


def shared_users(users: Sequence[IntArray]) -> FloatArray:
    """(n_looks, n_looks), users in common as a share of the geometric mean of both numbers.

    >>> shared_users([np.array([0, 1, 2, 3]), np.array([3])])
    array([[1. , 0.5],
           [0.5, 1. ]])

    Parameters
    ----------
    users : of each look the users audited, numbered alike in all of them
    """
    n_all = 1 + max(int(numbers.max(initial=-1)) for numbers in users)
    common = np.zeros((len(users), len(users)))
    for start in range(0, n_all, _MOST_USERS):
        is_there = np.zeros((len(users), _MOST_USERS), dtype=np.float32)
        for look, numbers in enumerate(users):
            is_here = (numbers >= start) & (numbers < start + _MOST_USERS)
            is_there[look, numbers[is_here] - start] = 1
        common += is_there @ is_there.T
    n = np.sqrt(np.maximum(np.diag(common), 1))
    return np.asarray(common / (n[:, None] * n))


def shares_of_level(is_known: BoolArray, tiers: IntArray) -> FloatArray:
    """(n_lines,), how the level is shared among lines, by what is known when each first appears.

    Lines of the first look share all but `LATER`, those of later looks what is left of it. Lines
    that appear together share by tiers, equally within each, so that a few broad groups do not
    pay for many narrow ones. A share never changes, so that what was said stays said.

    Parameters
    ----------
    is_known : (n_lines, n_looks), whether a line has an estimate
    tiers : (n_lines,)
    """
    shares = np.zeros(len(is_known))
    first = np.where(is_known.any(axis=1), is_known.argmax(axis=1), -1)
    for look in np.unique(first[first >= 0]):
        here = first == look
        # 1/2 + 1/6 + 1/12 + ... = 1
        part = 1 - LATER if look == 0 else LATER / (look * (look + 1))
        present = np.unique(tiers[here])
        for tier in present:
            mine = here & (tiers == tier)
            shares[mine] = part / len(present) / mine.sum()
    return shares


def _correlations(shared: Sequence[FloatArray] | FloatArray, n_looks: int) -> list[FloatArray]:
    """Of the errors of looks: none, and one for each share that may persist of what is shared."""
    alone = np.eye(n_looks)
    return [alone] + [
        (1 - share) * alone + share * one
        for one in shared
        if (one - alone).any()
        for share in PERSISTING
    ]


class _Found(NamedTuple):
    """Of all looks up to one; (n_lines,) each, as of `Evidence`."""

    log: FloatArray
    since: IntArray
    size: FloatArray


_UpTo = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], _Found]
"""Harms and one over errors of some looks, the inverse of a correlation of them, how large sizes
are looked for -> what they show."""


def _by_gaps(
    harm: FloatArray, error: FloatArray, correlations: Sequence[FloatArray], up_to: _UpTo
) -> Evidence:
    """Evidence of all lines; those with the same gaps together, where errors go together."""
    n_lines, n_looks = harm.shape
    log = np.zeros((n_lines, n_looks))
    since = np.full((n_lines, n_looks), -1)
    size = np.full((n_lines, n_looks), math.nan)
    is_known = np.isfinite(harm) & np.isfinite(error)
    harm, sureness = np.where(is_known, harm, 0.0), np.where(is_known, 1 / error, 0.0)
    rows = np.arange(n_lines)
    width = WIDTH * np.where(is_known.any(axis=1), error[rows, is_known.argmax(axis=1)], 1.0)
    for lines, looks in _parts(is_known, all(_is_diagonal(one) for one in correlations)):
        inverses = [_inverses(one[np.ix_(looks, looks)]) for one in correlations]
        for n in range(1, len(looks) + 1):
            seen = looks[:n]
            numbers = harm[np.ix_(lines, seen)], sureness[np.ix_(lines, seen)]
            found = _least(
                [up_to(*numbers, inverse[n - 1], width[lines, None]) for inverse in inverses]
            )
            # up to the next look that has the lines
            span = slice(seen[-1], looks[n] if n < len(looks) else n_looks)
            log[lines, span] = found.log[:, None]
            since[lines, span] = np.where(found.since < 0, -1, seen[found.since])[:, None]
            size[lines, span] = found.size[:, None]
    return Evidence(log, since, size)


def _parts(is_known: BoolArray, is_diagonal: bool) -> Iterator[tuple[IntArray, IntArray]]:
    """Lines that can be worked on together, and their looks.

    A look that says nothing can stay, unless it says something about the errors of others.
    """
    n_lines, n_looks = is_known.shape
    if is_diagonal:
        yield np.arange(n_lines), np.arange(n_looks)
        return
    patterns, which = np.unique(is_known, axis=0, return_inverse=True)
    for at, pattern in enumerate(patterns):
        lines, looks = np.flatnonzero(which.reshape(-1) == at), np.flatnonzero(pattern)
        yield lines, looks


def _is_diagonal(matrix: FloatArray) -> bool:
    return not (matrix - np.diag(np.diag(matrix))).any()


def _inverses(correlation: FloatArray) -> list[FloatArray]:
    """Of the first look, the first two, and so on."""
    sizes = range(1, len(correlation) + 1)
    return [np.linalg.inv(correlation[:n, :n]).astype(np.float64) for n in sizes]


def _least(found: Sequence[_Found]) -> _Found:
    """Of each line the answer with the least evidence."""
    at = np.array([one.log for one in found]).argmin(axis=0)[None]
    parts = (np.array(part) for part in zip(*found, strict=True))
    return _Found(*(np.take_along_axis(part, at, axis=0)[0] for part in parts))


def _nothing(n_lines: int) -> _Found:
    return _Found(np.zeros(n_lines), np.full(n_lines, -1), np.full(n_lines, math.nan))


def _change_up_to(
    harm: FloatArray, sureness: FloatArray, inverse: FloatArray, width: FloatArray
) -> _Found:
    """Least squares of a line that is level, and of one with a step at each look."""
    n_lines, n = harm.shape
    if n == 1:
        return _nothing(n_lines)
    with_all, with_itself, with_harm = _sums_from_each_on(harm, sureness, inverse)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.nan_to_num(with_all / with_all[:, :1])
    # the first look has nothing before it
    told = np.maximum(with_itself - share * with_all, 0.0)[:, 1:]
    score = (with_harm - share * with_harm[:, :1])[:, 1:]
    looks = np.arange(2, n + 1)
    logs = _mixture(score, told, width) - np.log(looks * (looks - 1))
    best, rows = _best_step(logs, sureness), np.arange(n_lines)
    # the growth may begin with a later release: 1/n is what their shares add up to
    rest = np.full((n_lines, 1), -math.log(n))
    log = np.asarray(logsumexp(np.hstack([logs, rest]), axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        size = score[rows, best] / told[rows, best]
    return _Found(log, np.where(told[rows, best] > 0, best + 1, -1), size)


def _best_step(logs: FloatArray, sureness: FloatArray) -> IntArray:
    """The most probable step to a look that is known."""
    return np.asarray(np.where(sureness[:, 1:] > 0, logs, -math.inf).argmax(axis=1))


def _sums_from_each_on(
    harm: FloatArray, sureness: FloatArray, inverse: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """With the precision between: the looks from each one on times all looks, themselves, harms.

    Each is (n_lines, n_looks).
    """
    above = np.triu(inverse, 1)
    alone = np.diag(inverse) * sureness**2 + 2 * sureness * (sureness @ above.T)
    return (
        _from_each_on(sureness * (sureness @ inverse)),
        _from_each_on(alone),
        _from_each_on(sureness * ((sureness * harm) @ inverse)),
    )


def _change_of_anybody(
    harm: FloatArray, sureness: FloatArray, inverse: FloatArray, width: FloatArray
) -> _Found:
    """The same whatever the users have in common: p-values, each with its share of the level."""
    n_lines, n = harm.shape
    if n == 1:
        return _nothing(n_lines)
    is_known = sureness > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = harm, np.where(is_known, 1 / sureness, 0.0)
        # the mean of errors is that of a mean whose parts err together
        counts = is_known.astype(np.float64)
        n_after, n_before = _from_each_on(counts)[:, 1:], counts.cumsum(axis=1)[:, :-1]
        after, after_error = (_from_each_on(part)[:, 1:] / n_after for part in parts)
        before, before_error = (part.cumsum(axis=1)[:, :-1] / n_before for part in parts)
        growth = after - before
        logs = -log_ndtr(-growth / np.hypot(after_error, before_error))
    logs = np.where(np.isfinite(growth), logs, 0.0)
    best, rows = _best_step(logs, sureness), np.arange(n_lines)
    log = logs[rows, best] - math.log(n * (n - 1)) - math.log(n - 1)
    size = growth[rows, best]
    return _Found(log, np.where(np.isfinite(size), best + 1, -1), size)


def _harm_up_to(
    harm: FloatArray, sureness: FloatArray, inverse: FloatArray, width: FloatArray
) -> _Found:
    """Least squares of a line that is level, against 0."""
    weights = sureness @ inverse * sureness
    told, score = weights.sum(axis=1), (weights * harm).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        size = score / told
    return _Found(_mixture(score, told, width[:, 0]), np.full(len(harm), -1), size)


def _from_each_on(per_look: FloatArray) -> FloatArray:
    return per_look[:, ::-1].cumsum(axis=1)[:, ::-1]


def _mixture(score: FloatArray, told: FloatArray, width: FloatArray) -> FloatArray:
    """Log of the likelihood ratio to 0 of sizes above 0, averaged over half of a normal variable.

    Parameters
    ----------
    score, told : the estimate over its variance, and one over its variance
    width : standard deviation of the normal variable
    """
    precision = told + width**-2.0
    middle = score / np.sqrt(precision)
    scale = math.log(2) - np.log(width) - np.log(precision) / 2
    return np.asarray(scale + middle**2 / 2 + log_ndtr(middle))
