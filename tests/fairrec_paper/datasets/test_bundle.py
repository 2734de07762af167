"""A bundle on disk is what was written, or it is refused; what readers make of files and tables."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from fairrec.core.errors import InputError, OutputError, UnknownNameError
from fairrec_paper.datasets import readers
from fairrec_paper.datasets.bundle import (
    DATASETS,
    RawTable,
    prepare,
    read_bundle,
    read_fields,
    write_bundle,
)
from fairrec_paper.datasets.readers.amazon import behaviour_deciles, decile
from tests.fairrec_paper.datasets.raw_files import prepared, refusal, write, write_movielens


@pytest.fixture
def raw(tmp_path):
    return write_movielens(tmp_path / "raw")


@pytest.mark.parametrize("table", ["interactions", "users", "items"])
def test_a_changed_table_is_refused(raw, tmp_path, table):
    prepare("movielens-1m", raw, tmp_path / "bundle")
    file = tmp_path / "bundle" / f"{table}.parquet"
    pl.read_parquet(file).head(1).write_parquet(file)
    with pytest.raises(InputError, match=rf"{table}\.parquet: is missing or not what was prepared"):
        read_bundle(tmp_path / "bundle")


def test_tables_of_others_are_not_replaced_by_a_bundle(raw, tmp_path):
    bundle = prepared("movielens-1m", raw, tmp_path / "bundle")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "users.parquet").write_text("mine")
    for overwrite in (
        lambda: write_bundle(bundle, theirs),
        lambda: prepare("movielens-1m", raw, theirs),
    ):
        with pytest.raises(OutputError, match=r"theirs: users.parquet there is of no bundle of"):
            overwrite()
    assert (theirs / "users.parquet").read_text() == "mine"
    # an older one is, whatever it holds
    write_bundle(bundle, tmp_path / "bundle")


def test_what_cannot_be_prepared_is_refused_before_anything_is_written(raw, tmp_path):
    before = (raw / "users.parquet").read_bytes()
    with pytest.raises(OutputError, match="there is of no bundle of"):
        prepare("movielens-1m", raw, raw)
    assert (raw / "users.parquet").read_bytes() == before
    assert "is no folder" in refusal("movielens-1m", tmp_path / "nowhere")
    with pytest.raises(UnknownNameError, match="Did you mean 'movielens-1m'"):
        prepare("movielens1m", tmp_path, tmp_path / "bundle")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="is a file, not a folder"):
        prepare("movielens-1m", raw, tmp_path / "file")


def test_every_reader_is_listed():
    files = Path(readers.__file__).parent.glob("[a-z]*.py")
    assert {file.stem for file in files} == {*readers.__all__}
    assert all("http" in DATASETS[name].where for name in DATASETS)


def test_equal_values_share_a_decile_and_ten_values_fill_ten():
    values = pl.DataFrame({"value": [1, 9, 1, 5]})
    # smaller values: 0, 3, 0 and 2 of 4
    expected = [10 * 0 // 4, 10 * 3 // 4, 10 * 0 // 4, 10 * 2 // 4]
    assert values.select(decile("value"))["value"].to_list() == expected
    values = pl.DataFrame({"value": [3.5 * number for number in range(10)]})
    assert values.select(decile("value"))["value"].to_list() == list(range(10))


def test_behaviour_is_measured_on_training_interactions_only():
    rows = [
        # the last two of u1, the dearest, are targets
        *[("u1", 1, 5.0), ("u1", 2, 4.0), ("u1", 3, 99.0), ("u1", 4, 99.0)],
        # two interactions: the last is a target
        *[("u2", 1, 7.0), ("u2", 2, 99.0)],
        ("u3", 1, 2.0),
    ]
    interactions = pl.DataFrame(rows, ["user_id", "time", "price"], orient="row")
    # activity 2, 1, 1; spend 9, 7, 2; top price 5, 7, 2
    assert behaviour_deciles(interactions).rows() == [
        ("u1", 10 * 2 // 3, 10 * 2 // 3, 10 * 1 // 3),
        ("u2", 0, 10 * 1 // 3, 10 * 2 // 3),
        ("u3", 0, 0, 0),
    ]


def table(*values: str | None) -> RawTable:
    rows = {"line": range(1, len(values) + 1), "a": values}
    return RawTable(pl.LazyFrame(rows, schema_overrides={"a": pl.String}), "file.dat")


def test_whole_numbers_are_taken_as_spreadsheets_write_them():
    assert table("6", "7.0", "8.00").whole_numbers("a").collect()["a"].to_list() == [6, 7, 8]
    with pytest.raises(InputError, match=r"line 2: a '6.5' is not a whole number"):
        table("6", "6.5").whole_numbers("a")
    optional = table("6", "").whole_numbers("a", may_be_empty=True)
    assert optional.collect()["a"].to_list() == [6, None]


def test_lines_become_rows_with_their_numbers_in_either_encoding(tmp_path):
    for encoding in ("utf-8-sig", "latin-1"):
        file = write(tmp_path, "a.dat", "1::Café", "", "2::Up\x85 \r", encoding=encoding)
        rows = read_fields(file, "::", ["id", "title"]).rows.collect().rows()
        assert rows == [(1, "1", "Café"), (3, "2", "Up\x85 ")]


def test_parquet_tables_become_a_bundle(tmp_path):
    bundle = prepared("movielens-1m", write_movielens(tmp_path / "raw"), tmp_path / "bundle")
    assert bundle.interactions.rows() == [
        (1, 10, True, 978300760, 5),
        (1, 20, False, None, 3),
        (2, 10, True, 978300800, 4),
    ]
    assert bundle.users.rows() == [(1, "F", 1, 10, "48067"), (2, "M", 56, 16, "55117")]
    assert bundle.items.rows() == [(10, "Heat", ["Crime", "Drama"]), (20, "Up", [])]
    assert bundle.manifest.notes == ("ratings without a time: 1",)
