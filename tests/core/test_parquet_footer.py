"""Parquet files that contradict themselves, and sound ones of several writers."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairrec.core import parquet_footer
from fairrec.core.errors import InputError
from fairrec.core.parquet_footer import CheckedParquet
from fairrec.core.thrift import read_struct

N = 300
TABLE = pl.DataFrame(
    {
        "user_id": [f"u{row}" for row in range(N)],
        "age": [None if row % 3 else row for row in range(N)],
        "seen": [["a", "b"][: row % 3] for row in range(N)],
        "at": [{"x": row, "y": [row]} for row in range(N)],
    }
)


def by_polars(**options: Any) -> bytes:
    out = io.BytesIO()
    TABLE.write_parquet(out, **options)
    return out.getvalue()


def by_arrow(**options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(TABLE.to_arrow(), out, **options)
    return out.getvalue()


def check(data: bytes, *columns: str) -> None:
    stream = io.BytesIO(data)
    CheckedParquet(stream, "a.parquet", "Do it again.").check_pages(stream, columns or None)


def refused(data: bytes, *columns: str) -> str:
    with pytest.raises(InputError) as error:
        check(data, *columns)
    said = str(error.value)
    assert said.startswith("a.parquet: cannot be read as Parquet (")
    assert said.endswith("). Do it again.")
    return said


def with_footer(data: bytes, old: bytes, new: bytes) -> bytes:
    """The same with some bytes of the footer replaced by as many others."""
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    assert old in data[start:] and len(old) == len(new)
    return data[:start] + data[start:].replace(old, new)


def page_at(data: bytes, column: int, page: int = 0) -> int:
    """Where a page of a column begins."""
    meta = pq.read_metadata(io.BytesIO(data)).row_group(0).column(column)
    at = meta.data_page_offset
    if meta.has_dictionary_page:
        at = meta.dictionary_page_offset
    for _ in range(page):
        header, at = read_struct(data, at)
        at += header[3]
    return at


@pytest.mark.parametrize("codec", ["zstd", "snappy", "gzip", "lz4", "brotli", "uncompressed"])
def test_sound_files_pass(codec: Any):
    check(by_polars(compression=codec))
    check(by_polars(compression=codec, row_group_size=50))
    codec = "none" if codec == "uncompressed" else codec
    for version in ("1.0", "2.0"):
        options = {"compression": codec, "data_page_version": version, "data_page_size": 100}
        check(by_arrow(**options, write_page_checksum=True, use_dictionary=False))
        check(by_arrow(**options, write_page_index=True))


def test_empty_tables_pass():
    for writes in (pl.DataFrame.write_parquet, lambda t, o: pq.write_table(t.to_arrow(), o)):
        out = io.BytesIO()
        writes(TABLE.head(0), out)
        check(out.getvalue())


def test_many_equal_values_in_few_bytes_pass():
    out = io.BytesIO()
    n = 20_000_000
    table = pl.DataFrame({"x": np.zeros(n, dtype=np.int8)})
    table.write_parquet(out, data_page_size=1 << 30, row_group_size=n)
    assert len(out.getvalue()) < 1_000
    check(out.getvalue())


@pytest.mark.parametrize(
    "data", [b"", b"PAR1", b"PAR1PAR1", b"user_id,age\n1,2\n", by_polars()[:-20], by_polars()[20:]]
)
def test_what_is_no_file_or_cut_short_is_refused(data: bytes):
    refused(data)


def test_a_footer_longer_than_the_file_is_refused():
    data = by_polars()
    assert "longer than the file" in refused(data[:-8] + b"\xff\xff\xff\x7fPAR1")


def test_rows_that_do_not_add_up_are_refused():
    data = by_polars()
    meta = read_struct(data, len(data) - 8 - int.from_bytes(data[-8:-4], "little"))[0]
    assert meta[3] == N
    # field 3, 64 bits, 300 as zigzag; the first one is of the file
    said = b"\x16\xd8\x04"
    start = data.index(said, len(data) - 8 - int.from_bytes(data[-8:-4], "little"))
    changed = data[:start] + b"\x16\xd6\x04" + data[start + 3 :]
    assert "299 rows in all and 300" in refused(changed)
    below = data[:start] + b"\x16\xd7\x04" + data[start + 3 :]
    assert "a number of rows is missing or below zero" in refused(below)


def test_values_beyond_the_end_are_refused():
    data = by_arrow(compression="none", use_dictionary=False)
    size = pq.read_metadata(io.BytesIO(data)).row_group(0).column(4).total_compressed_size
    changed = with_footer(data, b"\x16" + _zigzag(size), b"\x16" + _zigzag(8191))
    assert "beyond its end in the column 'at'" in refused(changed)


def test_more_values_than_rows_are_refused():
    data = by_arrow()
    # 300 values of a column that is not in a list; the last such number is that of the file
    start = data.index(b"age", len(data) - 8 - int.from_bytes(data[-8:-4], "little"))
    at = data.index(b"\x16\xd8\x04", data.index(b"age", start + 3))
    assert "values are said to be in 300 rows in the column 'age'" in refused(
        data[:at] + b"\x16\xda\x04" + data[at + 3 :]
    )


def test_a_page_of_fewer_than_no_values_is_refused():
    data = by_polars()
    at = page_at(data, 1, 1)
    place = data.index(b"\x2c\x15", at) + 2
    damaged = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
    assert "a number of values is missing or below zero in the column 'age'" in refused(damaged)
    check(damaged, "user_id")


@pytest.mark.parametrize(("place", "why"), [(2, "are said to be"), (3, "beyond its end")])
def test_a_page_that_is_too_large_is_refused(place: int, why: str):
    """Its size unpacked, and as it is there."""
    data = by_arrow(compression="snappy", use_dictionary=False)
    at = page_at(data, 0)
    header, end = read_struct(data, at)
    # the numbers of both sizes become the largest, and so longer: the values move on
    start = b"\x15" + bytes([header[1] << 1])
    sizes = {number: _zigzag(header[number]) for number in (2, 3)}
    assert data[at:].startswith(start + b"\x15" + sizes[2] + b"\x15" + sizes[3])
    length = len(start) + 2 + len(sizes[2]) + len(sizes[3])
    sizes[place] = _zigzag(2**31 - 1)
    moved = start + b"\x15" + sizes[2] + b"\x15" + sizes[3] + data[at + length : end]
    # over what is before the end of the values
    assert why in refused(data[:at] + moved + data[at + len(moved) :])


def _zigzag(number: int) -> bytes:
    number <<= 1
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_checksums_of_pages_are_verified_where_they_are(version: Any):
    options = {"compression": "none", "data_page_version": version, "use_dictionary": False}
    for is_checked in (True, False):
        data = by_arrow(**options, write_page_checksum=is_checked)
        header, start = read_struct(data, page_at(data, 0))
        assert (4 in header) == is_checked
        place = data.index(b"u7", start) + 1
        damaged = data[:place] + b"8" + data[place + 1 :]
        # read without a word as another user
        assert "u8" in pl.read_parquet(io.BytesIO(damaged))["user_id"].head(8)
        if is_checked:
            assert header[4] & 0xFFFFFFFF == zlib.crc32(data[start : start + header[3]])
            assert "not as its checksum says in the column 'user_id'" in refused(damaged)
            check(damaged, "age")
        else:
            check(damaged)


def test_checksums_of_dictionaries_and_of_the_last_page_are_verified():
    data = by_arrow(compression="snappy", write_page_checksum=True, data_page_size=64)
    for page in (0, 2):
        _, start = read_struct(data, page_at(data, 0, page))
        damaged = data[:start] + bytes([data[start] ^ 128]) + data[start + 1 :]
        assert "not as its checksum says" in refused(damaged)


def test_long_statistics_in_the_header_of_a_page_are_read():
    table = pa.table({"text": ["x" * 3_000, "y" * 3_000]})
    out = io.BytesIO()
    pq.write_table(table, out, use_dictionary=False, compression="none")
    check(out.getvalue())


def test_a_flipped_bit_of_the_footer_never_ends_in_anything_else():
    data = by_arrow(write_page_checksum=True)
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for at in range(start, len(data), 3):
        damaged = bytearray(data)
        damaged[at] ^= 1 << at % 8
        try:
            check(bytes(damaged))
        except InputError as error:
            assert "a.parquet: cannot be read as Parquet" in str(error)


def _fields(struct: dict[int, Any]) -> Iterator[tuple[dict[int, Any], int]]:
    """Every field of a struct and of those within it, as its holder and number."""
    for number, value in struct.items():
        yield struct, number
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict):
                yield from _fields(inner)


@pytest.mark.parametrize("odd", [[1], {1: 1}, b"x", True, 7])
def test_a_field_of_another_kind_is_refused_or_not_needed(
    odd: Any, monkeypatch: pytest.MonkeyPatch
):
    """In the footer and in the headers of pages, whatever is damaged."""
    data, n_refused = by_arrow(write_page_checksum=True), 0
    for nth in range(1000):
        left = nth

        def read(*arguments: Any) -> tuple[dict[int, Any], int]:
            nonlocal left
            struct, at = read_struct(*arguments)
            for holder, number in list(_fields(struct)):
                left -= 1
                if left == -1:
                    holder[number] = odd
            return struct, at

        monkeypatch.setattr(parquet_footer, "read_struct", read)
        try:
            check(data)
        except InputError:
            n_refused += 1
        if left >= 0:
            break
    assert nth > 100 and n_refused > 20
