from __future__ import annotations

import numpy as np
import pytest

from fairrec.statistics.moments import quantiles


@pytest.mark.parametrize("seed", range(5))
def test_quantiles_are_those_of_every_user(seed):
    rng = np.random.default_rng(seed)
    values, n = rng.random(12), rng.integers(1, 9, 12).astype(float)
    shares = [0.0, 0.005, 0.31, 0.5, 0.995, 1.0]
    everyone = np.repeat(values, n.astype(int))
    assert quantiles(values, n, shares) == pytest.approx(np.quantile(everyone, shares))
