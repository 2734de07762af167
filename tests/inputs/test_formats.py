"""Files of every ending, whole, compressed or in parts, and what is refused as none."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

from fairrec.core.errors import InputError
from fairrec.inputs.formats import (
    FileRows,
    RowSlice,
    checksum,
    scan_rows,
)
from fairrec.inputs.partition import Stored, is_stored
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


def test_a_name_that_is_no_unicode_is_read_in_every_format(tmp_path: Path):
    stem = b"caf\xe9".decode("utf-8", "surrogateescape")
    frame = pl.DataFrame({"user_id": [1, 2], "group": ["x", "y"]})
    for ending, content in [(".csv", TEXT), (".jsonl", JSON_LINES)]:
        (tmp_path / f"{stem}{ending}").write_text(content)
    for ending, write in [(".parquet", frame.write_parquet), (".arrow", frame.write_ipc)]:
        with (tmp_path / f"{stem}{ending}").open("wb") as stream:
            write(stream)
    for ending in (".csv", ".jsonl", ".parquet", ".arrow"):
        assert _rows(tmp_path / f"{stem}{ending}") == ROWS


def test_values_of_json_keep_their_types(tmp_path: Path):
    path = tmp_path / "recs.jsonl"
    path.write_text(
        '{"user_id": "007", "item_id": [1, 2], "score": [0.5, 1]}\n'
        '{"user_id": "7", "item_id": [], "score": []}\n'
    )
    table = Table(path, "predictions").read({n: n for n in ("user_id", "item_id", "score")})
    assert table.rows() == [("007", [1, 2], [0.5, 1.0]), ("7", [], [])]


def test_a_type_that_shows_in_a_late_line_of_json_is_seen(tmp_path: Path):
    path = tmp_path / "users.jsonl"
    path.write_text('{"user_id": 1, "group": 1}\n' * 3000 + '{"user_id": 1, "group": 1.5}\n')
    assert Table(path, "users").read({"g": "group"})["g"][-1] == 1.5


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


def test_names_of_folders_are_columns_below_the_folder_that_is_given(tmp_path: Path):
    folder = tmp_path / "group=above" / "users"
    for group, bucket, user in [("x", "1", 1), ("a%2Fb", "2", 2), (None, "10", 3)]:
        named = group or "__HIVE_DEFAULT_PARTITION__"
        part = folder / f"group={named}" / f"bucket={bucket}"
        part.mkdir(parents=True)
        pl.DataFrame({"user_id": [user]}).write_parquet(part / "part.parquet")
    for given in (folder, folder / "*" / "*" / "*.parquet"):
        table = Table(given, "users")
        assert table.columns == ["user_id", "group", "bucket"]
        read = table.read({name: name for name in table.columns}).sort("user_id")
        assert read.rows() == [(1, "x", 1), (2, "a/b", 2), (3, None, 10)]


@pytest.mark.parametrize(
    "name", ["b.csv", "b.parquet.gz", "day/b.CSV.gz", "b.parquet.tmp", "b.arrow"]
)
def test_a_table_beside_the_parts_of_a_folder_is_refused(name: str, tmp_path: Path):
    _write_parts(tmp_path / "recs", make_tables().users)
    (tmp_path / "recs" / name).parent.mkdir(exist_ok=True)
    (tmp_path / "recs" / name).write_text(TEXT)
    says = rf"recs: names 4 files, of which {Path(name).name} is not Parquet.*move away"
    with pytest.raises(InputError, match=says):
        Table(tmp_path / "recs", "users")


@pytest.mark.parametrize("name", ["000001_0", "day/b.parq", "b.txt"])
def test_a_parquet_file_of_another_name_in_a_folder_is_refused(name: str, tmp_path: Path):
    _write_parts(tmp_path / "recs", make_tables().users)
    (tmp_path / "recs" / name).parent.mkdir(exist_ok=True)
    pl.DataFrame({"user_id": [9], "group": ["x"]}).write_parquet(tmp_path / "recs" / name)
    says = rf"names 4 files, of which {Path(name).name} is not Parquet by its name.*as \.parquet"
    with pytest.raises(InputError, match=says):
        Table(tmp_path / "recs", "users")


@pytest.mark.parametrize(
    ("log", "what"),
    [
        ("_delta_log/0.json", "a Delta table"),
        (".hoodie/hoodie.properties", "a Hudi table"),
        ("metadata/v1.metadata.json", "an Iceberg table"),
    ],
)
def test_a_folder_whose_log_says_which_files_belong_to_the_table_is_refused(log, what, tmp_path):
    _write_parts(tmp_path / "recs", make_tables().users)
    (tmp_path / "recs" / log).parent.mkdir()
    (tmp_path / "recs" / log).write_text("{}")
    with pytest.raises(InputError, match=f"recs: is {what}, and may hold files.*removed"):
        Table(tmp_path / "recs", "users")


def test_a_column_that_folders_name_otherwise_is_refused(tmp_path: Path):
    rows = [(user, item, -item, item == user % 3) for user in range(6) for item in range(3)]
    recs = pl.DataFrame(rows, ["user_id", "item_id", "score", "label"], orient="row")
    recs = recs.with_columns(pl.col("label").cast(pl.Int8))
    # as Polars writes them: the column stands in the files, too
    recs.write_parquet(tmp_path / "recs", partition_by="label", mkdir=True)
    users = pl.DataFrame({"user_id": range(6), "g": ["a", "b"] * 3})
    expected = numbers_of(audit(recs, users, "g"))
    assert numbers_of(audit(tmp_path / "recs", users, "g")) == expected
    (tmp_path / "recs" / "label=0").rename(tmp_path / "recs" / "label=2")
    with pytest.raises(InputError, match=r"recs: label=2/\S+ has a column 'label' of other values"):
        audit(tmp_path / "recs", users, "g")


@pytest.mark.parametrize(
    ("second", "says"),
    [
        (
            {"item": [1]},
            "column 'user_id' is Int64 in day=1/p.parquet and absent in day=2/p.parquet",
        ),
        ({"user_id": [1], "b": [1]}, "column 'b' is absent in day=1/p.parquet and Int64 in day=2"),
        ({"user_id": ["a"]}, "column 'user_id' is Int64 in day=1/p.parquet and String in day=2"),
    ],
)
def test_parts_in_named_folders_that_differ_are_refused(second, says, tmp_path):
    for day, columns in enumerate(({"user_id": [1]}, second), 1):
        (tmp_path / f"day={day}").mkdir()
        pl.DataFrame(columns).write_parquet(tmp_path / f"day={day}" / "p.parquet")
    with pytest.raises(InputError, match=f"^{tmp_path.name}: {says}"):
        Table(tmp_path, "users")


def test_the_checksum_of_parts_is_another_when_any_of_them_changes(tmp_path: Path):
    frame = make_tables().users
    folder = tmp_path / "users"
    _write_parts(folder, frame)
    first = input_summaries({"users": Table(folder, "users")})["users"].sha256
    assert first == checksum(folder) == checksum(folder / "*.parquet")
    (folder / "note.txt").write_text("not a part")
    assert checksum(folder) == first
    (folder / "part-1.parquet").rename(folder / "part-9.parquet")
    moved = checksum(folder)
    frame[:1].write_parquet(folder / "part-0.parquet")
    assert len({first, moved, checksum(folder)}) == 3


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("users", r"users: is a folder without Parquet files. Name a file"),
        ("us*.parquet", r"us\*\.parquet: does not exist and matches no file. Check the path"),
        ("nowhere.csv", r"nowhere\.csv: does not exist. Check the path"),
        ("users.xlsx", r"users\.xlsx: is an Excel file. Save the table as CSV or Parquet"),
        ("users.zip", r"users\.zip: is an archive. Unpack it"),
        ("users.csv.zip", r"users\.csv\.zip: is an archive. Unpack it"),
        ("users.pkl", r"users\.pkl: is a pickle.* never read"),
        ("users.json", r"users\.json: .*one object a line"),
        ("users.xyz", r"users\.xyz: the ending '\.xyz' is not known. Known: \.parquet.*convert"),
        ("users.parquet.gz", r"the ending '\.gz' is not known"),
    ],
)
def test_what_cannot_be_a_table_is_refused_with_a_remedy(name: str, says: str, tmp_path: Path):
    (tmp_path / "users").mkdir()
    (tmp_path / "users" / "users.csv").write_text(TEXT)
    for file in ("xlsx", "zip", "csv.zip", "pkl", "json", "xyz", "parquet.gz"):
        (tmp_path / f"users.{file}").write_bytes(b"PK")
    with pytest.raises(InputError, match=says):
        Table(tmp_path / name, "users")


class _Trap:
    def __reduce__(self) -> tuple[object, ...]:
        return (pytest.fail, ("a pickle was read",))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"PK\x03\x04\x14\x00", "is called .csv but is a zip or an Excel file"),
        (b"PAR1\x15\x04", "is a Parquet file. Rename it to .parquet"),
        (b"ARROW1\0\0", "is an Arrow file. Rename it to .arrow"),
        (TEXT.encode("utf-16"), "is UTF-16. Save it as UTF-8"),
        (pickle.dumps(_Trap()), "is a pickle"),
    ],
    ids=["zip", "parquet", "arrow", "utf-16", "pickle"],
)
def test_what_is_called_a_text_file_and_is_none_is_refused(content, says, tmp_path):
    path = tmp_path / "users.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=says):
        Table(path, "users")


def test_a_compressed_file_that_is_cut_short_is_refused(tmp_path: Path):
    content = "".join(f"{user},{user * 7919 % 1000}\n" for user in range(20_000))
    for ending, compress in ((".gz", gzip.compress), (".zst", _zstd)):
        path = tmp_path / f"users.csv{ending}"
        path.write_bytes(compress(f"user_id,group\n{content}".encode())[:-2000])
        with pytest.raises(InputError, match=rf"users\.csv\{ending}: cannot be read as CSV"):
            Table(path, "users").read({"user_id": "user_id"})


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".csv", ".jsonl"])
def test_rows_come_in_the_order_of_the_file(ending: str, tmp_path: Path):
    frame = pl.DataFrame({"user_id": range(50_000, 0, -1), "score": [0.25, 1.5] * 25_000})
    write = {".parquet": "parquet", ".arrow": "ipc", ".csv": "csv", ".jsonl": "ndjson"}[ending]
    getattr(frame, f"write_{write}")(tmp_path / f"t{ending}")
    read = Table(tmp_path / f"t{ending}", "predictions").read({n: n for n in frame.columns})
    assert_frame_equal(read.with_columns(pl.col("user_id").cast(pl.Int64)), frame)


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


def test_the_damaged_one_of_several_files_is_named(tmp_path):
    for part in range(3):
        pl.DataFrame({"user_id": [f"u{part}"]}).write_parquet(tmp_path / f"{part}.parquet")
    file = tmp_path / "1.parquet"
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"cannot be read as Parquet \(1\.parquet: "):
        Table(tmp_path, "users")


def stored(folder: Path, *lengths: int) -> Stored:
    """A table whose rows are numbered, in files of these lengths."""
    at = 0
    for number, length in enumerate(lengths):
        rows = pl.DataFrame({"row": range(at, at + length)}, schema={"row": pl.Int64})
        rows.write_parquet(folder / f"{number}.parquet", row_group_size=2)
        at += length
    return Stored.open(Table(folder, "predictions"))


def test_any_range_of_rows_is_found_over_borders_of_files(tmp_path: Path):
    table = stored(tmp_path, 3, 0, 4, 1)
    assert table.n_rows == 8
    for start in range(9):
        for stop in range(start, 9):
            rows = scan_rows(table.slice(table.rows(start, stop), False).rows).collect()
            assert rows["row"].to_list() == [*range(start, stop)]
            assert rows.schema == {"row": pl.Int64}


def test_tables_that_are_not_in_parquet_files_or_empty_are_refused(tmp_path: Path):
    (tmp_path / "a.csv").write_text("user_id\n1\n")
    assert not is_stored(Table(tmp_path / "a.csv", "predictions"))
    with pytest.raises(InputError, match="only these are read in parts"):
        Stored.open(Table(pl.DataFrame({"a": [1]}), "predictions"))
    (tmp_path / "a.csv").unlink()
    with pytest.raises(InputError, match="the table is empty"):
        stored(tmp_path, 0, 0)


def piece(folder: Path, first_row: int | None = 2) -> RowSlice:
    """Rows 3 and 4 of a table, by the name of another."""
    file = folder / "rows.parquet"
    pl.DataFrame({"user_id": ["1", "2", "3", None], "score": [1, 2, 3, 4]}).write_parquet(file)
    return RowSlice("all.parquet", folder / "all.parquet", (FileRows(file, 2, 4),), first_row)


def test_a_table_is_its_rows_under_the_name_of_the_whole(tmp_path: Path):
    table = Table(pickle.loads(pickle.dumps(piece(tmp_path))), "predictions")
    assert table.read({"score": "score"})["score"].to_list() == [3, 4]
    with pytest.raises(InputError, match=r"^all.parquet, row 4: column 'user_id' is empty"):
        table.read({"user_id": "user_id"})
    scattered = Table(piece(tmp_path, None), "predictions")
    with pytest.raises(InputError, match=r"^all.parquet: column 'user_id' is empty"):
        scattered.read({"user_id": "user_id"})


def test_no_rows_are_no_error_in_a_piece(tmp_path: Path):
    rows = piece(tmp_path).rows[0]
    nothing = RowSlice("all", tmp_path, (FileRows(rows.file, 0, 0),))
    assert Table(nothing, "test").read({"user_id": "user_id"}).height == 0


def test_user_ids_are_text_where_the_whole_table_says_so(tmp_path: Path):
    ids = pl.Series(["1.0", "2"])
    rows = piece(tmp_path).rows
    as_numbers = Table(RowSlice("all", tmp_path, rows), "test").user_keys(ids)
    as_text = Table(RowSlice("all", tmp_path, rows, is_text=True), "test").user_keys(ids)
    assert (as_numbers.to_list(), as_text.to_list()) == ([1, 2], ["1.0", "2"])
