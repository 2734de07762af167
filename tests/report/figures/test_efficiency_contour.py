"""Times over users and groups."""

from __future__ import annotations

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.report.figures.efficiency_contour import efficiency_contour
from tests.report.figures.drawn import svg


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
