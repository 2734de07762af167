"""Separators that are found, never guessed in silence, and what text stands for."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fairrec.core.errors import InputError, UnknownNameError
from fairrec.inputs.frames import Role
from fairrec.inputs.tables import Table
from fairrec.inputs.text_files import SEPARATORS, TextFile
from fairrec.inputs.user_lists import value_columns
from fairrec.inputs.users import read_users
from tests.builders import audit, make_tables, numbers_of

USUAL = {".csv": ",", ".tsv": "\t", ".txt": "\t", ".inter": "\t"}


def _file(content: str | bytes, usual: str = ",") -> TextFile:
    return TextFile(content if isinstance(content, bytes) else content.encode(), "t.csv", usual)


def _column(content: str | bytes, role: Role, column: str = "x", usual: str = ",") -> pl.Series:
    return _file(content, usual).read({"x": column}, {"x": role})["x"]


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("ending", USUAL)
def test_the_separator_is_found_and_said_where_it_is_unusual(
    ending: str, separator: str, tmp_path: Path
):
    path = tmp_path / f"users{ending}"
    path.write_text("user_id,group,n\n1,x,3\n2,y z,4\n".replace(",", separator))
    table = Table(path, "users")
    read = table.read({name: name for name in ("user_id", "group", "n")}, labels=["group"])
    assert read.rows() == [("1", "x", 3), ("2", "y z", 4)]
    is_usual = separator == USUAL[ending] or (ending, separator) == (".txt", ",")
    words = SEPARATORS[separator]
    said = f"users{ending}: fields are separated by {words}, not by {SEPARATORS[USUAL[ending]]}"
    assert table.notes == (() if is_usual else (said,))


def test_an_unusual_separator_is_a_note_of_the_result(tmp_path: Path):
    tables = make_tables()
    path = tmp_path / "users.csv"
    tables.users.write_csv(path, separator=";")
    result = audit(tables.predictions, path, "gender")
    said = "users.csv: fields are separated by a semicolon, not by a comma"
    assert said in result.warnings
    expected = audit(tables.predictions, tables.users, "gender")
    assert [*result.warnings] == [said, *expected.warnings]
    assert result.gap("mrr").size == expected.gap("mrr").size


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("a;b\n1;2,5\n3;4,5\n", ["a", "b"]),
        ("a;b;c\n1,5;2,5;x\n", ["a", "b", "c"]),
        ('a,title,tags\n1,"One; two, three",x|y\n2,Four,z\n', ["a", "title", "tags"]),
        ('a;"name, first"\n1;"x, y"\n', ["a", "name, first"]),
        ("a\tname\n1\tx, y\n2\tz\n", ["a", "name"]),
        ('a,"b\nc"\n1,"x\ny"\n', ["a", "b\nc"]),
        ("a::title::tags\n1::Alien: Two::x|y\n", ["a", "title", "tags"]),
        ("a|b\n1|2\n", ["a", "b"]),
        ("a\n1\n2\n", ["a"]),
        ("a,b", ["a", "b"]),
        # uneven by every separator: the usual one, whose reader says what is wrong
        ("a,b\n1,2,3\n", ["a", "b"]),
    ],
)
def test_the_separator_splits_every_record_like_the_header(content: str, columns: list[str]):
    assert [*_file(content).columns] == columns


def test_a_quoted_field_may_go_on_past_the_lines_that_are_looked_at():
    long = "\n".join(["line"] * 300)
    read = _file(f'user_id,x\n1,"{long}"\n2,"b"\n').read({"x": "x"}, {"x": Role.NAME})
    assert read["x"].to_list() == [long, "b"]


@pytest.mark.parametrize("missing", ["user_id", "item_id", "score"])
def test_a_file_of_one_column_is_refused_with_the_separators_that_are_known(
    missing: str, tmp_path: Path
):
    path = tmp_path / "recs.csv"
    path.write_text("user_id item_id score\n1 2 0.5\n")
    with pytest.raises(InputError) as caught:
        Table(path, "predictions").require(missing)
    assert "Columns here: user_id item_id score. The file has one column" in str(caught.value)
    assert "a comma, a semicolon, a tab, '|' or '::'" in str(caught.value)


def test_two_columns_of_one_name_are_refused(tmp_path: Path):
    path = tmp_path / "users.csv"
    path.write_text("user_id,g,g\n1,x,y\n")
    with pytest.raises(InputError) as caught:
        Table(path, "users")
    assert str(caught.value) == (
        "users.csv: 2 columns are named 'g'. Give each a name of its own. The first line has to "
        "name the columns."
    )
    # pandas gives its index no name
    path.write_text(",user_id,\n0,1,y\n")
    assert Table(path, "users").find("user_id") == "user_id"


@pytest.mark.parametrize("first", ["1,F,26", "u1,F,0.5"])
def test_a_file_without_a_header_is_told_what_the_first_line_is_for(first: str, tmp_path: Path):
    path = tmp_path / "users.csv"
    path.write_text(f"{first}\nu2,M,31\n")
    number = "1" if first[0] == "1" else "0.5"
    said = f"'{number}' looks like data. The first line has to name the columns."
    with pytest.raises(InputError) as caught:
        Table(path, "users").require("user_id")
    assert said in str(caught.value)
    with pytest.raises(UnknownNameError) as unknown:
        read_users(Table(path, "users", {"user_id": first[: first.index(",")]}), ["gender"])
    assert str(unknown.value).endswith(said)
    with pytest.raises(UnknownNameError) as no_value:
        value_columns(Table(path, "values", {"user_id": first[: first.index(",")]}), ["watch"], ())
    assert str(no_value.value).endswith(said)
    path.write_text("user_id,g\n1,2\n")
    assert Table(path, "users").hint == ""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "byte order mark"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_a_first_line_that_names_the_separator_is_no_header(
    separator: str, quote: str, mark: bytes, end: str
):
    lines = [f"{quote}sep={separator}{quote}", f"a{separator}x", f"1{separator}2.5", ""]
    file = _file(mark + end.join(lines).encode())
    assert [*file.columns] == ["a", "x"]
    for role in (Role.NUMBER, Role.ANY):
        assert file.read({"x": "x"}, {"x": role})["x"].to_list() == [2.5]


def test_that_line_alone_is_the_header():
    assert _file("sep=;\n").columns[0] == "sep="


def test_a_line_of_another_length_is_refused_where_two_characters_separate():
    with pytest.raises(InputError, match=r"t\.csv, row 2: 3 fields, where the header has 2\. Fix"):
        _file("a::b\n1::2\n1::2::3\n3::4\n").read({"x": "a"}, {"x": Role.ANY})


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "byte order mark"])
@pytest.mark.parametrize("separator", SEPARATORS)
def test_line_ends_of_windows_and_a_byte_order_mark_are_no_text(
    end: str, mark: bytes, separator: str
):
    text = "user_id,x,group\n1,2,a\n3,4,b\n".replace(",", separator).replace("\n", end)
    file = _file(mark + text.encode())
    assert [*file.columns] == ["user_id", "x", "group"]
    named = {name: name for name in file.columns}
    read = file.read(named, dict.fromkeys(named, Role.ANY))
    assert read.rows() == [(1, 2, "a"), (3, 4, "b")]


@pytest.mark.parametrize(
    ("values", "meant"),
    [
        (["3,5", "4", "-0,25"], [3.5, 4.0, -0.25]),
        (["1,5E-05", "", "2"], [1.5e-05, None, 2.0]),
        (["1.234,5", "2"], ["1.234,5", "2"]),
        (["1,2,3", "2"], ["1,2,3", "2"]),
        (["3,5", "x"], ["3,5", "x"]),
        (["3.5", "4"], [3.5, 4.0]),
    ],
)
def test_a_decimal_comma_is_a_number_and_said(values: list[str], meant: list[Any]):
    for role in (Role.NUMBER, Role.ANY):
        file = _file("\n".join(["a;x", *(f"1;{value}" for value in values)]))
        assert file.read({"x": "x"}, {"x": role})["x"].to_list() == meant
        is_read = isinstance(meant[0], float) and "," in values[0]
        note = "t.csv: the comma in column 'x' is read as a decimal point"
        assert file.notes[1:] == ([note] if is_read else [])


def test_a_decimal_comma_is_said_in_the_result(tmp_path: Path):
    tables = make_tables()
    path = tmp_path / "recs.csv"
    comma = tables.predictions.with_columns(
        pl.col("score").cast(pl.String).str.replace(".", ",", literal=True)
    )
    comma.write_csv(path, separator=";")
    result = audit(path, tables.users, "gender")
    assert "recs.csv: the comma in column 'score' is read as a decimal point" in result.warnings
    expected = audit(tables.predictions, tables.users, "gender")
    assert result.per_user.equals(expected.per_user)


@pytest.mark.parametrize("role", [Role.NAME, Role.LABEL])
def test_a_comma_in_a_name_stays(role: Role):
    assert _column("a;x\n1;3,5\n2;4,5\n", role).to_list() == ["3,5", "4,5"]


@pytest.mark.parametrize(
    ("values", "role", "meant"),
    [
        (["007", "7"], Role.NAME, ["007", "7"]),
        (["007", "7"], Role.LABEL, ["007", "7"]),
        (["007", "7"], Role.ANY, [7, 7]),
        (["1", "2"], Role.NAME, ["1", "2"]),
        (["1", "", "2"], Role.LABEL, [1, None, 2]),
        (["1.5", "2"], Role.LABEL, [1.5, 2.0]),
        (["007", "1.5"], Role.LABEL, ["007", "1.5"]),
        (["12345678901234567890", "1.5"], Role.LABEL, ["12345678901234567890", "1.5"]),
        (["True", "false", ""], Role.LABEL, [True, False, None]),
        (["true", "1"], Role.LABEL, ["true", "1"]),
        (["true", "False"], Role.NUMBER, [True, False]),
        (["1", "0"], Role.NUMBER, [1.0, 0.0]),
        (["1", "x"], Role.NUMBER, ["1", "x"]),
        (["1", ""], Role.NUMBER, [1.0, None]),
        (["1", "2.5"], Role.ANY, [1.0, 2.5]),
        (["a", "b"], Role.ANY, ["a", "b"]),
        (["", ""], Role.ANY, [None, None]),
        (['"1"', '"2.5"'], Role.NUMBER, [1.0, 2.5]),
        (['"1"', '"2"'], Role.LABEL, [1, 2]),
        (['"a ""b"""', '"c,d"'], Role.LABEL, ['a "b"', "c,d"]),
    ],
)
def test_text_stands_for_what_it_is_read_for(values: list[str], role: Role, meant: list[Any]):
    read = _column("\n".join(["a,x", *(f"1,{value}" for value in values)]), role)
    assert read.to_list() == meant
    assert [type(value) for value in read] == [type(value) for value in meant]


@pytest.mark.parametrize("separator", [",", "::"])
def test_the_kinds_of_all_columns_are_known(separator: str):
    text = "user_id,watch,score,is_new,name\n1,2.5,3,true,a\n2,,4,false,007\n"
    assert _file(text.replace(",", separator)).kinds() == {
        "user_id": pl.Int64,
        "watch": pl.Float64,
        "score": pl.Int64,
        "is_new": pl.Boolean,
        "name": pl.String,
    }


def test_a_kind_that_shows_in_a_late_line_is_seen():
    whole = "1\n" * 5000
    assert _column(f"x\n{whole}2.5\n", Role.LABEL)[-1] == 2.5
    assert _column(f"x\n{whole}b\n", Role.LABEL)[0] == "1"
    assert _column(f"x\n{whole}007\n", Role.LABEL)[-1] == "007"


@pytest.mark.parametrize("content", ["", "\n", "\r\n\r\n"])
def test_an_empty_file_is_refused(content: str):
    with pytest.raises(pl.exceptions.NoDataError, match="empty"):
        _file(content)


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(rows=[("a", 0.5, 1)], separator=";", ending=".csv", is_quoted=True)
@given(
    rows=st.lists(
        st.tuples(
            WORDS,
            st.floats(allow_nan=False, allow_infinity=False),
            st.integers(-(2**63), 2**63 - 1),
        ),
        min_size=1,
        max_size=8,
    ),
    separator=st.sampled_from([",", ";", "\t", "|"]),
    ending=st.sampled_from([*USUAL]),
    is_quoted=st.booleans(),
)
def test_what_is_written_with_any_separator_is_read_again(
    rows: list[tuple[str, float, int]],
    separator: str,
    ending: str,
    is_quoted: bool,
    tmp_path: Path,
):
    path = tmp_path / f"users{ending}"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(
            stream,
            delimiter=separator,
            quoting=csv.QUOTE_ALL if is_quoted else csv.QUOTE_MINIMAL,
        )
        writer.writerow(["user_id", "words", "score", "n"])
        writer.writerows((at, f"w{words}", *numbers) for at, (words, *numbers) in enumerate(rows))
    read = Table(path, "users").read(
        {name: name for name in ("user_id", "words", "score", "n")}, labels=["words", "n"]
    )
    assert read["user_id"].to_list() == [str(at) for at in range(len(rows))]
    assert read["words"].to_list() == [f"w{words}" for words, _, _ in rows]
    assert read["score"].to_list() == [score for _, score, _ in rows]
    assert read["n"].to_list() == [n for _, _, n in rows]


def test_tables_with_any_separator_give_the_same_result(tmp_path: Path):
    tables = make_tables()
    expected = numbers_of(audit(tables.predictions, tables.users, "gender,age:10"))
    for separator in ("\t", "|", ","):
        tables.predictions.write_csv(tmp_path / "p.csv", separator=separator)
        tables.users.write_csv(tmp_path / "u.csv", separator=separator)
        found = numbers_of(audit(tmp_path / "p.csv", tmp_path / "u.csv", "gender,age:10"))
        notes = [note for note in found["warnings"] if "fields are separated" not in note]
        assert len(found["warnings"]) - len(notes) == (0 if separator == "," else 2)
        assert {**found, "warnings": notes} == expected


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blank_lines_at_the_end_are_no_rows(end: str, tmp_path: Path):
    path = tmp_path / "users.csv"
    text = end.join(["user_id,age", "1,30", "2,40"])
    path.write_bytes((text + 3 * end).encode())
    read = Table(path, "users").read({"user_id": "user_id", "score": "age"})
    assert read.rows() == [("1", 30.0), ("2", 40.0)]
    # elsewhere, a row may have been lost
    path.write_bytes((text.replace(f"{end}2", f"{end}{end}2") + end).encode())
    with pytest.raises(InputError, match="row 2: column 'user_id' is empty"):
        Table(path, "users").read({"user_id": "user_id"})


def test_a_file_of_one_line_says_why(tmp_path: Path):
    path = tmp_path / "users.csv"
    path.write_bytes(b"user_id,age\r1,30\r2,40\r")
    with pytest.raises(InputError, match=r"users.csv: its lines end with a carriage return alone"):
        Table(path, "users")
