"""How much of an observed difference to keep: what remains once selection is reckoned with.

Of many groups the one that stands out most is partly there by luck. Most true differences of a
metric are taken to be drawn from one normal distribution around 0, whose width is estimated from
all groups (empirical Bayes; DerSimonian and Laird 1986). A few may be of any size: a difference
that the others do not explain is believed where it is far beyond what the largest of so many would
be by chance. So where hardly any group differs, differences shrink to almost nothing, and yet a
single group that stands out far keeps its own.
"""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import FloatArray

EXPECTED = 0.03
"""How many of all groups are expected to be unlike the others, before they are seen.

Chosen among four values, with 200 groups: at 0.3 what is found among small true differences is left
1.6 times too large, at 0.03 1.3 times; the price is that a lone true difference of 4, 5 and 7
standard errors is said to be 0.5, 0.7 and 0.96 of its size.
"""


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
    d, within = difference[is_known], error[is_known] ** 2
    among = _variance_among(d, within)
    usual = among + within
    # by how much the differences of groups unlike the others would have to vary for this one
    unlike = np.maximum(d**2 - usual, 0.0)
    log_odds = (
        np.log(EXPECTED / len(d))
        + 0.5 * (d**2 / usual - d**2 / (usual + unlike))
        - 0.5 * np.log1p(unlike / usual)
    )
    is_unlike = np.where(unlike > 0, 1 / (1 + np.exp(-np.clip(log_odds, -700, 700))), 0.0)
    kept_usual, kept_unlike = among / usual, (among + unlike) / (usual + unlike)
    kept[is_known] = (1 - is_unlike) * kept_usual + is_unlike * kept_unlike
    return kept


def _variance_among(difference: FloatArray, within: FloatArray) -> float:
    """The variance of true differences, by the method of moments."""
    weight = 1 / within
    total = weight.sum()
    centre = (weight * difference).sum() / total
    heterogeneity = (weight * (difference - centre) ** 2).sum()
    scale = total - (weight**2).sum() / total
    if scale <= 1e-12 * total:
        return 0.0
    return max(0.0, float((heterogeneity - (len(difference) - 1)) / scale))
