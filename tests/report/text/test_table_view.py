from __future__ import annotations

from fairrec.report.words import TableView


def test_a_column_goes_with_its_cells():
    table = TableView("t", ("a", "b", "c"), (False, True, False), (("1", "2", "3"),), "n", ("b",))
    left = table.without("b")
    assert (left.columns, left.numeric, left.rows) == (("a", "c"), (False, False), (("1", "3"),))
    assert (left.title, left.note) == ("t", "n")
