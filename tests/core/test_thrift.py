"""Structs of Thrift, and bytes that are none."""

from __future__ import annotations

import random

import pytest

from fairrec.core.thrift import DEEPEST, CutShortError, ThriftError, read_struct


def test_values_of_each_kind_are_read():
    data = (
        b"\x11"  # 1: true
        b"\x15\x03"  # 2: -2, zigzag
        b"\x16\x80\x01"  # 3: 64 in two bytes
        b"\x16\x80\x80\x01"  # 4: 8192 in three
        b"\x18\x02ab"  # 5: text
        b"\x19\x25\x02\x04"  # 6: a list of 1 and 2
        b"\x1c\x12\x00"  # 7: a struct in which 1 is false
        b"\x17" + bytes(8) + b"\x1b\x01\x83k\x05"  # 8: a double, 9: a map of bytes to bytes
        b"\x03\x28\x07"  # 20: a byte, its number written out
        b"\x19\x12\x02"  # 21: a list of a flag
        b"\x00and more"
    )
    data = data.replace(b"\x83k\x05", b"\x33k\x05")
    found, end = read_struct(b"xx" + data, 2)
    assert found == {
        **{1: True, 2: -2, 3: 64, 4: 8192, 5: b"ab", 6: [1, 2], 7: {1: False}, 8: bytes(8)},
        **{9: [(ord("k"), 5)], 20: 7, 21: [2]},
    }
    assert (b"xx" + data)[end:] == b"and more"


@pytest.mark.parametrize(
    "data", [b"", b"\x15", b"\x15\x80", b"\x18\x7fab", b"\x19\xf5\xff\xff\xff\x7f", b"\x1b\x7f\x55"]
)
def test_what_goes_on_beyond_the_bytes_is_refused(data: bytes):
    with pytest.raises(CutShortError):
        read_struct(data)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x1c" * 1000, "without end"),
        (b"\x19" + b"\x19" * (DEEPEST + 2) + bytes(99), "without end"),
        (b"\x15" + b"\x80" * 20, "no end"),
        (b"\x1e\x00", "unknown kind 14"),
    ],
)
def test_what_is_no_struct_is_refused(data: bytes, why: str):
    with pytest.raises(ThriftError, match=why):
        read_struct(data)


def test_noise_is_read_or_refused():
    rng = random.Random(1)
    for _ in range(5_000):
        data = rng.randbytes(rng.randrange(200))
        try:
            _, end = read_struct(data)
        except ThriftError:
            continue
        assert end <= len(data)
