"""The rows a page shows."""

from __future__ import annotations

import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.report.page.build import build_page_view
from fairrec.report.page.view import PageLimits
from tests.builders import two_groups
from tests.report.page.planted_page import planted, view_of


def test_a_large_result_keeps_findings_and_ends_and_says_what_is_left_out():
    view = view_of(planted(), limits=PageLimits(points=40, rows=20))
    for chart in view.charts:
        assert len(chart.points) <= 10
        assert {"finding", "best end", "worst end"} <= {point.role for point in chart.points}
    assert len(view.table) <= 20
    assert "of 342 rows are shown" in view.table_note


def test_a_table_of_another_audit_is_refused():
    predictions, users = two_groups(40)
    other = fairrec.audit(
        predictions,
        users=users,
        by="group",
        metrics="mrr",
        statistics=fairrec.Statistics(permutations=9),
    )
    with pytest.raises(InputError, match="does not belong to this result"):
        build_page_view(planted().summary, other.group_table)
