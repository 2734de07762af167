"""Tables of ours, read back."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from fairrec.core import saved_files
from fairrec.core.errors import InputError
from fairrec.core.saved_files import is_id, is_number, is_time, is_value, lists_of, read_parquet

TABLE = pl.DataFrame({"user_id": ["a", "b"], "seen": [[1, 2], [3]], "age": [1.5, None]})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    TABLE.write_parquet(tmp_path / "users.parquet")
    return tmp_path / "users.parquet"


def refused(file: Path, **wanted) -> str:
    with pytest.raises(InputError) as error:
        read_parquet(file, "Do it again.", **wanted)
    assert "\n" not in str(error.value) and "users.parquet: " in str(error.value)
    assert str(error.value).endswith("Do it again.")
    return str(error.value)


def test_what_was_written_is_read(file: Path):
    wanted = {"user_id": is_id, "seen": lists_of(is_number), "age": is_value, "more": is_id}
    found = read_parquet(file, "", wanted, "user_id", optional=("more",))
    assert found.equals(TABLE)


def test_other_columns_are_refused_by_name(file: Path):
    assert "'more' is not there" in refused(file, columns={"more": is_id})
    assert "'age' is Float64 there" in refused(file, columns={"age": is_id})
    assert "'seen' is List(Int64) there" in refused(file, columns={"seen": is_value})
    assert "'user_id' is String there" in refused(file, columns={"user_id": lists_of(is_id)})


@pytest.mark.parametrize("ids", [["a", "a"], ["a", None]])
def test_keys_that_are_empty_or_there_twice_are_refused(file: Path, ids: list[str | None]):
    TABLE.with_columns(user_id=pl.Series(ids)).write_parquet(file)
    assert "user_id is empty or there twice" in refused(file, key="user_id")


def test_damage_is_told_in_words(file: Path):
    file.write_bytes(file.read_bytes()[:-20])
    assert "cannot be read as Parquet (" in refused(file)
    file.unlink()
    assert "cannot be read (No such file" in refused(file)


def test_a_panic_is_an_input_error(file: Path, monkeypatch: pytest.MonkeyPatch):
    def panics(source: object) -> pl.DataFrame:
        raise pl.exceptions.PanicException("index out of bounds")

    monkeypatch.setattr(saved_files.pl, "read_parquet", panics)
    assert "cannot be read as Parquet (index out of bounds)" in refused(file)


def test_a_mistake_of_ours_is_none_of_the_file(file: Path):
    with pytest.raises(ZeroDivisionError), saved_files.damaged(file, ""):
        raise ZeroDivisionError


def test_times_may_be_unknown():
    for kind in (pl.Int64(), pl.Datetime(), pl.Null()):
        assert is_time(kind)
    assert not is_time(pl.String())
