"""Numbers and outside text as people read them."""

from __future__ import annotations

import math

import pytest

from fairrec.report.words import group_label, number, p_value, percent, plural, signed


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-4e-7, "0"),
        (0.00099, "0.00099"),
        (0.001, "0.00100"),
        (0.12345, "0.123"),
        (9.999, "10.00"),
        (99.96, "100.0"),
        (100, "100"),
        (-1234.5, "-1,234"),
        (math.nan, "-"),
        (None, "-"),
    ],
)
def test_three_digits_are_enough(value, text):
    assert number(value) == text


def test_a_difference_has_its_sign():
    assert [signed(value) for value in (0.25, -0.25, 0.0)] == ["+0.250", "-0.250", "+0"]


def test_a_p_value_is_never_shown_as_zero():
    assert [p_value(value) for value in (1.0, 0.05, 0.0005, 0.00049, 0.0)] == [
        *("1.000", "0.050", "0.001", "<0.001", "<0.001"),
    ]


def test_a_group_is_named_on_one_line_by_all_its_conditions():
    assert group_label({"gender": "F", "age": "65+"}) == "gender=F, age=65+"
    assert group_label({"a\nb": "\x1b[31m"}) == r"a\nb=\x1b[31m"


def test_only_one_is_singular():
    assert [plural(n, "user") for n in (0, 1, 1000)] == ["0 users", "1 user", "1,000 users"]


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0, "0%"),
        (1e-17, "0%"),
        (-1e-17, "0%"),
        (0.0004, "<0.1%"),
        (0.0005, "0.1%"),
        (0.03, "3%"),
        (0.0312, "3.1%"),
        (0.125, "12%"),
        (0.5, "50%"),
        (0.996, "99.6%"),
        (0.9996, ">99.9%"),
        (1 - 1e-16, "100%"),
        (1 + 1e-15, "100%"),
        (1, "100%"),
    ],
)
def test_not_nothing_is_never_nothing_and_not_all_is_never_all(share, shown):
    assert percent(share) == shown
