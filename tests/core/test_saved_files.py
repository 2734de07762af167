"""JSON files and tables of ours, read back."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from fairrec.core.errors import InputError
from fairrec.core.files import is_json_with
from fairrec.core.saved_files import (
    is_id,
    is_number,
    is_value,
    lists_of,
    load_json,
    read_parquet,
)
from fairrec.result.metric_schema import Gap

GAP = {"metric": "mrr", "size": 1.0, "advantaged": None, "disadvantaged": None, "chance": None}


def refused(path: Path, content: type = Gap) -> str:
    with pytest.raises(InputError) as error:
        load_json(path, content, "gap")
    assert "\n" not in str(error.value) and "\x1b" not in str(error.value)
    assert len(str(error.value)) < 700
    return str(error.value)


def test_what_was_written_is_read(tmp_path: Path):
    file = tmp_path / "gap.json"
    file.write_text(json.dumps(GAP))
    assert load_json(file, Gap, "gap").metric == "mrr"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (json.dumps({**GAP, "\x1b[2J\n": 1}), r"(\x1b[2J\n: Extra inputs"),
        (json.dumps({"metric": 1}), "(metric: Input should be a valid string; 4 more)"),
        (json.dumps({"metric": "mrr"}), ": Field required; 3 more)"),
        (json.dumps([1]), "(Input should be an object"),
        ("[" * 100_000, "recursion"),
        ("", "is no gap of this version of FairRec (Invalid JSON"),
        (b"\xff\xff", "is no gap"),
    ],
)
def test_what_does_not_fit_is_told_in_a_line(tmp_path: Path, text: str | bytes, says: str):
    file = tmp_path / "gap.json"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert says in refused(file)


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "nowhere"])
def test_a_path_that_cannot_be_is_told_in_words(tmp_path: Path, name: str):
    assert "cannot be read" in refused(tmp_path / name)


TABLE = pl.DataFrame({"user_id": ["a", "b"], "seen": [[1, 2], [3]], "age": [1.5, None]})


@pytest.fixture
def table(tmp_path: Path) -> Path:
    TABLE.write_parquet(tmp_path / "users.parquet")
    return tmp_path / "users.parquet"


def refused_table(table: Path, **wanted) -> str:
    with pytest.raises(InputError) as error:
        read_parquet(table, "Do it again.", **wanted)
    assert "\n" not in str(error.value) and "users.parquet: " in str(error.value)
    assert str(error.value).endswith("Do it again.")
    return str(error.value)


def test_a_table_that_was_written_is_read(table: Path):
    wanted = {"user_id": is_id, "seen": lists_of(is_number), "age": is_value, "more": is_id}
    found = read_parquet(table, "", wanted, "user_id", optional=("more",))
    assert found.equals(TABLE)


def test_other_columns_are_refused_by_name(table: Path):
    assert "'more' is not there" in refused_table(table, columns={"more": is_id})
    assert "'age' is Float64 there" in refused_table(table, columns={"age": is_id})
    assert "'seen' is List(Int64) there" in refused_table(table, columns={"seen": is_value})
    assert "'user_id' is String there" in refused_table(table, columns={"user_id": lists_of(is_id)})


@pytest.mark.parametrize("ids", [["a", "a"], ["a", None]])
def test_keys_that_are_empty_or_there_twice_are_refused_table(table: Path, ids: list[str | None]):
    TABLE.with_columns(user_id=pl.Series(ids)).write_parquet(table)
    assert "user_id is empty or there twice" in refused_table(table, key="user_id")


def test_damage_is_told_in_words(table: Path):
    table.write_bytes(table.read_bytes()[:-20])
    assert "cannot be read (" in refused_table(table)
    table.unlink()
    assert "cannot be read (No such file" in refused_table(table)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"version": 1, "name": 2, "more": 3}', True),
        ('{"version": 1}', False),
        ('["version", "name"]', False),
        ("{", False),
        ("[" * 100_000, False),
        (None, False),
    ],
)
def test_json_of_ours_is_known_by_its_names(tmp_path: Path, content: str | None, expected: bool):
    if content is not None:
        (tmp_path / "file").write_text(content)
    assert is_json_with(tmp_path / "file", "version", "name") is expected
