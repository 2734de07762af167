"""Lines of text files."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from fairrec.inputs.text_files import scan_lines


def lines(source: Path | bytes, **asked) -> list[str]:
    return scan_lines(source, **asked).collect()["line"].to_list()


def test_lines_come_whole_and_without_their_ends(tmp_path: Path):
    text = b'a,"b\r\n\r\nc"",d\n'
    assert lines(text) == ['a,"b', "", 'c"",d']
    (tmp_path / "[a].csv.gz").write_bytes(gzip.compress(text))
    assert lines(tmp_path / "[a].csv.gz") == lines(text)
    assert lines(text, n_skipped=1, n_lines=1) == [""]


def test_bytes_that_are_no_text_are_replaced_or_refused():
    assert lines(b"a\xff\n") == ["a\N{REPLACEMENT CHARACTER}"]
    with pytest.raises(pl.exceptions.ComputeError, match="utf-8"):
        lines(b"a\xff\n", is_lossy=False)
