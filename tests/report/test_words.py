"""Numbers, outside text and tables as people read them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.report.words import (
    group_label,
    interval,
    number,
    numbers,
    p_value,
    percent,
    rounded_up,
    signed_interval,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-4e-7, "−4.00e−7"),
        (1e-7, "1.00e−7"),
        (5e-324, "4.94e−324"),
        (0.0001, "0.000100"),
        (0.00099, "0.000990"),
        (2e15, "2.00e15"),
        (-math.inf, "−inf"),
        (0.001, "0.00100"),
        (0.12345, "0.123"),
        (9.999, "10.00"),
        (99.96, "100.0"),
        (100, "100"),
        (-1234.5, "−1,234"),
        (math.nan, "-"),
        (None, "-"),
    ],
)
def test_three_digits_are_enough(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        # a tenth of a thousandth apart, and it is seen
        ((0.5, 0.4998766), ("0.5000", "0.4999")),
        ((1.20e-7, 1.31e-7), ("1.20e−7", "1.31e−7")),
        ((1.2e-7, 1.2001e-7), ("1.2000e−7", "1.2001e−7")),
        ((0.0123, -0.456), ("0.012", "−0.456")),
        ((-1.078, -0.583), ("−1.078", "−0.583")),
        ((12345.6, 12346.1), ("12,345.6", "12,346.1")),
        # what is not nothing is not written as nothing beside something large
        ((0.0001, 0.5), ("0.0001", "0.500")),
        ((1e-9, 0.5), ("1e−9", "0.500")),
        # what rounding leaves tells nothing apart and is nothing
        ((0.1 + 0.2, 0.3), ("0.300", "0.300")),
        ((1e-17, 0.5), ("0", "0.500")),
        ((None, math.nan, 0.5), ("-", "-", "0.500")),
        ((0.0, 0.0), ("0", "0")),
        ((), ()),
    ],
)
def test_numbers_that_are_read_together_can_be_told_apart(values, texts):
    assert numbers(*values) == texts


def test_ends_of_an_interval_are_never_both_nothing():
    assert interval(1.2e-7, 3.4e-7) == "1.20e−7 to 3.40e−7"
    assert signed_interval(-1.2e-7, 3.4e-7) == "−1.20e−7 to +3.40e−7"
    assert signed_interval(None, 0.25) == "no limit to +0.250"
    # the group's value is between its ends, and is seen to be
    assert interval(0.4998, 0.5003, 0.5) == "0.4998 to 0.5003"


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(-1e6, 1e6))
def test_no_number_but_nothing_is_written_as_nothing(one, other):
    assert (number(one) == "0") == (one == 0)
    for value, text in zip((one, other), numbers(one, other), strict=True):
        is_nothing = abs(value) <= 1e-12 * max(abs(one), abs(other))
        assert (text.strip("−0.,") == "") == is_nothing, (one, other)


@given(st.floats(-1e300, 1e300))
def test_what_is_written_is_read_as_the_same_number(value):
    read = float(number(value).replace("−", "-").replace(",", ""))
    assert read == pytest.approx(value, rel=0.0051)


@pytest.mark.parametrize(
    ("value", "least", "text"),
    [
        (2 / 1000, 2 / 1000, "≤0.002"),
        (4 / 1000, 2 / 1000, "0.004"),
        # a bound is rounded up
        (2 / 301, 2 / 301, "≤0.007"),
        (2 / 8000, 2 / 8000, "≤0.00025"),
        (1.0, 1.0, "1.000"),
    ],
)
def test_the_least_p_value_that_can_be_shown_is_a_bound(value, least, text):
    assert p_value(value, least) == text


@given(st.floats(1e-9, 1e9))
def test_a_bound_is_never_rounded_down(value):
    bound = float(rounded_up(value).replace("−", "-").replace(",", ""))
    assert value * (1 - 1e-6) <= bound <= max(1.011 * value, value + 1)


def test_a_group_is_named_on_one_line_by_all_its_conditions():
    assert group_label({"gender": "F", "age": "65+"}) == "gender=F, age=65+"
    assert group_label({"a\nb": "\x1b[31m"}) == r"a\nb=\x1b[31m"


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0, "0%"),
        (1e-17, "0%"),
        (-1e-17, "0%"),
        (0.0004, "<0.1%"),
        (0.0005, "0.1%"),
        (0.0312, "3.1%"),
        (21.12, "2,112%"),
        (0.5, "50%"),
        (0.996, "99.6%"),
        (0.9996, ">99.9%"),
        (1 - 1e-16, "100%"),
        (1, "100%"),
    ],
)
def test_not_nothing_is_never_nothing_and_not_all_is_never_all(share, shown):
    assert percent(share) == shown
