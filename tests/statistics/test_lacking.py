from __future__ import annotations

import numpy as np
import pytest

from fairrec.statistics.intervals import Interval
from fairrec.statistics.ratios import FAR, lacking

ERROR = 0.1 / FAR


def of_one(harm, low, high, others, is_gain=True, error=ERROR):
    arrays = (np.array([float(one)]) for one in (low, high))
    return lacking(
        np.array([harm]), Interval(*arrays), np.array([others]), np.array([error]), is_gain
    )


def test_a_harm_is_a_share_of_what_the_others_have():
    found = of_one(0.2, 0.1, 0.3, 1.0)
    assert found.size == pytest.approx([0.2])
    # beside the others at their most and at their least
    assert found.interval.low == pytest.approx([0.1 / 1.1])
    assert found.interval.high == pytest.approx([0.3 / 0.9])
    assert found.is_sure.all()


def test_a_benefit_weighs_most_beside_little():
    found = of_one(-0.2, -0.3, -0.1, 1.0)
    assert found.interval.low == pytest.approx([-0.3 / 0.9])
    assert found.interval.high == pytest.approx([-0.1 / 1.1])


def test_of_what_is_to_be_little_the_group_has_more():
    found = of_one(0.25, 0.1, 0.3, 1.0, is_gain=False)
    assert found.size == pytest.approx([0.25 / 1.25])
    assert found.interval.high == pytest.approx([0.3 / 1.2])


@pytest.mark.parametrize("case", [(0.1, 0.0, 0.2, 0.05), (0.1, -np.inf, 0.2, 1.0)])
def test_beside_next_to_nothing_nothing_is_sure(case):
    found = of_one(*case)
    assert not found.is_sure.any()
    assert (found.interval.low, found.interval.high) == (-np.inf, np.inf)
