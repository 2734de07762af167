from __future__ import annotations

import numpy as np
import pytest

from fairrec.metrics import METRICS
from fairrec.metrics.direction import badness, harm


@pytest.mark.parametrize(
    ("higher_is_better", "harms", "worst"),
    [(True, [0.5, -0.25], 0), (False, [-0.5, 0.25], 1), (None, [0.5, 0.25], 0)],
)
def test_harm_is_positive_where_a_group_is_worse_off(higher_is_better, harms, worst):
    differences = np.array([-0.5, 0.25])
    assert harm(differences, higher_is_better).tolist() == harms
    assert [harm(float(one), higher_is_better) for one in differences] == harms
    assert np.argmax(badness(differences, higher_is_better)) == worst


def test_a_metric_knows_its_own_direction():
    assert METRICS["ndcg"].harm(-0.5) == 0.5
    assert METRICS["urp_abs"].harm(-0.5) == -0.5
    assert METRICS["urp"].harm(-0.5) == METRICS["urp"].harm(0.5) == 0.5
