from __future__ import annotations

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec_paper.datasets import raw_files
from fairrec_paper.datasets.raw_files import RawTable, make_frame, read_fields
from tests.fairrec_paper.datasets.movielens_tables import write_movielens
from tests.fairrec_paper.datasets.raw_files import prepared, refusal, write


def table(*values: str | None) -> RawTable:
    rows = {"line": range(1, len(values) + 1), "a": values}
    return RawTable(pl.LazyFrame(rows, schema_overrides={"a": pl.String}), "file.dat")


def test_the_first_bad_line_is_named_and_all_are_counted():
    bad = table("ok", "", "ok", "", None)
    with pytest.raises(InputError, match=r"file\.dat, line 2: a '' is empty \(3 such lines\)"):
        bad.refuse_empty("a")
    table("ok").refuse_empty("a")


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


def test_batches_make_one_frame(monkeypatch):
    monkeypatch.setattr(raw_files, "BATCH", 2)
    rows = [(1, "a"), (2, "b"), (3, "c")]
    assert make_frame(iter(rows), {"n": int, "text": str}).rows() == rows


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


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("items", lambda t: t.drop("title"), "no column 'title'. Columns here: item_id, genres."),
        (
            "interactions",
            lambda t: t.with_columns(rating=pl.lit("good")),
            "row 1: rating 'good' is not a whole number (3 such rows).",
        ),
        (
            "interactions",
            lambda t: t.with_columns(rating=pl.Series([5, None, None])),
            "row 2: rating '' is not a whole number (2 such rows).",
        ),
    ],
)
def test_parquet_tables_that_do_not_fit_are_refused_by_row(tmp_path, name, change, message):
    raw = write_movielens(tmp_path / "raw")
    file = raw / f"{name}.parquet"
    change(pl.read_parquet(file)).write_parquet(file)
    said = refusal("movielens-1m", raw)
    assert said.startswith(file.name) and message in said
