"""Text files: separators, ragged records, and what text stands for."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import fairrec
from fairrec.core.errors import InputError, UnknownNameError
from fairrec.inputs.frames import Role
from fairrec.inputs.tables import Table
from fairrec.inputs.text_files import (
    NO_NAME,
    NO_NUMBER,
    SEPARATORS,
    TextFile,
    parse_text,
    refuse_ragged,
    scan_lines,
)
from fairrec.inputs.user_lists import value_columns
from fairrec.inputs.users import read_users
from tests.builders import audit, make_tables
from tests.grouped_options import group_options

USUAL = {".csv": ",", ".tsv": "\t", ".txt": "\t", ".inter": "\t"}


def _file(content: str | bytes, usual: str = ",") -> TextFile:
    return TextFile(content if isinstance(content, bytes) else content.encode(), "t.csv", usual)


def _column(content: str | bytes, role: Role, column: str = "x", usual: str = ",") -> pl.Series:
    return _file(content, usual).read({"x": column}, {"x": role})["x"]


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("ending", USUAL)
def test_the_separator_is_found_and_said_where_it_is_unusual(ending, separator, tmp_path):
    path = tmp_path / f"users{ending}"
    path.write_text("user_id,group,n\n1,x,3\n2,y z,4\n".replace(",", separator))
    table = Table(path, "users")
    read = table.read({name: name for name in ("user_id", "group", "n")}, labels=["group"])
    assert read.rows() == [("1", "x", 3), ("2", "y z", 4)]
    is_usual = separator == USUAL[ending] or (ending, separator) == (".txt", ",")
    words = SEPARATORS[separator]
    said = f"users{ending}: fields are separated by {words}, not by {SEPARATORS[USUAL[ending]]}"
    assert table.notes == (() if is_usual else (said,))


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
def test_a_file_of_one_column_is_refused_with_the_separators_that_are_known(missing, tmp_path):
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
def test_a_first_line_that_names_the_separator_is_no_header(separator, quote, mark, end):
    lines = [f"{quote}sep={separator}{quote}", f"a{separator}x", f"1{separator}2.5", ""]
    file = _file(mark + end.join(lines).encode())
    assert [*file.columns] == ["a", "x"]
    for role in (Role.NUMBER, Role.ANY):
        assert file.read({"x": "x"}, {"x": role})["x"].to_list() == [2.5]


def test_a_line_of_another_length_is_refused_where_two_characters_separate():
    with pytest.raises(InputError, match=r"t\.csv, row 2: 3 fields, where the header has 2\. Fix"):
        _file("a::b\n1::2\n1::2::3\n3::4\n").read({"x": "a"}, {"x": Role.ANY})


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "byte order mark"])
@pytest.mark.parametrize("separator", SEPARATORS)
def test_line_ends_of_windows_and_a_byte_order_mark_are_no_text(end, mark, separator):
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
    rows, separator, ending, is_quoted, tmp_path
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


NUMBERS = (Role.NUMBER, Role.ANY)


def _file_text_values(values: list[str], separator: str = ";") -> TextFile:
    lines = [f"a{separator}x", *(f"1{separator}{value}" for value in values)]
    return TextFile("\n".join(lines).encode(), "t.csv", separator)


def _read(values: list[str], role: Role, separator: str = ";") -> list[Any]:
    return _file_text_values(values, separator).read({"x": "x"}, {"x": role})["x"].to_list()


@pytest.mark.parametrize("role", NUMBERS)
@pytest.mark.parametrize("separator", [";", "\t", "::"])
@pytest.mark.parametrize(
    "values",
    [
        ["900", "1.906", "12.500"],
        ["900", "1,906", "12,500"],
        ["1.000", "2"],
        ["1.906.500", "900"],
        ["-1.906", "-900"],
        ["0", "1.906", ""],
        ["NULL", "1.906", "7"],
        *[["900", *["1.906"] * 200]],
    ],
)
def test_thousands_that_may_be_decimals_are_refused(values: list[str], role: Role, separator: str):
    with pytest.raises(InputError) as caught:
        _read(values, role, separator)
    marked = [value for value in values if "." in value or "," in value]
    beside = next(value for value in values if value.lstrip("-").isdigit())
    assert str(caught.value) == (
        f"t.csv: column 'x' holds '{marked[0]}' beside '{beside}': the mark may stand between "
        f"thousands or before decimals ({len(marked):,} such values). Write numbers without "
        "thousands separators."
    )


@pytest.mark.parametrize("role", NUMBERS)
@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["0.123", "1"], [0.123, 1]),
        (["12.5", "1.906", "900"], [12.5, 1.906, 900]),
        (["1.906", "2.125"], [1.906, 2.125]),
        (["1,906", "2,125"], [1.906, 2.125]),
        (["1.9065", "1.906", "900"], [1.9065, 1.906, 900]),
        (["1000.125", "1.906", "900"], [1000.125, 1.906, 900]),
        (["1.906e0", "1.906", "900"], [1.906, 1.906, 900]),
        (["900", "1906"], [900, 1906]),
        (["0.000", "1.906", "900"], [0, 1.906, 900]),
        ([*["1.906"] * 200, "900", "0.5"], [*[1.906] * 200, 900, 0.5]),
    ],
)
def test_decimals_stay_numbers(values: list[str], numbers: list[float], role: Role):
    assert _read(values, role) == numbers


@pytest.mark.parametrize("column", ["score", "label"])
def test_a_column_of_predictions_in_thousands_is_refused(column: str, tmp_path: Path):
    tables = make_tables()
    n = tables.predictions.height
    mixed = pl.Series(column, ["900", "1.906"] * n)[:n]
    tables.predictions.with_columns(mixed).write_csv(tmp_path / "p.csv", separator=";")
    with pytest.raises(InputError, match=f"p.csv: column '{column}' holds '1.906' beside '900'"):
        audit(tmp_path / "p.csv", tables.users, "gender")


def test_only_a_column_that_is_read_is_refused(tmp_path: Path):
    path = tmp_path / "v.csv"
    path.write_text("user_id;g;x;y\n1;a;900;1\n2;a;1.906;2\n3;b;7;3\n4;b;8;4\n")
    options: dict[str, Any] = {"by": "g", "permutations": 0, "min_support": 1}
    with pytest.raises(InputError, match=r"v\.csv: column 'x' holds '1\.906' beside '900'"):
        fairrec.audit(**group_options(values=path, **options))
    assert [*fairrec.audit(**group_options(values=path, metrics="y", **options)).metrics] == ["y"]
    with pytest.raises(InputError, match=r"column 'x' holds '1\.906'"):
        fairrec.audit(**group_options(values=path, metrics="y", **{**options, "by": "x:100"}))


@pytest.mark.parametrize("role", NUMBERS)
@pytest.mark.parametrize("marker", NO_NUMBER)
def test_a_marker_among_numbers_is_no_value_and_said(marker: str, role: Role):
    text = pl.Series(["1", marker, "2.5", None, marker])
    values, notes = parse_text(text, "x", role, has_decimal_comma=False)
    assert values.to_list() == [1, None, 2.5, None, None]
    said = f"2 values are '{marker}' in column 'x' and count as no value"
    assert notes == ([said] if marker else [])


@pytest.mark.parametrize("marker", NO_NUMBER)
def test_a_marker_among_names_is_a_name_unless_it_can_be_none(marker: str):
    text = pl.Series(["a", marker, "b"])
    values, notes = parse_text(text, "x", Role.LABEL, has_decimal_comma=False)
    is_none = marker in NO_NAME
    assert values.to_list() == ["a", None if is_none else marker, "b"]
    said = f"1 value is '{marker}' in column 'x' and counts as no value"
    assert notes == ([said] if is_none and marker else [])
    # words that are read for whatever they are, and markers alone, stay as they are
    assert parse_text(text, "x", Role.ANY, has_decimal_comma=False)[0].to_list() == [
        "a",
        marker,
        "b",
    ]
    alone = parse_text(pl.Series([marker, marker]), "x", Role.ANY, has_decimal_comma=False)
    assert alone[0].to_list() == [marker, marker]
    assert alone[1] == []


def test_a_marker_is_no_value_in_an_audit(tmp_path: Path):
    path = tmp_path / "v.csv"
    rows = [f"{user},{'FM'[user % 2]},{20 + user},{user}" for user in range(8)]
    rows[2], rows[3], rows[5] = '2,NULL,"",2', "3,M,NA,3", "5,M,25,NULL"
    path.write_text("\n".join(["user_id,gender,age,rev", *rows]))
    result = fairrec.audit(
        values=path,
        by="gender,age:10",
        statistics=fairrec.Statistics(permutations=0, max_undefined=1),
        min_support=1,
    )
    assert result.per_user["rev"].to_list() == [0, 1, 2, 3, 4, None, 6, 7]
    assert result.per_user["gender"].to_list() == ["F", "M", "(missing)", "M", "F", "M", "F", "M"]
    ages = result.per_user["age"].to_list()
    assert ages == ["20-29"] * 2 + ["(missing)"] * 2 + ["20-29"] * 4
    for column, marker in (("gender", "NULL"), ("age", "NA"), ("rev", "NULL")):
        said = f"v.csv: 1 value is '{marker}' in column '{column}' and counts as no value"
        assert result.warnings.count(said) == 1


def test_a_score_has_to_be_there_whatever_stands_for_none(tmp_path: Path):
    path = tmp_path / "p.csv"
    path.write_text("user_id,item_id,score\n1,2,0.5\n1,3,NULL\n")
    table = Table(path, "predictions")
    score = table.read({"score": "score"})["score"]
    with pytest.raises(InputError, match=r"p.csv, row 2: column 'score' is empty \(1 such"):
        table.numbers(score, "score")


def refuse(text: str, separator: str = ",", n_fields: int = 3, n_skipped: int = 0) -> None:
    refuse_ragged(text.encode(), "users.csv", separator, n_fields, n_skipped)


@pytest.mark.parametrize(
    "text",
    [
        "id,name,gender\n1,Ann,F\n2,Bob,M\n",
        "id,name,gender\r\n1,Ann,F\r\n\r\n2,,\r\n",
        'id,name,gender\n1,"Smith, Bob",F\n2,"said ""a, b""",M',
        'id,name,gender\n1,"two\nlines, and a comma",F\n2,Bob,M\n',
        'id,name,gender\n1,5" pipe,F\n2,Bob,M\n',
        'id,name,gender\n1 5" a,6" b,F\n2,Bob,M\n',
        'id,name,gender\n1,"two\nlines",F\n2,a\rb,M\n',
        'id,name,gender\n1,"two\n' + 200_000 * "a" + '",F\n2,Bob,M\n',
        "id,name,gender\n",
    ],
    ids=[
        *("plain", "blank lines", "quoted commas", "two lines", "a lone quote", "two of them"),
        *("a lone return", "a long field", "no rows"),
    ],
)
def test_even_records_are_let_through(text):
    refuse(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id,name,gender\n1,Ann,F\n2,Bob, Smith,M\n", "row 2: 4 fields, where the header has 3. "),
        ("id,name,gender\n1,Ann\n2,Bob\n3,C,M\n", r"row 1: 2 fields, .* has 3 \(2 such rows\)\. "),
        ('id,name,gender\n1,"two\nlines",F\n2,Bob, Smith,M\n', "row 2: 4 fields, "),
        ('id,name,gender\n1,"a",F,\n', "row 1: 4 fields, "),
        # quotes count at the start of a field alone: the reader takes these commas for separators
        ('id,name,gender\n1, "Smith, Bob",F\n2,Ann,F\n', "row 1: 4 fields, "),
        ('id,name,gender\n2,Ann,F\n1,Bob "Smith, Joe",F\n', "row 2: 4 fields, "),
        # as R writes them: a name for each row, and none for these names
        ('"id","name","gender"\n"1",1,"Ann","F"\n', "row 1: 4 fields, "),
    ],
)
def test_a_record_with_more_or_fewer_fields_is_refused_by_its_row(text, told):
    with pytest.raises(InputError, match=rf"^users\.csv, {told}"):
        refuse(text)


def test_a_quote_that_is_never_closed_is_told():
    with pytest.raises(InputError, match=r"a quote is opened and not closed"):
        refuse('id,name,gender\n1,"Ann,F\n' + "2,Bob,M\n" * 20_000)


def test_records_that_look_like_several_are_counted_where_a_quote_was_left_open(tmp_path):
    text = 'id,name,gender\n1,"Ann,F\n2,Bob,M\n3,Cid",M\n'
    assert refuse_ragged(text.encode(), "users.csv", ",", 3, 0) == (0, 1)
    text = 'id,name,gender\n1,"two\nlines, of text",F\n'
    assert refuse_ragged(text.encode(), "users.csv", ",", 3, 0) == (0, 0)
    (tmp_path / "users.csv").write_text('user_id,g,x\n1,"a,3\n2,b,4\n3,c",5\n4,a,6\n')
    table = Table(tmp_path / "users.csv", "users")
    assert table.read({"g": "g"}).height == 2
    assert table.notes[0].startswith("check: users.csv: 1 quoted fields go on over lines that look")


@pytest.mark.parametrize("name", ["users.csv", "users.csv.gz"])
def test_a_field_of_two_lines_is_one_in_a_compressed_file_too(tmp_path, name):
    text = b'id,name,gender\n1,"two\nlines",F\n2,Bob,M\n'
    pack = gzip.compress if name.endswith(".gz") else bytes
    file = tmp_path / name
    file.write_bytes(pack(text))
    refuse_ragged(file, name, ",", 3, 0)
    file.write_bytes(pack(text + b"3,Smith, Joe,M\n"))
    with pytest.raises(InputError, match="row 3: 4 fields"):
        refuse_ragged(file, name, ",", 3, 0)


FIELDS = st.lists(st.text('ab",;\n', max_size=4), min_size=2, max_size=4)


@given(st.lists(FIELDS, min_size=1, max_size=6))
@settings(max_examples=150, deadline=None)
def test_what_is_uneven_is_what_the_reader_of_python_finds(records):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([["id", "name", "gender"], *records])
    uneven = [row for row, fields in enumerate(records, 1) if len(fields) != 3]
    if not uneven:
        refuse(text.getvalue())
        return
    with pytest.raises(InputError, match=f"row {uneven[0]}: "):
        refuse(text.getvalue())


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blank_lines_at_the_end_are_counted(end):
    for n_blank in (0, 1, 3):
        text = end.join(["id,name,gender", "1,,F", "", "2,b,M"]) + end * (1 + n_blank)
        assert refuse_ragged(text.encode(), "users.csv", ",", 3, 0) == (n_blank, 0)
        quoted = text.replace("1,,F", '1,"a\n\nb",F')
        assert refuse_ragged(quoted.encode(), "users.csv", ",", 3, 0) == (n_blank, 0)


def lines(source: Path | bytes, **asked) -> list[str]:
    return scan_lines(source, **asked).collect()["line"].to_list()


def test_bytes_that_are_no_text_are_replaced_or_refused():
    assert lines(b"a\xff\n") == ["a\N{REPLACEMENT CHARACTER}"]
    with pytest.raises(pl.exceptions.ComputeError, match="utf-8"):
        lines(b"a\xff\n", is_lossy=False)
