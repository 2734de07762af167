"""Bad input gets one clear message, exit code 2, and leaves nothing behind."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest

import fairrec
from tests.end_to_end.command_line import AUDIT, Ran, files_in, run_here, write_tables

Arrange = Callable[[Path], list[str]]


class Case(NamedTuple):
    """How to go wrong, and what the message must say: what, where, and how to fix it."""

    arrange: Arrange
    says: tuple[str, ...]


def given(*options: str) -> Arrange:
    """Options alone are bad."""
    return lambda folder: [*options]


def changed(name: str, change: Callable[[pl.DataFrame], pl.DataFrame], *options: str) -> Arrange:
    """A table of the audit is another one."""

    def arrange(folder: Path) -> list[str]:
        path = folder / f"{name}.parquet"
        change(pl.read_parquet(path)).write_parquet(path)
        return [*options]

    return arrange


def holding(name: str, content: str | bytes | Callable[[bytes], bytes]) -> Arrange:
    """A file has this content, and is the table of users if it is none of the audit's."""

    def arrange(folder: Path) -> list[str]:
        path = folder / name
        made = content(path.read_bytes()) if callable(content) else content
        path.write_bytes(made.encode() if isinstance(made, str) else made)
        if name == "own.py":
            return ["--load", name]
        return [] if name.endswith(".parquet") else ["--users", name]

    return arrange


def with_value(row: int, column: str, value: object) -> Callable[[pl.DataFrame], pl.DataFrame]:
    is_row = pl.int_range(pl.len()) == row - 1
    return lambda table: table.with_columns(
        pl.when(is_row).then(pl.lit(value)).otherwise(column).alias(column)
    )


def without_predictions(folder: Path) -> list[str]:
    (folder / "predictions.parquet").unlink()
    return []


def folder_as_users(folder: Path) -> list[str]:
    (folder / "users").mkdir()
    return ["--users", "users"]


PREDICTIONS, USERS, MISSING = "predictions.parquet", "users.parquet", "does not exist"
NO_TABLE = b"this is no table at all\n" * 50
HEADER = "user_id,gender,age\n"
LATIN = f"{HEADER}u01,é,1\n".encode("latin-1")
RAGGED = f"{HEADER}u01,F,1\nu02,F,1,2,3\n"
NO_PARQUET = "cannot be read as Parquet"
SIDE = ("--items", "items.parquet", "--history", "history.parquet")

CASES: dict[str, Case] = {
    name: Case(arrange, says)
    for name, arrange, *says in [
        ("missing predictions file", without_predictions, PREDICTIONS, MISSING, "Check the path"),
        (
            "missing column",
            changed("predictions", lambda table: table.rename({"score": "points"})),
            *(PREDICTIONS, "no column 'score'", "points", "--columns score=NAME"),
        ),
        (
            "missing user column",
            changed("users", lambda table: table.rename({"user_id": "key"})),
            *(USERS, "no column 'user_id'", "--columns user_id=NAME"),
        ),
        (
            "mapped column missing",
            given("--columns", "users.user_id=nmae"),
            *(USERS, "no column 'nmae'", "--columns", "gender"),
        ),
        (
            "duplicate pairs",
            changed("predictions", lambda table: pl.concat([table, table[:3]])),
            *(PREDICTIONS, "user 'u01'", "twice", "3 such rows", "Keep one row"),
        ),
        (
            "a NaN score",
            changed("predictions", with_value(11, "score", float("nan"))),
            *(f"{PREDICTIONS}, row 11", "is nan", "be finite"),
        ),
        (
            "labels below 0",
            changed("predictions", with_value(3, "label", -1)),
            *(PREDICTIONS, "column 'label' has values below 0", "turn -1 into 0"),
        ),
        (
            "a user not in users",
            changed("users", lambda table: table.filter(pl.col("user_id") != "u02")),
            *(PREDICTIONS, "user 'u02'", "not in users.parquet", "needs a"),
        ),
        (
            "a user twice in users",
            changed("users", lambda table: pl.concat([table, table[2:3]])),
            *("users.parquet, row 49", "'u03' appears more than once", "Keep one row"),
        ),
        (
            "list attribute",
            changed(
                "users",
                lambda table: table.with_columns(tags=pl.concat_list("gender")),
                *("--by", "tags"),
            ),
            *(USERS, "'tags' holds lists", "one value a user", "tags:first", "tags:each"),
        ),
        *(
            (
                f"empty {table}",
                changed(table, pl.DataFrame.clear, *SIDE),
                *(f"{table}.parquet", "the table is empty", "at least one row"),
            )
            for table in ("predictions", "items")
        ),
        # files that are no tables
        *(
            (name, holding(file, content), *says)
            for name, file, content, *says in [
                ("an empty file", "users.csv", b"", "users.csv", "cannot be read as CSV", "empty"),
                ("truncated Parquet", PREDICTIONS, lambda data: data[:-100], PREDICTIONS, "whole"),
                ("garbage as Parquet", PREDICTIONS, NO_TABLE, NO_PARQUET, "ending tells"),
                ("latin-1 CSV", "users.csv", LATIN, "cannot be read as CSV", "as UTF-8"),
                (
                    "ragged CSV",
                    "users.csv",
                    RAGGED,
                    "users.csv, row 2: 5 fields, where the header has 3",
                ),
                ("an unknown ending", "users.xyz", b"PK", "'.xyz' is not known", "convert"),
                ("an Excel file", "users.xlsx", b"PK", "is an Excel file", "CSV or Parquet"),
                ("metrics from a broken file", "own.py", "1 / 0\n", "--load own.py", "ZeroDivi"),
            ]
        ),
        ("a folder as file", folder_as_users, "users", "is a folder without Parquet files"),
        # options
        *(
            (name, given(*options), *says)
            for name, options, *says in [
                ("support nobody has", ("--min-support", "40"), "No group has 40 users"),
                ("unknown metric", ("--metrics", "ndgc@5"), "No metric 'ndgc'", "mean 'ndcg'?"),
                ("unknown attribute", ("--by", "gendr"), USERS, "'gendr'", "mean 'gender'?"),
                ("no attribute", ("--by", ""), "No attribute is named", "--by gender,age"),
                ("bad binning", ("--by", "age:ten"), "'age:ten'", "no binning", "age:10"),
                ("binned text", ("--by", "gender:10"), USERS, "'gender' is not numeric"),
                ("the user id as attribute", ("--by", "user_id"), "'user_id' is the user id"),
                ("metric without a cut-off", ("--metrics", "auc@5"), "'auc@5'", "Write 'auc'"),
                ("no metric", ("--metrics", ","), "No metric is named", "--metrics auc,ndcg@5"),
                ("urd without items", ("--metrics", "auc,urd"), "'urd@5' needs the items table"),
                ("out under a file", ("--out", "users.parquet/out"), "is a file", "Choose another"),
                ("an unknown column", ("--columns", "userid=uid"), "Did you mean 'user_id'?"),
                ("metrics from a missing file", ("--load", "own.py"), "--load own.py"),
            ]
        ),
        *(
            (f"{option} {value}", given(option, value), f"invalid {option}: expected", value)
            for option, value in (
                *(("--depth", "deep"), ("--alpha", "2"), ("--max-memory", "4MB")),
            )
        ),
    ]
}
if Path("/proc").is_dir():
    CASES["out where nothing can be made"] = Case(given("--out", "/proc/fairrec/out"), ("/proc",))


def arrange_in(folder: Path, case: Case) -> list[str]:
    added = case.arrange(folder)
    by = [] if "--by" in added else ["--by", "gender,age:10"]
    return [*AUDIT, *by, "--out", "out", *added]


def assert_refused(ran: Ran, *says: str) -> None:
    assert (ran.code, ran.stdout) == (2, "")
    assert "Traceback" not in ran.stderr
    kinds = re.findall(r"^(\w+Error): ", ran.stderr, flags=re.MULTILINE)
    assert len(kinds) == 1
    assert ran.stderr.startswith(f"{kinds[0]}: ") and ran.stderr.endswith("\n")
    assert len(ran.stderr.strip().splitlines()) <= 3
    for phrase in says:
        assert phrase in ran.stderr


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the tables, which is the current one; what is loaded leaves no traces."""
    write_tables(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    monkeypatch.setattr("sys.path", [*sys.path])
    return tmp_path


def refused_here(folder: Path, *arguments: str) -> Ran:
    """What a command says that leaves everything as it was."""
    before = files_in(folder)
    ran = run_here(*arguments)
    assert files_in(folder) == before
    return ran


@pytest.mark.parametrize("name", CASES)
def test_bad_input_gets_one_message_and_leaves_nothing_behind(name: str, folder: Path):
    assert_refused(refused_here(folder, *arrange_in(folder, CASES[name])), *CASES[name].says)


def test_good_input_is_not_refused_and_bad_input_leaves_its_result_as_it_was(folder: Path):
    ran = run_here(*AUDIT, "--by", "gender,age:10", "--out", "out")
    assert ran.code == 0 and ran.stdout
    assert (folder / "out" / "result.json").is_file()
    assert_refused(refused_here(folder, *AUDIT, "--by", "gendr", "--out", "out"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--format", "xml"), "expected 'text', 'markdown' or 'json', got xml"),
        (("--min-support", "few"), "number"),
        (("--bye", "gender"), "No such option"),
    ],
)
def test_an_option_that_cannot_be_parsed_is_an_error(folder: Path, arguments, says: str):
    ran = refused_here(folder, *AUDIT, "--by", "gender", "--out", "out", *arguments)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.count("Error: ") == 1 and "Traceback" not in ran.stderr
    assert arguments[0] in ran.stderr and says in ran.stderr


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        (("audit",), "Name one source: RECOMMENDATIONS --test TEST"),
        (("audit", "predictions.parquet", "--by", "gender"), "--users"),
        (("audit", "predictions.parquet", "--users", "users.parquet"), "--by"),
        (("adit",), "Did you mean 'audit'"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_an_audit_cannot_do_without_is_named(arguments: tuple[str, ...], missing: str):
    ran = run_here(*arguments)
    assert (ran.code, ran.stdout) == (2, "")
    assert missing in ran.stderr.splitlines()[-1]


def test_debug_raises_the_error_where_it_came_from(folder: Path):
    with pytest.raises(fairrec.FairRecError, match="Did you mean 'gender'") as raised:
        run_here(*AUDIT, "--by", "gendr", "--debug")
    assert "read_users" in [entry.name for entry in raised.traceback]
