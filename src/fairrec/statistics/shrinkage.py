"""How much of an observed difference to keep: what remains once selection is reckoned with.

Of many groups the one that stands out most is partly there by luck. The true differences of a
metric are taken to be drawn from a mixture of normal distributions around 0, from narrow to wide,
whose weights are estimated from all groups (adaptive shrinkage, Stephens 2017). Where hardly any
group differs, differences shrink to almost nothing; yet a single group that stands out far keeps
its own, because the mixture has a wide part for it.
"""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import FloatArray

MAX_FITTED = 4000
"""Groups that the mixture is fitted to; more of them add nothing."""
_ROUNDS = 60
_PENALTY = 10.0
"""Groups without a difference that are added: a part is believed in when groups ask for it."""


def kept_shares(difference: FloatArray, error: FloatArray) -> FloatArray:
    """(n_groups,), the share of each difference to keep; 0 where it or its error is unknown.

    Parameters
    ----------
    difference, error : (n_groups,), observed differences and their standard errors
    """
    kept = np.zeros(len(difference))
    is_known = np.isfinite(difference) & np.isfinite(error) & (error > 0)
    if not is_known.any():
        return kept
    d, e = difference[is_known], error[is_known]
    widths = _widths(d, e)
    step = -(-len(d) // MAX_FITTED)
    by_score = np.argsort(d / e, kind="stable")[::step]
    weights = _fitted(d[by_score], e[by_score], widths)
    likelihood = _likelihoods(d, e, widths) * weights
    posterior = likelihood / np.maximum(likelihood.sum(axis=1, keepdims=True), 1e-300)
    kept[is_known] = (posterior * (widths**2 / (widths**2 + e[:, None] ** 2))).sum(axis=1)
    return kept


def _widths(difference: FloatArray, error: FloatArray) -> FloatArray:
    """Standard deviations of the parts: none at all, then from a tenth of the smallest error up."""
    narrow = error.min() / 10
    wide = 2 * np.sqrt(max(float((difference**2 - error**2).max()), (8 * narrow) ** 2))
    return np.concatenate([[0.0], np.geomspace(narrow, wide, 16)])


def _likelihoods(difference: FloatArray, error: FloatArray, widths: FloatArray) -> FloatArray:
    """(n_groups, n_parts), up to a factor that is the same for all parts of a group."""
    variance = widths**2 + error[:, None] ** 2
    log = -0.5 * (difference[:, None] ** 2 / variance + np.log(variance))
    return np.asarray(np.exp(log - log.max(axis=1, keepdims=True)))


def _fitted(difference: FloatArray, error: FloatArray, widths: FloatArray) -> FloatArray:
    """(n_parts,), the weights, by expectation and maximisation."""
    likelihood = _likelihoods(difference, error, widths)
    weights = np.full(len(widths), 1 / len(widths))
    prior = np.zeros(len(widths))
    prior[0] = _PENALTY
    for _ in range(_ROUNDS):
        posterior = likelihood * weights
        posterior /= np.maximum(posterior.sum(axis=1, keepdims=True), 1e-300)
        weights = posterior.sum(axis=0) + prior
        weights /= weights.sum()
    return weights
