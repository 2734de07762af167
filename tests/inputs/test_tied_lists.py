"""What a result tells of its tables."""

from __future__ import annotations

from fairrec.inputs.order import TiedLists


def test_tied_lists_of_two_parts_add_up():
    both = TiedLists(10, 5, 4, 3, 2) + TiedLists(10, 50, 40, 30, 20)
    assert both == TiedLists(10, 55, 44, 33, 22)
