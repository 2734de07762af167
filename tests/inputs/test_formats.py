"""Files of every ending, whole, compressed or in parts, and what is refused as none."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from fairrec.core.errors import InputError
from fairrec.inputs.formats import checksum
from fairrec.inputs.tables import Table
from fairrec.result.summary import input_summaries
from tests.builders import audit, make_tables, numbers_of

TEXT = "user_id,group\n1,x\n2,y\n"
JSON_LINES = '{"user_id": 1, "group": "x"}\n\n{"user_id": 2, "group": "y"}\n'
ROWS = [(1, "x"), (2, "y")]


def _zstd(content: bytes) -> bytes:
    return pa.compress(content, codec="zstd", asbytes=True)


def _rows(path: Path | str, *columns: str) -> list[tuple[object, ...]]:
    table = Table(path, "users")
    named = {name: name for name in columns or ("user_id", "group")}
    ids = pl.col("user_id").cast(pl.Int64)
    return table.read(named, labels=["group"]).with_columns(ids).rows()


@pytest.mark.parametrize("compress", [bytes, gzip.compress, _zstd], ids=["", ".gz", ".zst"])
@pytest.mark.parametrize(
    ("ending", "content"),
    [
        (".csv", TEXT),
        (".CSV", TEXT),
        (".txt", TEXT),
        (".txt", TEXT.replace(",", "\t")),
        (".tsv", TEXT.replace(",", "\t")),
        (".inter", TEXT.replace(",", "\t")),
        (".user", TEXT.replace(",", "\t")),
        (".item", TEXT.replace(",", "\t")),
        (".jsonl", JSON_LINES),
        (".ndjson", JSON_LINES),
    ],
)
def test_text_is_read_by_its_ending_also_compressed(ending, content, compress, tmp_path):
    also = {bytes: "", gzip.compress: ".gz", _zstd: ".zst"}[compress]
    path = tmp_path / f"users{ending}{also}"
    path.write_bytes(compress(content.encode()))
    assert _rows(path) == ROWS
    assert Table(path, "users").notes == ()


@pytest.mark.parametrize("name", ["a[1].jsonl", "every*.jsonl", "b.c.csv", "x.2024.csv.gz"])
def test_a_name_with_wildcards_or_dots_is_one_file(name: str, tmp_path: Path):
    content = (JSON_LINES if "json" in name else TEXT).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert _rows(tmp_path / name) == ROWS


def test_values_of_json_keep_their_types(tmp_path: Path):
    path = tmp_path / "recs.jsonl"
    path.write_text(
        '{"user_id": "007", "item_id": [1, 2], "score": [0.5, 1]}\n'
        '{"user_id": "7", "item_id": [], "score": []}\n'
    )
    table = Table(path, "predictions").read({n: n for n in ("user_id", "item_id", "score")})
    assert table.rows() == [("007", [1, 2], [0.5, 1.0]), ("7", [], [])]


@pytest.mark.parametrize("content", ['{"user_id": 1}\n{"user_id"', "[1, 2]\n", ""])
def test_json_that_is_cut_short_or_none_is_refused(content: str, tmp_path: Path):
    path = tmp_path / "users.jsonl"
    path.write_text(content)
    with pytest.raises(InputError, match=r"users\.jsonl: cannot be read as JSON lines"):
        Table(path, "users").read({"user_id": "user_id"})


def _write_parts(folder: Path, frame: pl.DataFrame, n_parts: int = 3) -> None:
    folder.mkdir(parents=True)
    for part in range(n_parts):
        frame.gather_every(n_parts, part).write_parquet(folder / f"part-{part}.parquet")


def test_a_folder_and_a_pattern_of_parts_are_one_table(tmp_path: Path, monkeypatch):
    tables = make_tables()
    expected = numbers_of(audit(tables.predictions, tables.users, "gender"))
    folder = tmp_path / "recs [all].parquet"
    _write_parts(folder, tables.predictions)
    # what Spark leaves beside its parts
    (folder / "_SUCCESS").touch()
    (folder / ".part-0.parquet.crc").write_bytes(b"crc")
    (folder / "_temporary").mkdir()
    (folder / "_temporary" / "half.parquet").write_bytes(b"PAR1")
    assert numbers_of(audit(folder, tables.users, "gender")) == expected
    monkeypatch.chdir(tmp_path)
    folder.rename("recs")
    for given in ("recs", "recs/", "recs/*.parquet", "recs/part-?.parquet", "**/part*.parquet"):
        assert numbers_of(audit(given, tables.users, "gender")) == expected


def test_names_of_folders_are_columns(tmp_path: Path):
    folder = tmp_path / "year=2024" / "users"
    for group, bucket, user in [("x", "1", 1), ("a%2Fb", "2", 2), (None, "10", 3)]:
        named = group or "__HIVE_DEFAULT_PARTITION__"
        part = folder / f"group={named}" / f"bucket={bucket}"
        part.mkdir(parents=True)
        pl.DataFrame({"user_id": [user]}).write_parquet(part / "part.parquet")
    table = Table(folder, "users")
    assert {*table.columns} >= {"user_id", "group", "bucket"}
    read = table.read({name: name for name in ("user_id", "group", "bucket")}).sort("user_id")
    assert "year" not in table.columns
    assert read.rows() == [(1, "x", 1), (2, "a/b", 2), (3, None, 10)]


def test_names_of_folders_never_replace_a_column(tmp_path: Path):
    users = pl.DataFrame({"user_id": [1, 2], "plan": ["free", "paid"], "region": ["x", "y"]})
    for day in (1, 2):
        part = tmp_path / "plan=free" / "users" / "region=0" / f"day={day}"
        part.mkdir(parents=True)
        users.write_parquet(part / "part.parquet")
    for path in (tmp_path / "plan=free" / "users", tmp_path / "plan=*" / "users" / "region=0"):
        table = Table(path if path.is_dir() else path / "day=*" / "*.parquet", "users")
        read = table.read({name: name for name in (*users.columns, "day")}).sort("day", "user_id")
        assert read.rows() == [(*row, day) for day in (1, 2) for row in users.rows()]


@pytest.mark.parametrize("name", ["b.csv", "b.parquet.gz", "day/000001_0"])
def test_a_table_beside_the_parts_of_a_folder_is_refused(name: str, tmp_path: Path):
    _write_parts(tmp_path / "recs", make_tables().users)
    (tmp_path / "recs" / name).parent.mkdir(exist_ok=True)
    (tmp_path / "recs" / name).write_text(TEXT)
    says = rf"recs: {Path(name).name} is not Parquet by its name.*Move it away"
    with pytest.raises(InputError, match=says):
        Table(tmp_path / "recs", "users")


@pytest.mark.parametrize(
    "log", ["_delta_log/0.json", ".hoodie/hoodie.properties", "metadata/v1.metadata.json"]
)
def test_a_folder_whose_log_says_which_files_belong_to_the_table_is_refused(log, tmp_path):
    _write_parts(tmp_path / "recs", make_tables().users)
    (tmp_path / "recs" / log).parent.mkdir()
    (tmp_path / "recs" / log).write_text("{}")
    with pytest.raises(InputError, match=r"recs: is a Delta, Hudi or Iceberg table.*removed"):
        Table(tmp_path / "recs", "users")


def test_the_checksum_of_parts_is_another_when_any_of_them_changes(tmp_path: Path):
    frame = make_tables().users
    folder = tmp_path / "users"
    _write_parts(folder, frame)
    first = input_summaries({"users": Table(folder, "users")})["users"].sha256
    assert first == checksum(folder) == checksum(folder / "*.parquet")
    (folder / "_SUCCESS").write_text("not a part")
    assert checksum(folder) == first
    (folder / "part-1.parquet").rename(folder / "part-9.parquet")
    moved = checksum(folder)
    frame[:1].write_parquet(folder / "part-0.parquet")
    assert len({first, moved, checksum(folder)}) == 3


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("users", r"users: is a folder without Parquet files. Name a file"),
        ("users.*", r"users\.csv is not Parquet by its name"),
        ("us*.parquet", r"us\*\.parquet: does not exist. Check the path"),
        ("nowhere.csv", r"nowhere\.csv: does not exist. Check the path"),
        ("users.xlsx", r"'\.xlsx' is an Excel file. Save or convert the table as CSV or Parquet"),
        ("users.csv.zip", r"users\.csv\.zip: the ending '\.zip' is not known"),
        ("users.parquet.gz", r"the ending '\.gz' is not known"),
    ],
)
def test_what_cannot_be_a_table_is_refused_with_a_remedy(name: str, says: str, tmp_path: Path):
    (tmp_path / "users").mkdir()
    (tmp_path / "users.csv").write_text(TEXT)
    for file in ("xlsx", "csv.zip", "parquet.gz"):
        (tmp_path / f"users.{file}").write_bytes(b"PK")
    with pytest.raises(InputError, match=says):
        Table(tmp_path / name, "users")


def test_utf_16_is_refused(tmp_path):
    (tmp_path / "users.csv").write_bytes(TEXT.encode("utf-16"))
    with pytest.raises(InputError, match=r"is UTF-16\. Save it as UTF-8"):
        Table(tmp_path / "users.csv", "users")


@pytest.mark.parametrize("write", [pl.DataFrame.write_parquet, pl.DataFrame.write_ipc])
def test_a_file_that_is_cut_short_is_refused_by_name(tmp_path, write):
    ending = "parquet" if write is pl.DataFrame.write_parquet else "arrow"
    file = tmp_path / f"users.{ending}"
    write(pl.DataFrame({"user_id": [f"u{row}" for row in range(500)]}), file)
    whole = file.read_bytes()
    for length in range(0, len(whole), len(whole) // 6):
        file.write_bytes(whole[:length])
        with pytest.raises(InputError, match=rf"users\.{ending}: cannot be read as .*is whole"):
            Table(file, "users").read({"user_id": "user_id"})
