"""Single files, whole or not at all."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import polars as pl
import pytest

from fairrec.core.errors import OutputError
from fairrec.core.files import (
    ROWS_TOGETHER,
    check_writable,
    errors_of_scratch,
    file_sum,
    is_json_with,
    put_table,
    refuse_foreign,
    sink_table,
    whole_file,
    write_table,
    write_text,
)

TABLE = pl.DataFrame({"a": [1, 2], "b": ["x", "y"]})


def test_a_file_appears_when_all_is_written(tmp_path: Path):
    file = tmp_path / "page.html"
    with whole_file(file) as part:
        part.write_text("new")
        assert not file.exists()
    assert file.read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_an_old_file_stays_until_the_new_one_is_whole(tmp_path: Path):
    file = tmp_path / "page.html"
    file.write_text("old")
    with pytest.raises(ValueError, match="no page"), whole_file(file) as part:
        part.write_text("half")
        raise ValueError("no page")
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_file_is_as_open_to_others_as_any(tmp_path: Path):
    write_text(tmp_path / "ours", "x")
    (tmp_path / "any").write_text("x")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "any").stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path):
    (tmp_path / "there").mkdir()
    (tmp_path / "page.html").symlink_to(tmp_path / "there" / "page.html")
    write_text(tmp_path / "page.html", "new")
    assert (tmp_path / "page.html").is_symlink()
    assert (tmp_path / "there" / "page.html").read_text() == "new"


def test_a_device_is_written_to():
    write_text(Path(os.devnull), "x")
    with pytest.raises(OutputError, match=r"/dev/full: cannot be written \(No space left"):
        write_text(Path("/dev/full"), "x")


@pytest.mark.parametrize("name", ["out", "no/such/folder/page.html"])
def test_a_place_that_cannot_be_written_is_an_error_in_words(tmp_path: Path, name: str):
    (tmp_path / "out").mkdir()
    with pytest.raises(OutputError, match=f"{name}: cannot be written.*Choose another place"):
        write_text(tmp_path / name, "x")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("ending", ["parquet", "pq", "csv", "CSV"])
def test_a_table_is_written_as_its_ending_says(tmp_path: Path, ending: str):
    file = tmp_path / "new" / f"table.{ending}"
    write_table(TABLE, file)
    read = pl.read_csv if ending.lower() == "csv" else pl.read_parquet
    assert read(file).equals(TABLE)


def test_a_table_has_the_same_bytes_however_it_was_put_together(tmp_path: Path):
    whole = pl.DataFrame({"a": range(ROWS_TOGETHER * 2)})
    pieces = pl.concat([whole.head(9), whole.slice(9)], rechunk=False)
    assert pieces.n_chunks() == 2
    for table, name in ((whole, "whole"), (pieces, "pieces")):
        put_table(table, tmp_path / name, compression_level=1)
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "pieces").read_bytes()


def test_a_table_of_another_ending_is_refused(tmp_path: Path):
    with pytest.raises(OutputError, match=r"Name it NAME\.parquet or NAME\.csv"):
        write_table(TABLE, tmp_path / "table.xlsx")


def test_a_full_disk_is_an_error_of_the_disk():
    big = pl.DataFrame({"a": range(100_000)})
    for as_csv in (False, True):
        with pytest.raises(OSError, match="No space left"):
            put_table(big, Path("/dev/full"), as_csv=as_csv)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_a_file_that_others_may_not_read_stays_so(tmp_path: Path, mode: int):
    file = tmp_path / "per_user.csv"
    file.write_text("old")
    file.chmod(mode)
    with whole_file(file) as part:
        assert part.stat().st_mode & 0o077 == mode & 0o077
        part.write_text("new")
    assert file.read_text() == "new"
    assert file.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("length", [200, 240, 255])
def test_a_file_may_have_a_long_name(tmp_path: Path, length: int):
    for text in ("old", "new"):
        write_text(tmp_path / ("x" * length), text)
    assert (tmp_path / ("x" * length)).read_text() == "new"


@pytest.mark.parametrize("name", ["x" * 300, f"new/{'x' * 300}", f"{'x' * 300}/new"])
def test_a_name_that_is_too_long_is_refused_before_any_work(tmp_path: Path, name: str):
    with pytest.raises(OutputError, match=r"cannot be written \(File name too long\)"):
        check_writable(tmp_path / name)


def test_a_parent_that_may_not_be_entered_is_refused_in_words(tmp_path: Path, monkeypatch):
    def closed(path: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", closed)
    with pytest.raises(OutputError, match=r"closed/x: cannot be written \(Permission denied\)"):
        check_writable(tmp_path / "closed" / "x")


def test_a_folder_below_a_file_is_refused_before_any_work(tmp_path: Path):
    (tmp_path / "note").write_text("mine")
    for folder in (tmp_path / "note", tmp_path / "note" / "out"):
        with pytest.raises(OutputError, match=r"note is a file, not a folder"):
            check_writable(folder)


def test_a_folder_that_may_not_be_written_is_refused_before_any_work(tmp_path: Path, monkeypatch):
    asked = []
    monkeypatch.setattr(os, "access", lambda path, mode: asked.append((path, mode)))
    with pytest.raises(OutputError, match=rf"no permission to write in {tmp_path}\."):
        check_writable(tmp_path / "new" / "out")
    assert asked == [(tmp_path, os.W_OK | os.X_OK)]


def test_files_of_somebody_else_are_named_and_not_overwritten(tmp_path: Path):
    refuse_foreign(tmp_path, ["users.parquet"], "bundle")
    # a link that leads nowhere is somebody's too
    (tmp_path / "users.parquet").symlink_to(tmp_path / "nowhere")
    with pytest.raises(OutputError, match=r"users.parquet there is of no bundle of FairRec's"):
        refuse_foreign(tmp_path, ["items.parquet", "users.parquet"], "bundle")


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


def test_a_checksum_is_that_of_the_bytes(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"abc" * 100_000)
    assert file_sum(tmp_path / "file") == hashlib.sha256(b"abc" * 100_000).hexdigest()


def test_a_full_disk_for_scratch_files_names_the_option(tmp_path: Path):
    for error in (OSError(28, "No space left on device"), pl.exceptions.ComputeError("disk full")):
        with (
            pytest.raises(OutputError, match=r"cannot hold the scratch files .*scratch"),
            errors_of_scratch(tmp_path),
        ):
            raise error
    # what is in words already stays as it is
    with pytest.raises(OutputError, match=r"^as it is$"), errors_of_scratch(tmp_path):
        raise OutputError("as it is")


def test_a_table_that_is_too_large_to_be_read_at_once_is_written_in_its_order(tmp_path: Path):
    sink_table(TABLE.lazy(), tmp_path / "table")
    assert pl.read_parquet(tmp_path / "table").equals(TABLE)
    with pytest.raises(OSError, match="No space left"):
        sink_table(pl.LazyFrame({"a": range(100_000)}), Path("/dev/full"))


def test_a_folder_that_cannot_be_listed_is_no_obstacle(tmp_path: Path, monkeypatch):
    opened = os.open

    def no_folder(path: Path, *rest: int) -> int:
        if Path(path) == tmp_path:
            raise PermissionError(13, "Permission denied")
        return opened(path, *rest)

    monkeypatch.setattr(os, "open", no_folder)
    write_text(tmp_path / "page.html", "new")
    assert (tmp_path / "page.html").read_text() == "new"


@pytest.mark.parametrize(
    "error", [pl.exceptions.PanicException, pl.exceptions.InvalidOperationError]
)
def test_whatever_fails_while_a_table_is_written_is_an_error_in_words(
    tmp_path: Path, error: type[BaseException], monkeypatch
):
    def fail(*_: object, **__: object) -> None:
        raise error("odd")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", fail)
    with pytest.raises(OutputError, match=r"a.parquet: cannot be written \(odd\)"):
        write_table(pl.DataFrame({"a": [1]}), tmp_path / "a.parquet")
    assert not [*tmp_path.iterdir()]
