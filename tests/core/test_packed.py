"""How large something can be unpacked."""

from __future__ import annotations

import zlib

import pyarrow as pa
import pytest

from fairrec.core.packed import GZIP, LZ4, SNAPPY, ZSTD, ContradictionError, refuse_swollen

ZEROS = bytes(1 << 26)


@pytest.mark.parametrize(
    ("codec", "times"), [("snappy", SNAPPY), ("gzip", GZIP), ("lz4", LZ4), ("zstd", ZSTD)]
)
def test_what_can_be_packed_best_is_not_refused(codec: str, times: int):
    packed = pa.compress(ZEROS, codec=codec, asbytes=True)
    refuse_swollen(len(packed), len(ZEROS), times)
    with pytest.raises(ContradictionError, match="are said to be"):
        refuse_swollen(len(packed), len(packed) * times + len(ZEROS), times)


def test_the_bound_of_gzip_holds_at_its_best_level():
    refuse_swollen(len(zlib.compress(ZEROS, 9)), len(ZEROS), GZIP)


def test_little_and_unknown_is_not_refused():
    refuse_swollen(0, 1 << 20, 1)
    refuse_swollen(1, 1 << 60, None)
