"""Bad input gets one clear message, exit code 2, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from tests.end_to_end.command_line import AUDIT, Ran, files_in, run_here, run_process, write_tables

Arrange = Callable[[Path], list[str]]


@dataclass(frozen=True)
class Case:
    """How to go wrong, and what the message must say: what, where, and how to fix it."""

    arrange: Arrange
    says: tuple[str, ...]


CASES: dict[str, Case] = {}


def bad(name: str, *says: str) -> Callable[[Arrange], Arrange]:
    """Register a case: it spoils files in a folder and returns options to add."""

    def register(arrange: Arrange) -> Arrange:
        assert name not in CASES
        CASES[name] = Case(arrange, says)
        return arrange

    return register


def options(*arguments: str) -> Arrange:
    """A case of options alone."""
    return lambda folder: [*arguments]


def _change(folder: Path, name: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> list[str]:
    path = folder / f"{name}.parquet"
    change(pl.read_parquet(path)).write_parquet(path)
    return []


def _set(row: int, column: str, value: object) -> Callable[[pl.DataFrame], pl.DataFrame]:
    def change(table: pl.DataFrame) -> pl.DataFrame:
        is_row = pl.int_range(pl.len()) == row - 1
        return table.with_columns(
            pl.when(is_row).then(pl.lit(value)).otherwise(column).alias(column)
        )

    return change


@bad("missing predictions file", "predictions.parquet", "does not exist", "Check the path")
def _(folder: Path) -> list[str]:
    (folder / "predictions.parquet").unlink()
    return []


for table in ("users", "items", "history"):
    bad(f"missing {table} file", "nowhere.csv", "does not exist", "Check the path")(
        options(f"--{table}", "nowhere.csv")
    )


@bad("missing column", "predictions.parquet", "no column 'score'", "points", "--columns score=NAME")
def _(folder: Path) -> list[str]:
    return _change(folder, "predictions", lambda table: table.rename({"score": "points"}))


@bad("missing user column", "users.parquet", "no column 'user_id'", "--columns user_id=NAME")
def _(folder: Path) -> list[str]:
    return _change(folder, "users", lambda table: table.rename({"user_id": "key"}))


@bad("mapped column missing", "users.parquet", "no column 'nmae'", "--columns", "gender")
def _(folder: Path) -> list[str]:
    return ["--columns", "users.user_id=nmae"]


@bad("two aliases at once", "users.parquet", "'uid'", "'userID'", "--columns user_id=uid")
def _(folder: Path) -> list[str]:
    return _change(
        folder,
        "users",
        lambda table: table.select(pl.all().exclude("user_id"), uid="user_id", userID="user_id"),
    )


@bad("duplicate pairs", "predictions.parquet", "user 'u01'", "twice", "3 such rows", "Keep one row")
def _(folder: Path) -> list[str]:
    return _change(folder, "predictions", lambda table: pl.concat([table, table[:3]]))


@bad("a NaN score", "predictions.parquet, row 11", "'score' is nan", "(1 such", "must be finite")
def _(folder: Path) -> list[str]:
    return _change(folder, "predictions", _set(11, "score", float("nan")))


@bad("an infinite score", "predictions.parquet, row 11", "'score' is -inf", "must be finite")
def _(folder: Path) -> list[str]:
    return _change(folder, "predictions", _set(11, "score", -float("inf")))


@bad("a missing score", "predictions.parquet, row 11", "'score' is empty", "Give a number")
def _(folder: Path) -> list[str]:
    return _change(folder, "predictions", _set(11, "score", None))


@bad("labels that are no numbers", "row 2: column 'label' holds 'no'", "not a number", "Give")
def _(folder: Path) -> list[str]:
    return _change(
        folder,
        "predictions",
        lambda table: table.with_columns(
            label=pl.when(pl.int_range(pl.len()) == 1).then(pl.lit("no")).otherwise(pl.lit("1"))
        ),
    )


@bad("labels below 0", "predictions.parquet", "column 'label' has values below 0", "turn -1 into 0")
def _(folder: Path) -> list[str]:
    return _change(folder, "predictions", _set(3, "label", -1))


@bad("a user not in users", "predictions.parquet", "user 'u02'", "not in users.parquet", "needs a")
def _(folder: Path) -> list[str]:
    return _change(folder, "users", lambda table: table.filter(pl.col("user_id") != "u02"))


@bad(
    "a user twice in users", "users.parquet, row 49", "'u03' appears more than once", "Keep one row"
)
def _(folder: Path) -> list[str]:
    return _change(folder, "users", lambda table: pl.concat([table, table[2:3]]))


bad("edges that do not rise", "'age:40|20'", "no edges of bins", "age:18|25|40")(
    options("--by", "age:40|20")
)
bad("support nobody has", "No group has 40 users", "48 users", "Lower --min-support")(
    options("--min-support", "40")
)
bad("unknown metric", "No metric 'ndgc'", "Did you mean 'ndcg'?", "Known: affected")(
    options("--metrics", "ndgc@5")
)
bad("unknown attribute", "users.parquet", "'gendr'", "Did you mean 'gender'?", "Known: age")(
    options("--by", "gendr")
)
bad("attribute named twice", "'gender' is named twice in --by", "once")(
    options("--by", "gender,age,gender")
)
bad("no attribute", "No attribute is named", "--by gender,age")(options("--by", ""))
bad("bad binning", "'age:ten'", "no binning", "age:10")(options("--by", "age:ten"))
bad("binned text", "users.parquet", "'gender' is not numeric", "--by gender")(
    options("--by", "gender:10")
)
bad("the user id as attribute", "'user_id' is the user id", "attributes of users")(
    options("--by", "user_id")
)


@bad(
    "list attribute",
    "users.parquet",
    "'tags' holds lists",
    "one value a user",
    "tags:first",
    "tags:each",
)
def _(folder: Path) -> list[str]:
    _change(folder, "users", lambda table: table.with_columns(tags=pl.concat_list("gender")))
    return ["--by", "tags"]


@bad("joined values", "users.parquet", "'tags' has several values for", "tags:first", "tags:whole")
def _(folder: Path) -> list[str]:
    tags = pl.Series("tags", ["a", "a|b", "b"]).repeat_by(16).explode()
    _change(folder, "users", lambda table: table.with_columns(tags))
    return ["--by", "tags"]


@bad("attribute named as a result column", "'support' has the name of a column", "Rename")
def _(folder: Path) -> list[str]:
    _change(folder, "users", lambda table: table.with_columns(support=pl.lit(1)))
    return ["--by", "support"]


for k in ("0", "-3", "x", "2.5"):
    bad(f"cut-off {k}", f"'mrr@{k}'", "cut-off must be a whole number from 1", "mrr@5")(
        options("--metrics", f"mrr@{k}")
    )
bad("cut-off of a metric without", "'auc@5'", "all candidates", "Write 'auc'")(
    options("--metrics", "auc@5")
)
bad("no metric", "No metric is named", "--metrics auc,ndcg@5")(options("--metrics", ","))
bad("urd without items", "'urd@5' needs the items table", "--items FILE")(
    options("--metrics", "auc,urd")
)
bad("urp without history", "'urp@5' needs the history table", "--history FILE")(
    options("--metrics", "urp")
)

for table in ("predictions", "users", "items", "history"):

    @bad(f"empty {table}", f"{table}.parquet", "the table is empty", "at least one row")
    def _(folder: Path, table: str = table) -> list[str]:
        _change(folder, table, pl.DataFrame.clear)
        return ["--items", "items.parquet", "--history", "history.parquet"]


@bad("an empty file", "users.csv", "cannot be read as CSV", "empty")
def _(folder: Path) -> list[str]:
    (folder / "users.csv").write_bytes(b"")
    return ["--users", "users.csv"]


@bad("a header alone", "users.csv", "the table is empty", "at least one row")
def _(folder: Path) -> list[str]:
    (folder / "users.csv").write_text("user_id,gender,age\n")
    return ["--users", "users.csv"]


@bad("truncated Parquet", "predictions.parquet", "cannot be read as Parquet", "is whole")
def _(folder: Path) -> list[str]:
    path = folder / "predictions.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    return []


@bad("half of a Parquet file", "users.parquet", "cannot be read as Parquet", "is whole")
def _(folder: Path) -> list[str]:
    path = folder / "users.parquet"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return []


@bad("garbage as Parquet", "predictions.parquet", "cannot be read as Parquet", "ending tells")
def _(folder: Path) -> list[str]:
    (folder / "predictions.parquet").write_bytes(b"this is no table at all\n" * 50)
    return []


@bad("damaged Parquet pages", "predictions.parquet", "cannot be read as Parquet", "is whole")
def _(folder: Path) -> list[str]:
    path = folder / "predictions.parquet"
    content = bytearray(path.read_bytes())
    content[4 : len(content) // 2] = b"\xa5" * (len(content) // 2 - 4)
    path.write_bytes(content)
    return []


@bad("garbage as Arrow", "users.arrow", "cannot be read as Arrow", "ending tells")
def _(folder: Path) -> list[str]:
    (folder / "users.arrow").write_bytes(b"this is no table at all\n" * 50)
    return ["--users", "users.arrow"]


@bad("latin-1 CSV", "users.csv", "cannot be read as CSV", "as UTF-8")
def _(folder: Path) -> list[str]:
    (folder / "users.csv").write_bytes("user_id,gender,age\nu01,é,1\n".encode("latin-1"))
    return ["--users", "users.csv"]


@bad("ragged CSV", "users.csv, row 2: 5 fields, where the header has 3")
def _(folder: Path) -> list[str]:
    (folder / "users.csv").write_text("user_id,gender,age\nu01,F,1\nu02,F,1,2,3\n")
    return ["--users", "users.csv"]


@bad("a folder as file", "users", "is a folder without Parquet files", "Name a file")
def _(folder: Path) -> list[str]:
    (folder / "users").mkdir()
    return ["--users", "users"]


@bad("an unknown ending", "users.xyz", "'.xyz' is not known", ".parquet", "convert")
def _(folder: Path) -> list[str]:
    (folder / "users.xyz").write_bytes(b"PK")
    return ["--users", "users.xyz"]


@bad("an Excel file", "users.xlsx", "is an Excel file", "CSV or Parquet", "the data frame")
def _(folder: Path) -> list[str]:
    (folder / "users.xlsx").write_bytes(b"PK")
    return ["--users", "users.xlsx"]


@bad("an unknown separator", "users.csv", "No attribute 'gender'", "has one column", "a semicolon")
def _(folder: Path) -> list[str]:
    (folder / "users.csv").write_text("user_id gender age\nu01 F 1\n")
    return ["--users", "users.csv"]


@bad("out under a file", "users.parquet is a file", "not a folder", "Choose another folder")
def _(folder: Path) -> list[str]:
    return ["--out", "users.parquet/out"]


bad("out is a file", "users.parquet is a file", "not a folder", "Choose another folder")(
    options("--out", "users.parquet")
)
if Path("/proc").is_dir():
    bad("out where nothing can be made", "/proc/fairrec", "Choose another place")(
        options("--out", "/proc/fairrec/out")
    )

for option, value in (
    ("--depth", "0"),
    ("--depth", "-2"),
    ("--depth", "deep"),
    ("--depth", "1.5"),
    ("--alpha", "2"),
    ("--alpha", "0"),
    ("--min-support", "0"),
    ("--min-support", "1.5"),
    ("--min-support", "inf"),
    ("--permutations", "-1"),
    ("--seed", "-1"),
    ("--threads", "0"),
    ("--max-memory", "4MB"),
):
    bad(f"{option} {value}", f"invalid {option}: expected a", f", got {value}")(
        options(option, value)
    )

bad(
    "a mapping that is no pair",
    "invalid --columns: expected name=column, such as user_id=uid, got user_id",
)(options("--columns", "user_id"))
bad("a mapping of an unknown column", "'userid'", "Did you mean 'user_id'?")(
    options("--columns", "userid=uid")
)
bad("a mapping for an unknown table", "'item'", "Did you mean 'items'?")(
    options("--columns", "item.categories=tags")
)
bad("metrics from a missing file", "--load own.py", "Give a Python file")(
    options("--load", "own.py")
)
bad("metrics from a missing module", "--load no_such_module", "can be imported")(
    options("--load", "no_such_module")
)


@bad("metrics from a broken file", "--load own.py", "ZeroDivisionError", "Give a Python file")
def _(folder: Path) -> list[str]:
    (folder / "own.py").write_text("1 / 0\n")
    return ["--load", "own.py"]


def _arrange(name: str, folder: Path) -> list[str]:
    write_tables(folder)
    added = CASES[name].arrange(folder)
    by = [] if "--by" in added else ["--by", "gender,age:10"]
    return [*AUDIT, *by, "--out", "out", *added]


def _assert_refused(ran: Ran, *says: str) -> None:
    assert "Traceback" not in ran.stderr
    assert ran.code == 2
    assert ran.stdout == ""
    kinds = re.findall(r"^(\w+Error): ", ran.stderr, flags=re.MULTILINE)
    assert len(kinds) == 1
    assert ran.stderr.startswith(f"{kinds[0]}: ")
    assert ran.stderr.endswith("\n")
    assert len(ran.stderr.strip().splitlines()) <= 3
    for phrase in says:
        assert phrase in ran.stderr


@pytest.mark.parametrize("name", CASES)
def test_bad_input_gets_one_message_and_leaves_nothing_behind(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    arguments = _arrange(name, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    monkeypatch.setattr("sys.path", [*sys.path])
    before = files_in(tmp_path)
    _assert_refused(run_here(*arguments), *CASES[name].says)
    assert files_in(tmp_path) == before


def test_bad_input_gets_one_message_in_a_process_of_its_own(tmp_path: Path):
    name = "garbage as Parquet"
    arguments = _arrange(name, tmp_path)
    before = files_in(tmp_path)
    _assert_refused(run_process(*arguments, folder=tmp_path), *CASES[name].says)
    assert files_in(tmp_path) == before


def test_good_input_is_not_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    ran = run_here(*AUDIT, "--by", "gender,age:10", "--out", "out")
    assert ran.code == 0
    assert ran.stdout != ""
    assert (tmp_path / "out" / "result.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--format", "xml"), ("--format", "expected 'text', 'markdown' or 'json', got xml")),
        (("--min-support", "few"), ("--min-support", "number")),
        (("--permutations", "1.5"), ("--permutations", "whole number")),
        (("--seed", "x"), ("--seed", "whole number")),
        (("--bye", "gender"), ("No such option", "--bye")),
    ],
)
def test_an_option_that_cannot_be_parsed_is_an_error(
    arguments: tuple[str, ...], says: tuple[str, ...], tmp_path: Path, monkeypatch
):
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = files_in(tmp_path)
    ran = run_here(*AUDIT, "--by", "gender", "--out", "out", *arguments)
    assert ran.code == 2
    assert ran.stdout == ""
    assert ran.stderr.count("Error: ") == 1
    assert "Traceback" not in ran.stderr
    assert all(phrase in ran.stderr for phrase in says)
    assert files_in(tmp_path) == before


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        (("audit",), "Name one of recommendations with held-out interactions, scored candidates"),
        (("audit", "predictions.parquet", "--by", "gender"), "--users"),
        (("audit", "predictions.parquet", "--users", "users.parquet"), "--by"),
        (("adit",), "Did you mean 'audit'"),
    ],
)
def test_what_an_audit_cannot_do_without_is_named(arguments: tuple[str, ...], missing: str):
    ran = run_here(*arguments)
    assert ran.code == 2
    assert ran.stdout == ""
    assert missing in ran.stderr.splitlines()[-1]


def test_debug_shows_where_an_error_came_from(tmp_path: Path):
    write_tables(tmp_path)
    ran = run_process(*AUDIT, "--by", "gendr", "--debug", folder=tmp_path)
    assert ran.code not in (0, None)
    assert ran.stdout == ""
    assert "Traceback" in ran.stderr
    assert "read_users" in ran.stderr
    assert "Did you mean 'gender'?" in ran.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_refused(tmp_path: Path, monkeypatch):
    write_tables(tmp_path)
    (tmp_path / "locked").mkdir(mode=0o500)
    monkeypatch.chdir(tmp_path)
    ran = run_here(*AUDIT, "--by", "gender", "--out", "locked/out")
    _assert_refused(ran, "locked/out", "no permission", "Choose another folder")


def test_a_result_that_cannot_be_put_in_place_leaves_no_other_file_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write_tables(tmp_path)
    (tmp_path / "out" / "result.json").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    before = files_in(tmp_path)
    ran = run_here(*AUDIT, "--by", "gender", "--out", "out")
    _assert_refused(ran, "out", "cannot be written", "Choose another place")
    assert files_in(tmp_path) == before


def test_bad_input_leaves_an_earlier_result_as_it_was(tmp_path: Path, monkeypatch):
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run_here(*AUDIT, "--by", "gender", "--out", "out").code == 0
    before = files_in(tmp_path)
    assert run_here(*AUDIT, "--by", "gendr", "--out", "out").code == 2
    assert files_in(tmp_path) == before


def test_the_demo_refuses_a_folder_it_cannot_write(tmp_path: Path, monkeypatch):
    (tmp_path / "file").write_text("x")
    monkeypatch.chdir(tmp_path)
    ran = run_here("demo", "--out", "file/demo")
    _assert_refused(ran, "file is a file", "Choose another folder")
    assert files_in(tmp_path) == {"file": b"x"}
