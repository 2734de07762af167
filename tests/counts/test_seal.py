from __future__ import annotations

import io

import polars as pl
import pytest

from fairrec.counts.seal import is_as_sealed, sealed

TABLE = pl.DataFrame({"a": range(50), "b": [str(i) for i in range(50)]})


@pytest.fixture
def content() -> bytes:
    file = io.BytesIO()
    TABLE.write_parquet(file)
    return sealed(file.getvalue())


def test_a_sealed_file_is_still_parquet_to_everyone(content, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "sealed.parquet"
    file.write_bytes(content)
    assert pl.read_parquet(file).equals(TABLE)
    assert pl.from_arrow(parquet.read_table(file)).equals(TABLE)
    assert duckdb.sql(f"select sum(a), max(b) from '{file}'").fetchall() == [(1225, "9")]


def test_every_changed_bit_is_seen_before_anything_is_read(content):
    assert is_as_sealed(content)
    for at in range(len(content)):
        damaged = bytearray(content)
        damaged[at] ^= 1
        assert not is_as_sealed(bytes(damaged))
    assert not is_as_sealed(content[:-1])
