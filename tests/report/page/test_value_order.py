"""The values of an attribute in the order people expect."""

from __future__ import annotations

import pytest

from fairrec.report.page.attributes import value_order


@pytest.mark.parametrize(
    "expected",
    [
        ["under 18", "18-24", "25-34", "56+"],
        ["<= 5", "5", "10", "100"],
        ["-10", "-2", "0", "1.5", "[2, 3)", "(3, 4]"],
        ["7", "north", "south", "(missing)"],
        # more digits than a number needs are no reason to fail
        ["1", "9" * 400],
        ["City 2", "City 10", "city 11", "City 100", "Town", "(missing)"],
        ["Level 1.5", "Level 2", "Level 10"],
        ["", "a", "(missing)"],
        ["18-24", "18-30", "25-34"],
    ],
)
def test_numbers_by_size_then_words_then_what_is_missing(expected):
    backwards = expected[::-1]
    assert sorted(backwards, key=value_order) == expected
