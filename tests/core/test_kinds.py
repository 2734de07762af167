from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fairrec.core.option_types import (
    FILE,
    NAMES,
    SWITCH,
    TEXT,
    UnfitError,
    as_data,
    memory_size,
    one_of,
    pairs,
    parse_percentage,
    share_or_users,
    whole,
)
from fairrec.report.words import number

REFUSED = (TypeError, ValueError, OverflowError)


@pytest.mark.parametrize("given", [100, 100.0, 1e2, "100", " 1e2 ", "1_00", np.int32(100)])
def test_whole_numbers_are_known_however_they_are_written(given):
    value = whole(0, 1000).parse(given)
    assert value == 100
    assert type(value) is int


@pytest.mark.parametrize(
    "given", [1.5, "1.5", "ten", "", None, True, float("nan"), float("inf"), -1, 1001, "1,00", [1]]
)
def test_what_is_no_whole_number_of_the_range_is_refused(given):
    with pytest.raises(REFUSED):
        whole(0, 1000).parse(given)


def test_the_ends_of_a_range_belong_to_it_or_do_not():
    kind = number(above=0, most=1)
    assert kind.parse(1) == 1.0
    assert kind.parse("1e-9") == 1e-9
    for given in (0, 1.0001, "nan", "inf", None, "half", False):
        with pytest.raises(REFUSED):
            kind.parse(given)
    assert number(least=0).parse(0) == 0
    with pytest.raises(REFUSED):
        number(least=0, below=1).parse(1)
    assert number(least=0, below=1).parse(np.float32(0.5)) == 0.5


@pytest.mark.parametrize("given", ["inf", float("inf"), -float("inf"), "nan", "1e999", 1.5])
def test_what_is_not_finite_is_no_whole_number(given):
    with pytest.raises(ValueError):
        whole(1).parse(given)


def test_ranges_are_said_in_words():
    assert whole(1).expected == "a whole number from 1"
    assert number().expected == "a number"
    assert number(above=0, most=1).expected == "a number above 0, up to 1"
    assert number(least=0).expected == "a number from 0"
    assert one_of("a", "b", "c").expected == "'a', 'b' or 'c'"
    assert one_of("a").expected == "'a'"


@pytest.mark.parametrize(
    ("given", "value"),
    [("1%", 0.01), (" 0.5 % ", 0.005), ("0.2", 0.2), (1, 1.0), ("1,000", 1000.0)],
)
def test_a_share_is_told_from_a_number_of_users(given, value):
    assert share_or_users().parse(given) == value


@pytest.mark.parametrize("given", [0, -3, 1.5, "100%", "0%", "101%", "1,5%", "few", None, "inf"])
def test_neither_a_share_nor_a_number_of_users(given):
    with pytest.raises(REFUSED):
        share_or_users().parse(given)


@pytest.mark.parametrize("text", ["0%", "100.1%", "1,5%", "5", "%", "-1%", "1e1%"])
def test_what_is_no_percentage_is_refused(text: str):
    with pytest.raises(ValueError, match=r"^$"):
        parse_percentage(text)


def test_a_word_or_nothing_may_be_taken_too():
    kind = whole(1).or_word("full").or_none()
    assert [kind.parse(given) for given in ("full", "2", None)] == ["full", 2, None]
    with pytest.raises(REFUSED):
        kind.parse("fully")


def test_pairs_are_read_value_by_value_and_the_one_that_does_not_fit_is_told():
    kind = pairs(float, "name=number")
    assert kind.parse("a=1,b=2") == kind.parse({"a": 1, "b": "2"}) == {"a": 1.0, "b": 2.0}
    with pytest.raises(UnfitError) as caught:
        kind.parse("a=1,b=two")
    assert caught.value.part == "b=two"
    with pytest.raises(UnfitError, match=r"^3$"):
        kind.parse(3)


def test_names_text_paths_and_switches():
    assert NAMES.parse("a,b") == NAMES.parse(["a", "b"]) == ("a", "b")
    assert FILE.parse("a/b").name == "b"
    assert SWITCH.parse(True) is True
    for kind, given in (
        (TEXT, 3),
        (SWITCH, 1),
        (SWITCH, "yes"),
        (NAMES, 3),
        (NAMES, [3]),
        (FILE, 3),
    ):
        with pytest.raises(REFUSED):
            kind.parse(given)


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (None, None),
        (True, True),
        (0.05, 0.05),
        (50.0, 50),
        (1e300, 1e300),
        (("a", "b"), ["a", "b"]),
        ({"a": (1.0,)}, {"a": [1]}),
        (Path("a") / "b", "a/b"),
        (1 + 2j, "(1+2j)"),
    ],
)
def test_a_value_is_written_as_data(value, data):
    found = as_data(value)
    assert (found, type(found)) == (data, type(data))


def test_a_kind_with_another_word_or_none_is_written_as_before():
    kind = replace(whole(1), written=str)
    assert kind.or_none().or_word("full").written(3) == "3"


@pytest.mark.parametrize(
    ("given", "n_bytes"),
    [
        ("500MB", 5 * 10**8),
        (" 2 gib ", 2**31),
        ("1,000mb", 10**9),
        (10**9, 10**9),
        ("8e8", 8 * 10**8),
    ],
)
def test_memory_is_bytes_or_has_a_unit(given, n_bytes):
    assert memory_size().parse(given) == n_bytes


@pytest.mark.parametrize(
    "given", ["4", "499MB", "-4GB", "4 G", "GB", "4GBs", "1e30", "..GB", True, None]
)
def test_other_memory_is_refused(given):
    with pytest.raises((ValueError, TypeError)):
        memory_size().parse(given)
