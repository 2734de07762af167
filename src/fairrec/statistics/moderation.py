"""The spread of few users, drawn to that of all."""

from __future__ import annotations

import numpy as np

from fairrec.core.arrays import FloatArray

PRIOR_USERS = 1.0
"""Weight, in users, of the spread among all users in the spread of one group.

Six users who all missed have no spread of their own, yet their mean is far from certain.
"""


def moderated(
    squares: FloatArray, n: FloatArray, variance: FloatArray | float, prior: float = PRIOR_USERS
) -> FloatArray:
    """The variance among `n` users.

    Parameters
    ----------
    squares : summed up around their mean
    variance : among all users, which counts like `prior` more of them
    """
    return np.asarray((squares + prior * variance) / (np.maximum(n - 1, 0.0) + prior))
