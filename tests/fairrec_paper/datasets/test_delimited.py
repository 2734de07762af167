from __future__ import annotations

import pytest

from fairrec.core.errors import InputError
from fairrec_paper.datasets import raw_files as delimited
from fairrec_paper.datasets.raw_files import (
    UTF_8,
    UTF_8_OR_LATIN_1,
    frame_of,
    read_csv,
    read_fields,
    scan_fields,
)
from tests.fairrec_paper.datasets.raw_files import write


def test_lines_become_rows_with_their_numbers(tmp_path):
    file = write(tmp_path, "movies.dat", "1::Heat", "", "2::Up\x85 and down")
    expected = [(1, "1", "Heat"), (3, "2", "Up\x85 and down")]
    assert read_fields(file, "::", ["id", "title"], UTF_8).rows.collect().rows() == expected
    assert scan_fields(file, "::", ["id", "title"]).rows.collect().rows() == expected


def test_too_few_and_too_many_fields_are_refused_by_line(tmp_path):
    for line in ("2", "2::Up::again"):
        file = write(tmp_path, "movies.dat", "1::Heat", line)
        with pytest.raises(InputError, match=r"movies\.dat, line 2: .*does not have 2 fields"):
            read_fields(file, "::", ["id", "title"], UTF_8)


def test_the_first_encoding_that_fits_is_taken(tmp_path):
    for encoding in ("utf-8-sig", "latin-1"):
        file = write(tmp_path, "shop.csv", "name,n", "Caf\xe9,1", encoding=encoding)
        table = read_csv(file, ["name"], UTF_8_OR_LATIN_1)
        assert table.rows.collect().rows() == [(2, "Caf\xe9")]
    with pytest.raises(InputError, match=r"line 2: holds the byte 0xe9, which is not UTF-8"):
        read_csv(file, ["name"], UTF_8)


def test_quoted_line_breaks_keep_the_count_of_lines(tmp_path):
    file = write(tmp_path, "shop.csv", "name,n", '"two', 'lines",1', "short")
    with pytest.raises(InputError, match="line 4: 1 fields, where the header has 2"):
        read_csv(file, ["name"], UTF_8)


def test_a_missing_column_is_named_with_those_that_are_there(tmp_path):
    file = write(tmp_path, "shop.csv", "name,n", "a,1")
    with pytest.raises(InputError, match=r"no column 'price'. Columns here: name, n"):
        read_csv(file, ["price"], UTF_8)


def test_batches_make_one_frame(monkeypatch):
    monkeypatch.setattr(delimited, "BATCH", 2)
    rows = [(1, "a"), (2, "b"), (3, "c")]
    assert frame_of(iter(rows), {"n": int, "text": str}).rows() == rows
