"""Numbers in bins: labels that say what they hold, in order."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairrec.core.errors import InputError
from fairrec.inputs.binning import Binning, bin_numbers, parse_binning
from tests.builders import audit, two_groups

NUMBER = r"(-?\d[\d.]*(?:e[+-]?\d+)?)"
EDGES = "18|25|40|65"


def _bin(numbers: list[float], spec: str) -> tuple[list[int], list[str]]:
    codes, labels = bin_numbers(np.array(numbers, dtype=np.float64), parse_binning(spec, spec))
    return codes.tolist(), labels


def _holds(label: str, number: float) -> bool:
    """Whether a number lies in the bin as its label says, whole numbers on both ends of `a-b`."""
    if match := re.fullmatch(rf"{NUMBER}", label):
        return float(match[1]) == number
    if match := re.fullmatch(rf"{NUMBER}-{NUMBER}", label):
        return float(match[1]) <= number <= float(match[2])
    if match := re.fullmatch(rf"<{NUMBER}", label):
        return number < float(match[1])
    if match := re.fullmatch(rf"{NUMBER}\+|>={NUMBER}", label):
        return number >= float(match[1] or match[2])
    if match := re.fullmatch(rf"\[{NUMBER}, {NUMBER}\)", label):
        return float(match[1]) <= number < float(match[2])
    if match := re.fullmatch(rf"q\d+ \[{NUMBER}, {NUMBER}\]", label):
        return float(match[1]) <= number <= float(match[2])
    raise AssertionError(f"a label of another form: {label}")


def _low(label: str) -> float:
    match = re.search(NUMBER, re.sub(r"^q\d+ ", "", label))
    assert match
    return float(match[1])


BY_HAND = [
    ("10", [10, 19, 20, 0, 9, 35], [1, 1, 2, 0, 0, 3], ["0-9", "10-19", "20-29", "30-39"]),
    ("1", [3, -1, 3, -0.0], [2, 0, 2, 1], ["-1", "0", "3"]),
    ("10", [5, 95], [0, 1], ["0-9", "90-99"]),
    ("10", [0.5, 9.5, 10.0], [0, 0, 1], ["[0, 10)", "[10, 20)"]),
    ("2.5", [2.4, 2.5, 4.9], [0, 1, 1], ["[0, 2.5)", "[2.5, 5)"]),
    ("10", [-1, -10, -11, 0, 9], [1, 1, 0, 2, 2], ["[-20, -10)", "[-10, 0)", "0-9"]),
    ("10", [1_234_567, 1_234_577], [0, 1], ["1234560-1234569", "1234570-1234579"]),
    (
        EDGES,
        [17, 18, 24, 39, 64, 65],
        [0, 1, 1, 2, 3, 4],
        ["<18", "18-24", "25-39", "40-64", "65+"],
    ),
    (EDGES, [17.5, 24.9, 65], [0, 1, 2], ["<18", "[18, 25)", ">=65"]),
    (EDGES, [30, 90, 31], [0, 1, 0], ["25-39", "65+"]),
    ("1.5|", [1, 2], [0, 1], ["<1.5", ">=1.5"]),
    ("-10|0", [-11, -10, -1, 0, 4], [0, 1, 1, 2, 2], ["<-10", "[-10, 0)", "0+"]),
    ("1|2", [0, 1, 2, 3], [0, 1, 2, 2], ["<1", "1", "2+"]),
    ("q3", [*range(1, 7)], [0, 0, 1, 1, 2, 2], ["q1 [1, 2]", "q2 [3, 4]", "q3 [5, 6]"]),
    ("q5", [1, 1, 1, 1, 2], [0, 0, 0, 0, 1], ["q1 [1, 1]", "q2 [2, 2]"]),
    ("q2", [7, 7, 7], [0, 0, 0], ["q1 [7, 7]"]),
    ("q2", [-5.5, 3, -2, 10], [0, 1, 0, 1], ["q1 [-5.5, -2]", "q2 [3, 10]"]),
    *((spec, [], [], []) for spec in ("10", "q5", EDGES)),
]


@pytest.mark.parametrize(("spec", "numbers", "codes", "labels"), BY_HAND)
def test_bins_are_those_made_by_hand(spec, numbers, codes, labels):
    assert _bin(numbers, spec) == (codes, labels)


@pytest.mark.parametrize(
    ("text", "binning"),
    [
        ("10", Binning(width=10.0)),
        ("0.5", Binning(width=0.5)),
        ("1e3", Binning(width=1000.0)),
        ("q2", Binning(quantiles=2)),
        ("q10", Binning(quantiles=10)),
        (EDGES, Binning(edges=(18, 25, 40, 65))),
        ("-1.5| 0", Binning(edges=(-1.5, 0))),
        ("40", Binning(width=40)),
        ("40|", Binning(edges=(40,))),
    ],
)
def test_a_binning_is_a_width_a_number_of_quantiles_or_edges(text: str, binning: Binning):
    assert parse_binning(text, f"age:{text}") == binning


@pytest.mark.parametrize(
    "text",
    [
        *("", "0", "-5", "nan", "inf", "q1", "q", "q2.5", "ten", "1_0"),
    ],
)
def test_anything_else_is_no_binning(text: str):
    with pytest.raises(InputError, match=r"is no binning.*age:10.*income:q5"):
        parse_binning(text, f"age:{text}")


@pytest.mark.parametrize(
    "text",
    [
        *("|", "||", "18||25", "25|18", "18|18", "18|x", "18|nan", "18|inf", "|18", "1|q5"),
        *("1.0000000000001|2", "18|25||", "1_8|25"),
    ],
)
def test_edges_that_are_no_rising_numbers_are_refused(text: str):
    with pytest.raises(InputError, match=r"are no edges of bins.*rising.*age:18\|25\|40"):
        parse_binning(text, f"age:{text}")


WHOLE = st.integers(-(10**7), 10**7).map(float)
CENTS = st.integers(-(10**9), 10**9).map(lambda cents: cents / 100)


def _numbers(kind: st.SearchStrategy[float]) -> st.SearchStrategy[list[float]]:
    return st.lists(kind, min_size=1, max_size=30)


@example(numbers=[0.3, 0.7, 0.29], width="0.1")
@example(numbers=[12345678.5, 12345688.5], width="10")
@example(numbers=[-1234567.0, -1234577.0], width="10")
@given(
    numbers=_numbers(WHOLE) | _numbers(CENTS),
    width=st.sampled_from(["1", "2", "5", "10", "100", "0.1", "0.2", "0.25", "0.5", "2.5"]),
)
def test_every_number_lies_in_its_labelled_bin_and_bins_are_in_order(numbers, width):
    codes, labels = _bin(numbers, width)
    assert len(set(labels)) == len(labels)
    assert set(codes) == set(range(len(labels)))
    assert all(_holds(labels[code], number) for code, number in zip(codes, numbers, strict=True))
    lows = [_low(label) for label in labels]
    assert lows == sorted(lows)
    assert all(low == pytest.approx(round(low / float(width)) * float(width)) for low in lows)


@example(numbers=[1234567.0, 1234568.0, 3.0], n_bins=2)
@given(numbers=_numbers(WHOLE) | _numbers(CENTS), n_bins=st.integers(2, 12))
def test_every_number_lies_in_its_labelled_quantile_and_quantiles_are_in_order(numbers, n_bins):
    codes, labels = _bin(numbers, f"q{n_bins}")
    assert 1 <= len(labels) <= n_bins
    assert set(codes) == set(range(len(labels)))
    assert all(_holds(labels[code], number) for code, number in zip(codes, numbers, strict=True))
    in_order = np.array(codes)[np.argsort(numbers, kind="stable")]
    assert (np.diff(in_order) >= 0).all()
    bins_of_number: dict[float, set[int]] = {}
    for code, number in zip(codes, numbers, strict=True):
        bins_of_number.setdefault(number, set()).add(code)
    assert all(len(bins) == 1 for bins in bins_of_number.values())


def test_binned_attributes_name_the_groups():
    predictions, users = two_groups(age=[18, 25, 19, 21, 10, 29, 12, 22])
    result = audit(predictions, users, "age:10")
    # u0, u2, u4, u6 are 18, 19, 10, 12 and served at the first place
    assert result.gap("mrr").advantaged.group == {"age": "10-19"}
    assert result.gap("mrr").disadvantaged.group == {"age": "20-29"}
    assert result.summary.attributes["age"].binning == "width 10"
    assert result.warnings == ()


def test_binned_attributes_keep_missing_values_apart():
    ages = [18, 25, None, 21, float("nan"), 29, 12, 22]
    predictions, users = two_groups(age=ages)
    result = audit(predictions, users, "age:q2")
    assert result.summary.attributes["age"].n_missing == 2
    assert result.summary.attributes["age"].n_values == 3
    assert result.groups("mrr")["age"].sort().to_list() == [
        "(missing)",
        "q1 [12, 21]",
        "q2 [22, 29]",
    ]
    assert any("'age' is missing for 2 of 8 users" in warning for warning in result.warnings)


def test_a_width_too_fine_for_the_numbers_is_refused():
    predictions, users = two_groups(n=[1e300, 1, 2, 3, 4, 5, 6, 7])
    with pytest.raises(InputError, match="'n'"):
        audit(predictions, users, "n:1e-300")
