"""Each group's value with its confidence interval, shrunken value and detectable difference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from fairrec.core.arrays import FloatArray
from fairrec.groups.lattice import Lattice
from fairrec.statistics.moments import Moments

PRIOR_USERS = 4
"""Weight, in users, of the spread among all users in the spread of one group.

Six users who all missed have no spread of their own, yet their mean is far from certain.
"""
POWER = 0.8


@dataclass(frozen=True, slots=True)
class Estimates:
    """Arrays of shape (n_metrics, n_groups); NaN where undefined."""

    value: FloatArray
    value_low: FloatArray
    value_high: FloatArray
    shrunken: FloatArray
    difference: FloatArray
    difference_low: FloatArray
    difference_high: FloatArray


def estimate(moments: Moments, lattice: Lattice, alpha: float, bounds: FloatArray) -> Estimates:
    """Estimates of each group with confidence intervals at 1 - alpha, for one group at a time.

    Parameters
    ----------
    bounds : (n_metrics, 2), lowest and highest value a metric can have
    """
    n, n_users = moments.n, moments.n_users[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        deviation = moments.deviation
        variance = moderated_variance(moments.squares - n * deviation**2, n, moments.sd[:, None])
        others = moments.n_others
        all_squares = moments.sd[:, None] ** 2 * (n_users - 1)
        shared = moments if moments.sample is None else moments.sample
        others_squares = all_squares - shared.squares - (shared.total**2) / others
        others_variance = moderated_variance(others_squares, others, moments.sd[:, None])
        error = np.sqrt(variance / n)
        difference_error = np.sqrt(variance / n + others_variance / others)
        reach = stdtrit(np.maximum(n - 1, 0) + PRIOR_USERS, 1 - alpha / 2)
        # the smaller side decides how well the spread of a difference is known
        smaller = np.maximum(np.minimum(n, others) - 1, 0)
        difference_reach = stdtrit(smaller + PRIOR_USERS, 1 - alpha / 2)
    # adding the mean back may leave a mean of zeros a hair below 0
    value = np.clip(moments.mean[:, None] + deviation, bounds[:, :1], bounds[:, 1:])
    difference = moments.difference
    return Estimates(
        value=value,
        value_low=np.maximum(value - reach * error, bounds[:, :1]),
        value_high=np.minimum(value + reach * error, bounds[:, 1:]),
        shrunken=moments.mean[:, None] + deviation * _kept_share(moments, lattice, variance),
        difference=difference,
        difference_low=difference - difference_reach * difference_error,
        difference_high=difference + difference_reach * difference_error,
    )


def moderated_variance(squares: FloatArray, n: FloatArray, sd: FloatArray) -> FloatArray:
    """Variance in a group of `n`, drawn to the variance among all users by PRIOR_USERS."""
    prior = PRIOR_USERS * sd**2
    return np.asarray((np.maximum(squares, 0) + prior) / (np.maximum(n - 1, 0) + PRIOR_USERS))


def detectable_difference(chance_error: FloatArray, critical: float) -> FloatArray:
    """The smallest true difference this audit would report with 80% probability."""
    # a metric without spread and a test without power: infinity times 0, not defined
    with np.errstate(invalid="ignore"):
        return (critical + float(ndtri(POWER))) * chance_error


def _kept_share(moments: Moments, lattice: Lattice, variance: FloatArray) -> FloatArray:
    """Share of a group's deviation that empirical Bayes keeps.

    The groups of one set of attributes part the users; how far their means truly differ is
    estimated from them by the method of moments (DerSimonian and Laird 1986).
    """
    kept = np.zeros_like(moments.total)
    n_subsets = len(lattice.subsets)
    for metric, sd in enumerate(moments.sd):
        n = moments.n[metric]
        mean = np.where(n > 0, moments.deviation[metric], 0.0)
        if sd == 0:
            continue
        weight = n / sd**2

        def per_subset(amount: FloatArray) -> FloatArray:
            totals = np.bincount(lattice.subset, weights=amount, minlength=n_subsets)
            return totals.astype(np.float64, copy=False)

        total = np.maximum(per_subset(weight), np.finfo(float).tiny)
        centre = per_subset(weight * mean) / total
        heterogeneity = per_subset(weight * (mean - centre[lattice.subset]) ** 2)
        n_groups = per_subset((n > 0).astype(np.float64))
        scale = total - per_subset(weight**2) / total
        between = np.zeros(n_subsets)
        np.divide(heterogeneity - (n_groups - 1), scale, out=between, where=scale > 1e-12 * total)
        between = np.maximum(between, 0)[lattice.subset]
        within = np.divide(variance[metric], n, out=np.full_like(n, np.inf), where=n > 0)
        kept[metric] = between / (between + within)
    return kept
