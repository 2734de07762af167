"""Arrow files that contradict themselves, and sound ones of two writers."""

from __future__ import annotations

import io
import struct
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pytest

from fairrec.core.arrow_file import check_arrow
from fairrec.core.errors import InputError

TABLE = pl.DataFrame(
    {
        "user_id": pl.Series(["a", "b", "a"] * 200, dtype=pl.Categorical),
        "seen": [[1, 2], [], [3]] * 200,
        "age": [1.5, None, 2.0] * 200,
    }
)


def by_polars(compression: Any) -> bytes:
    out = io.BytesIO()
    TABLE.write_ipc(out, compression=compression)
    return out.getvalue()


def check(data: bytes) -> None:
    check_arrow(io.BytesIO(data), "a.arrow", "Do it again.")


def refused(data: bytes) -> str:
    with pytest.raises(InputError) as error:
        check(data)
    assert str(error.value).startswith("a.arrow: cannot be read as Arrow (")
    assert str(error.value).endswith("). Do it again.")
    return str(error.value)


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_sound_files_pass(compression: Any):
    check(by_polars(compression))
    out = io.BytesIO()
    pyarrow.feather.write_feather(TABLE.to_arrow(), out, compression=compression, chunksize=100)
    check(out.getvalue())
    out = io.BytesIO()
    pyarrow.feather.write_feather(TABLE.head(0).to_arrow(), out, compression=compression)
    check(out.getvalue())


def test_files_of_older_writers_pass():
    out = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(use_legacy_format=True)
    table = TABLE.select("age").to_arrow()
    with pa.ipc.new_file(out, table.schema, options=options) as writer:
        writer.write_table(table)
    check(out.getvalue())


def test_what_is_no_file_or_cut_short_is_refused():
    data = by_polars("zstd")
    for damaged in (b"", b"ARROW1", b"a,b\n", data[:-20], data[20:]):
        assert "does not begin and end as one" in refused(damaged)
    length = struct.pack("<i", 2**31 - 1)
    assert "longer than the file" in refused(data[:-10] + length + data[-6:])


def test_a_buffer_that_is_said_to_be_large_unpacked_is_refused():
    data = by_polars("zstd")
    # the floats: 600 of 8 bytes
    said = struct.pack("<q", 600 * 8)
    assert data.count(said) >= 1
    at = data.index(said)
    for unpacked, why in ((1 << 61, "unpacked"), (-2, "below zero")):
        assert why in refused(data[:at] + struct.pack("<q", unpacked) + data[at + 8 :])


def test_buffers_beyond_the_end_are_refused():
    data = by_polars("uncompressed")
    # where the floats are and how long: the length alone is 600 * 8
    at = data.index(struct.pack("<q", 600 * 8))
    damaged = data[:at] + struct.pack("<q", 1 << 40) + data[at + 8 :]
    assert "beyond its end" in refused(damaged)


def test_a_flipped_bit_never_ends_in_anything_else():
    data = by_polars("lz4")
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 1 << at % 8
        try:
            check(bytes(damaged))
        except InputError as error:
            assert "a.arrow: cannot be read as Arrow" in str(error)
