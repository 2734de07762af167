"""Codes of ids never change, and ids that may be the same have the same."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from fairrec.inputs.parts.codes import buckets, id_codes

LARGEST = 2**63 - 1


def test_whole_numbers_are_their_own_codes_however_they_are_written():
    numbers = [0, 7, -3, 10, LARGEST, -LARGEST - 1]
    assert id_codes(pl.Series(numbers)).tolist() == numbers
    assert id_codes(pl.Series([str(number) for number in numbers])).tolist() == numbers
    assert id_codes(pl.Series([7.0, -3.0])).tolist() == [7, -3]
    assert id_codes(pl.Series(["7.0", "7.000", "7,0", "10.0"])).tolist() == [7, 7, 7, 10]


@pytest.mark.parametrize(
    "text", ["007", "-0", "+7", "7.", ".0", "7,00", "7.01", "", "-", str(LARGEST + 1), "9" * 30]
)
def test_text_that_is_no_whole_number_is_hashed_as_it_stands(text: str):
    hashed = 0xCBF29CE484222325
    for byte in text.encode():
        hashed = (hashed ^ byte) * 0x100000001B3 % 2**64
    assert id_codes(pl.Series([text])).view(np.uint64).tolist() == [hashed]


def test_a_number_of_more_than_63_bits_has_the_code_of_its_text():
    wide = pl.Series([LARGEST + 5, 7], dtype=pl.UInt64)
    assert id_codes(wide).tolist() == id_codes(pl.Series([str(LARGEST + 5), "7"])).tolist()


def test_texts_beside_each_other_are_told_apart():
    codes = id_codes(pl.Series(["ab", "c", "a", "bc", "", "ü", "abc"]))
    assert len({*codes.tolist()}) == 7
    assert id_codes(pl.Series([], dtype=pl.String)).tolist() == []


def test_codes_and_buckets_are_the_same_in_another_process():
    said = (
        "import polars as pl; from fairrec.inputs.parts.codes import *;"
        "print(buckets(id_codes(pl.Series(['x', '7', 'ü'])), 1000).tolist())"
    )
    told = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    here = buckets(id_codes(pl.Series(["x", "7", "ü"])), 1000).tolist()
    assert told.stdout.strip() == str(here) == "[566, 604, 258]"


def test_buckets_are_even_for_ids_with_a_pattern():
    for step in (1, 10, 1024):
        sizes = np.bincount(buckets(np.arange(64_000) * step, 64), minlength=64)
        assert 800 < sizes.min() <= sizes.max() < 1200
