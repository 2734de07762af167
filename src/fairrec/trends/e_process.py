"""Tests over releases that may be looked at after each one: e-processes of normal mixtures.

Each line is a group in one metric, each look a release with an estimate of the group's harm and
its standard error. Two questions are asked of a line:

- did its harm grow at some release, against the releases before it (`evidence_of_change`);
- is there a harm, by all releases together (`evidence_of_harm`).

Evidence is a likelihood ratio, averaged over how large the harm or its growth may be and, for a
growth, over the release it began with. Without any it is an e-process: the chance that it ever
reaches 1 / level is at most the level, however often and whenever one looks (Ville 1939). Of lines
that share a level, each must reach the inverse of its own share (`Detection`).

Releases are not independent where they are judged by the same users or the same held-out data: whom
the model does not suit is served badly again. What two releases have in common is known
(`release_overlap`), how much of a value persists is not. So evidence is the least over
all shares that may persist.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtri

from fairrec.core.arrays import ROUNDING, BoolArray, FloatArray, IntArray

PERSISTING = (0.25, 0.5, 0.75, 0.95)
"""Shares of the variance among users that may be the same in every release."""
WIDTH = 2.0
"""Standard errors of a line's first look: how large harms and their growth are looked for."""
LATER = 0.1
"""Share of the level that is kept for groups which the first release does not have."""
_MOST_NUMBERS = 100_000


class Evidence(NamedTuple):
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


class Detection(NamedTuple):
    """Which lines are shown, when first, and how surely; arrays are (n_lines,).

    Parameters
    ----------
    at : the first look that shows it, -1 where none does
    strongest : the look up to which the evidence is the strongest
    p_value : adjusted for all lines and all looks
    """

    at: IntArray
    strongest: IntArray
    p_value: FloatArray

    @classmethod
    def of(cls, evidence: Evidence, shares: FloatArray, alpha: float) -> Detection:
        """The detections at a level.

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


def evidence_of_change(harm: FloatArray, error: FloatArray, shared: FloatArray) -> Evidence:
    """Whether a harm grew, against one that is the same in all releases or falls.

    Only differences between releases count. What persists of the same users cancels in them, so
    that errors of single releases are larger than need be; of other users it is noise, which they
    hold. Where it is not known who was audited, all users may have been exchanged at once: then
    releases before and after count like one each, and each comparison has a share of the level.

    Parameters
    ----------
    harm, error : (n_lines, n_looks), NaN where a line has a gap
    shared : (n_looks, n_looks), the correlation of what persists; or one of each line, (n_lines,
        n_looks, n_looks), NaN for lines of which it is not known; or of several things that may
        persist, (n_things, n_lines or 1, n_looks, n_looks)
    """
    lines = _Lines.of(harm, error)
    things = _things(shared)
    is_there = lines.sureness > 0
    is_pair = is_there[:, :, None] & is_there[:, None]
    # of what all have in common nothing is left in differences, and most where nothing persists
    is_whole = ((things > 1 - ROUNDING) | ~is_pair).all(axis=(2, 3), keepdims=True)
    some = np.where(is_whole, np.eye(harm.shape[1]), things)
    found = _least_of_lines(lines, some, _change_up_to)
    is_known = np.isfinite(things).all(axis=(0, 2, 3)) | np.zeros(len(harm), dtype=bool)
    if is_known.all():
        return found
    return _chosen(is_known[:, None], found, _change_unknown_users(lines))


def evidence_of_harm(harm: FloatArray, error: FloatArray, shared: FloatArray) -> Evidence:
    """Whether there is a harm, by all releases together, against none in any.

    Parameters
    ----------
    harm, error, shared : as of `evidence_of_change`
    """
    return _least_of_lines(_Lines.of(harm, error), _things(shared), _harm_up_to)


def shares_of_level(is_known: BoolArray, tiers: IntArray) -> FloatArray:
    """(n_lines,), how the level is shared among lines, by what is known when each first appears.

    Lines of the first look share all but `LATER`, those of later looks what is left of it. Lines
    that appear together share by tiers, equally within each, so that a few broad groups do not
    pay for many narrow ones. A share never changes, so that a detection stays one.

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


class _Lines(NamedTuple):
    """What is known of some lines.

    Parameters
    ----------
    harm, sureness : (n_lines, n_looks), harms and one over their errors, 0 in gaps
    width : (n_lines,), how large sizes are looked for
    """

    harm: FloatArray
    sureness: FloatArray
    width: FloatArray

    @classmethod
    def of(cls, harm: FloatArray, error: FloatArray) -> _Lines:
        is_known = np.isfinite(harm) & np.isfinite(error)
        first = error[np.arange(len(harm)), is_known.argmax(axis=1)]
        return cls(
            np.where(is_known, harm, 0.0),
            np.where(is_known, 1 / error, 0.0),
            WIDTH * np.where(is_known.any(axis=1), first, 1.0),
        )


def _things(shared: FloatArray) -> FloatArray:
    """(n_things, n_lines or 1, n_looks, n_looks)."""
    return shared.reshape((1,) * (4 - shared.ndim) + shared.shape)


_UpTo = Callable[[_Lines, FloatArray], Evidence]
"""Lines, and what makes their errors independent -> what all looks up to each one show."""


def _least_of_lines(lines: _Lines, things: FloatArray, up_to: _UpTo) -> Evidence:
    """Of each line and look the least evidence: if nothing persists, or some share of a thing."""
    n_lines, n_looks = lines.harm.shape
    alone = np.eye(n_looks)
    parts = []
    # a part has a number for each two looks of each line
    step = max(1, _MOST_NUMBERS // n_looks**2)
    for start in range(0, n_lines, step):
        rows = slice(start, start + step)
        part = _Lines(*(column[rows] for column in lines))
        found = up_to(part, alone[None])
        # what a gap has in common with others is nothing to them
        is_known = part.sureness > 0
        is_pair = is_known[:, :, None] & is_known[:, None]
        for thing in things:
            of_part = np.nan_to_num(thing if len(thing) == 1 else thing[rows], nan=1.0)
            of_part = np.where(is_pair, of_part, alone)
            if (of_part == alone).all():
                continue
            for share in PERSISTING:
                correlation = (1 - share) * alone + share * of_part
                inverse = np.linalg.inv(np.linalg.cholesky(correlation))
                other = up_to(part, inverse)
                found = _chosen(found.log <= other.log, found, other)
        parts.append(found)
    return Evidence(*map(np.concatenate, zip(*parts, strict=True)))


def _chosen(is_one: BoolArray, one: Evidence, other: Evidence) -> Evidence:
    return Evidence(*(np.where(is_one, *pair) for pair in zip(one, other, strict=True)))


def _change_up_to(lines: _Lines, inverse: FloatArray) -> Evidence:
    """Least squares of a line that is level, and of one with a step at each look.

    Sums over looks up to each one are (n_lines, n_looks, n_steps).
    """
    n_lines, n_looks = lines.harm.shape
    if n_looks == 1:
        return _nothing(n_lines)
    # the first step is that to the first look: the level itself
    steps, harm = _independent(lines, inverse)
    with_all = (steps[:, :, :1] * steps).cumsum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.nan_to_num(with_all / with_all[:, :, :1])
    information = np.maximum((steps**2).cumsum(axis=1) - share * with_all, 0.0)
    with_harm = (harm[:, :, None] * steps).cumsum(axis=1)
    score = with_harm - share * with_harm[:, :, :1]
    logs = np.zeros((n_lines, n_looks, n_looks))
    look, step = np.tril_indices(n_looks)
    logs[:, look, step] = _mixture(
        score[:, look, step], information[:, look, step], lines.width[:, None]
    )
    later = np.arange(1, n_looks)
    logs = logs[:, :, 1:] - np.log(later * (later + 1))
    # the growth may begin with a later release: 1/n is what their shares add up to
    rest = np.full((n_lines, n_looks, 1), -math.log(n_looks))
    log = np.asarray(logsumexp(np.concatenate([logs, rest], axis=2), axis=2))
    best = 1 + _best_step(logs, lines.sureness)
    at = best[:, :, None]
    information_best = np.take_along_axis(information, at, axis=2)[:, :, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        size = np.take_along_axis(score, at, axis=2)[:, :, 0] / information_best
    return Evidence(log, np.where(information_best > 0, best, -1), size)


def _independent(lines: _Lines, inverse: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Steps to each look, (n_lines, n_looks, n_steps), and harms, in errors that are independent.

    Each look is freed of what those before it tell of its error, so that sums over the looks up
    to one need nothing of later ones.

    Parameters
    ----------
    inverse : (n_lines or 1, n_looks, n_looks), of the lower triangle whose square is the
        correlation of errors
    """
    scaled = inverse * lines.sureness[:, None]
    harm = (scaled @ lines.harm[:, :, None])[:, :, 0]
    return _from_each_on(scaled), np.asarray(harm)


def _nothing(n_lines: int) -> Evidence:
    shape = n_lines, 1
    return Evidence(np.zeros(shape), np.full(shape, -1), np.full(shape, math.nan))


def _best_step(logs: FloatArray, sureness: FloatArray) -> IntArray:
    """(n_lines, n_looks), the most probable step to a look that is known by then, less 1."""
    n_looks = sureness.shape[1]
    is_step = (sureness[:, None, 1:] > 0) & np.tri(n_looks, n_looks - 1, -1, dtype=bool)
    return np.asarray(np.where(is_step, logs, -math.inf).argmax(axis=2))


def _change_unknown_users(lines: _Lines) -> Evidence:
    """The same whatever the users have in common: p-values, each with its share of the level."""
    n_lines, n_looks = lines.harm.shape
    found = [_nothing(n_lines)]
    found += [
        _unknown_users_up_to(lines.harm[:, :n], lines.sureness[:, :n])
        for n in range(2, n_looks + 1)
    ]
    return Evidence(*map(np.hstack, zip(*found, strict=True)))


def _unknown_users_up_to(harm: FloatArray, sureness: FloatArray) -> Evidence:
    """Of all looks together, (n_lines, 1)."""
    n_looks = harm.shape[1]
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
    best = np.where(is_known[:, 1:], logs, -math.inf).argmax(axis=1)[:, None]
    log, size = (np.take_along_axis(column, best, axis=1) for column in (logs, growth))
    shares = math.log(n_looks * (n_looks - 1)) + math.log(n_looks - 1)
    return Evidence(log - shares, np.where(np.isfinite(size), best + 1, -1), size)


def _harm_up_to(lines: _Lines, inverse: FloatArray) -> Evidence:
    """Least squares of a line that is level, against 0."""
    steps, harm = _independent(lines, inverse)
    information = (steps[:, :, 0] ** 2).cumsum(axis=1)
    score = (harm * steps[:, :, 0]).cumsum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        size = score / information
    return Evidence(
        _mixture(score, information, lines.width[:, None]), np.full(information.shape, -1), size
    )


def _from_each_on(per_look: FloatArray) -> FloatArray:
    return per_look[..., ::-1].cumsum(axis=-1)[..., ::-1]


def _mixture(score: FloatArray, information: FloatArray, width: FloatArray) -> FloatArray:
    """Log of the likelihood ratio to 0 of sizes above 0, averaged over half of a normal variable.

    Parameters
    ----------
    score, information : the estimate over its variance, and one over its variance
    width : standard deviation of the normal variable
    """
    precision = information + width**-2.0
    middle = score / np.sqrt(precision)
    scale = math.log(2) - np.log(width) - np.log(precision) / 2
    return np.asarray(scale + middle**2 / 2 + log_ndtr(middle))
