from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from fairrec.statistics.adjust import benjamini_hochberg


@given(st.lists(st.floats(0.0001, 1), min_size=1, max_size=30))
def test_benjamini_hochberg_equals_scipy(p_values):
    p = np.array(p_values)
    assert benjamini_hochberg(p) == pytest.approx(false_discovery_control(p, method="bh"))
