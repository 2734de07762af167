"""Damaged Parquet and Arrow files of the user's are refused before Polars reads them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from fairrec.core.errors import InputError
from fairrec.inputs.tables import Table
from tests.builders import as_lists, make_tables

USERS = pl.DataFrame({"user_id": [f"u{row}" for row in range(40)], "group": ["x", "y"] * 20})


def write_damaged(table: pl.DataFrame, file: Path, old: bytes, new: bytes) -> None:
    """With checksums of pages, and some bytes of a page replaced."""
    pq.write_table(
        *(table.to_arrow(), file),
        **{"write_page_checksum": True, "compression": "none", "use_dictionary": False},
    )
    data = file.read_bytes()
    assert old in data
    file.write_bytes(data.replace(old, new, 1))


def test_pages_of_the_columns_that_are_read_are_verified(tmp_path: Path):
    write_damaged(USERS, tmp_path / "users.parquet", b"u7", b"u8")
    table = Table(tmp_path / "users.parquet", "users")
    assert table.read({"group": "group"}).height == 40
    with pytest.raises(
        InputError, match=r"users.parquet: .* checksum says in the column 'user_id'"
    ):
        table.read({"user_id": "user_id"})


def test_the_damaged_one_of_several_files_is_named(tmp_path: Path):
    for part in range(3):
        write_damaged(USERS, tmp_path / f"{part}.parquet", b"u7", b"u8" if part == 1 else b"u7")
    with pytest.raises(InputError, match=r", 1.parquet: cannot be read as Parquet"):
        Table(tmp_path, "users").read({"user_id": "user_id"})


def test_records_of_items_are_verified_as_a_whole(tmp_path: Path):
    """Their columns have names of their own, which no column of the file has."""
    lists = as_lists(make_tables(20).predictions)
    names = [name for name in lists.columns if name != "user_id"]
    records = lists.select(
        "user_id", items=pl.concat_list(pl.struct(pl.col(name).list.get(0) for name in names))
    )
    item = records["items"][0][0]["item_id"].encode()
    file = tmp_path / "predictions.parquet"
    write_damaged(records, file, item, bytes([*item[:-1], item[-1] ^ 1]))
    with pytest.raises(InputError, match="not as its checksum says in the column 'items'"):
        Table(file, "predictions").read({"item_id": "item_id"})


def test_a_damaged_arrow_file_is_refused(tmp_path: Path):
    file = tmp_path / "users.arrow"
    USERS.write_ipc(file)
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"users.arrow: cannot be read as Arrow \(it does not"):
        Table(file, "users")
