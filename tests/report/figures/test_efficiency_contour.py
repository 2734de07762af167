from __future__ import annotations

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.report.figures.efficiency_contour import efficiency_contour, side_by_side
from tests.report.figures.drawing import svg


def test_the_contour_of_times_is_drawn_over_users_and_groups():
    times = pl.DataFrame(
        {
            "users": [1000, 1000, 10000, 10000],
            "groups": [100, 1000, 100, 1000],
            "seconds": [0.1, 0.3, 1.0, 4.0],
        }
    )
    chart = efficiency_contour(times, "Time of an audit")
    assert "Time of an audit" in svg(chart)
    bands = chart.layer[0].data
    # in the middle of its rectangle each time lies between those measured around it
    assert 0.1 < bands["seconds"].min() < bands["seconds"].max() < 4.0
    with pytest.raises(InputError, match="every pair"):
        efficiency_contour(times.head(3), "Time of an audit")


def test_methods_stand_side_by_side():
    times = pl.DataFrame(
        {
            "method": ["Themis"] * 4 + ["dpso"] * 4,
            "users": [10, 10, 100, 100] * 2,
            "groups": [5, 50] * 4,
            "seconds": [0.1, 0.3, 1.0, 4.0] * 2,
        }
    )
    drawn = svg(side_by_side(times, "Time", "users scored"))
    assert all(word in drawn for word in ("Time", "Themis", "dpso", "users scored"))
