"""Maps of two attributes."""

from __future__ import annotations

from tests.report.page.planted_page import planted, view_of


def test_pairs_hold_the_groups_of_two_attributes():
    view = view_of(planted())
    assert {(pair.row_name, pair.column_name) for pair in view.pairs} == {
        ("gender", "age"),
        ("gender", "job"),
        ("age", "job"),
    }
    first = view.pairs[0]
    assert (first.row_name, first.column_name) == ("gender", "age")
    assert first.columns == ("18-24", "25-34", "35-64", "65+")
    worst = min(first.cells, key=lambda cell: cell.shade)
    assert (worst.row, worst.column, worst.shade, worst.is_finding) == ("F", "65+", -1.0, True)
