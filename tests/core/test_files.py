"""JSON files and tables of ours, read back."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.core.files import is_json_with, load_json, read_parquet
from fairrec.result.metric_schema import Gap

GAP = {"metric": "mrr", "size": 1.0, "advantaged": None, "disadvantaged": None, "chance": None}
TABLE = pl.DataFrame({"user_id": ["a", "b"], "seen": [[1, 2], [3]], "age": [1.5, None]})


def test_what_was_written_is_read(tmp_path: Path):
    (tmp_path / "gap.json").write_text(json.dumps(GAP))
    assert load_json(tmp_path / "gap.json", Gap, "gap").metric == "mrr"
    TABLE.write_parquet(tmp_path / "users.parquet")
    assert read_parquet(tmp_path / "users.parquet", "", ("seen",), "user_id").equals(TABLE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (json.dumps({**GAP, "\x1b[2J\n": 1}), r"\(\\x1b\[2J\\n: Extra inputs"),
        (json.dumps({"metric": 1}), r"\(metric: Input should be a valid string; 4 more\)"),
        ("", r"is no gap of this version of FairRec \(Invalid JSON"),
        (None, r"cannot be read \(No such file"),
    ],
)
def test_json_that_does_not_fit_is_described_in_a_line(
    tmp_path: Path, text: str | None, message: str
):
    if text is not None:
        (tmp_path / "gap.json").write_text(text)
    with pytest.raises(InputError, match=message) as error:
        load_json(tmp_path / "gap.json", Gap, "gap")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"columns": ["more"]}, "has no column more. Do it again."),
        ({"key": "age"}, "age is empty or there twice in some rows. Do it again."),
    ],
)
def test_tables_that_do_not_fit_are_refused(tmp_path: Path, wanted: dict, message: str):
    TABLE.write_parquet(tmp_path / "users.parquet")
    with pytest.raises(InputError, match=message):
        read_parquet(tmp_path / "users.parquet", "Do it again.", **wanted)


def test_damage_is_described_in_words(tmp_path: Path):
    file = tmp_path / "users.parquet"
    TABLE.write_parquet(file)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"cannot be read \("):
        read_parquet(file, "Do it again.")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"version": 1, "name": 2, "more": 3}', True),
        ('{"version": 1}', False),
        ('["version", "name"]', False),
        ("{", False),
        (None, False),
    ],
)
def test_json_of_ours_is_known_by_its_names(tmp_path: Path, content: str | None, expected: bool):
    if content is not None:
        (tmp_path / "file").write_text(content)
    assert is_json_with(tmp_path / "file", "version", "name") is expected
