"""Text files: separators, ragged records, and what text stands for."""

from __future__ import annotations

import csv
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
)
from fairrec.inputs.users import read_users

USUAL = {".csv": ",", ".tsv": "\t", ".txt": "\t", ".inter": "\t"}


def _file(content: str | bytes, usual: str = ",") -> TextFile:
    return TextFile(content if isinstance(content, bytes) else content.encode(), "t.csv", usual)


def _column(content: str | bytes, role: Role, column: str = "x", usual: str = ",") -> pl.Series:
    return _file(content, usual).read({"x": column}, {"x": role})["x"]


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("ending", USUAL)
def test_the_separator_is_found(ending, separator, tmp_path):
    path = tmp_path / f"users{ending}"
    path.write_text("user_id,group,n\n1,x,3\n2,y z,4\n".replace(",", separator))
    table = Table(path, "users")
    read = table.read({name: name for name in ("user_id", "group", "n")}, labels=["group"])
    assert read.rows() == [("1", "x", 3), ("2", "y z", 4)]
    assert table.notes == ()


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("a;b\n1;2,5\n3;4,5\n", ["a", "b"]),
        ("a;b;c\n1,5;2,5;x\n", ["a", "b", "c"]),
        ('a,title,tags\n1,"One; two, three",x|y\n2,Four,z\n', ["a", "title", "tags"]),
        ("a\tname\n1\tx, y\n2\tz\n", ["a", "name"]),
        ("a|b\n1|2\n", ["a", "b"]),
        ("a\n1\n2\n", ["a"]),
        ("a,b", ["a", "b"]),
        ("\na;b\n1;2\n", ["a", "b"]),
        ('"a";"b, c"\n1;2\n', ["a", "b, c"]),
    ],
)
def test_the_separator_splits_the_header(content: str, columns: list[str]):
    assert [*_file(content).columns] == columns


def test_a_file_of_one_column_is_refused_with_the_separators_that_are_known(tmp_path):
    path = tmp_path / "recs.csv"
    path.write_text("user_id item_id score\n1 2 0.5\n")
    with pytest.raises(InputError) as caught:
        Table(path, "predictions").require("user_id")
    assert "Columns here: user_id item_id score. The file has one column" in str(caught.value)
    assert "a comma, a semicolon, a tab, '|'" in str(caught.value)


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
    path.write_text("user_id,g\n1,2\n")
    assert Table(path, "users").hint == ""


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
        assert file.notes == ([note] if is_read else [])


@pytest.mark.parametrize(
    ("values", "role", "meant"),
    [
        (["007", "7"], Role.NAME, ["007", "7"]),
        (["007", "7"], Role.LABEL, ["007", "7"]),
        (["007", "7"], Role.ANY, [7, 7]),
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
        (["", ""], Role.ANY, [None, None]),
        (['"1"', '"2"'], Role.LABEL, [1, 2]),
        (['"a ""b"""', '"c,d"'], Role.LABEL, ['a "b"', "c,d"]),
    ],
)
def test_text_stands_for_what_it_is_read_for(values: list[str], role: Role, meant: list[Any]):
    read = _column("\n".join(["a,x", *(f"1,{value}" for value in values)]), role)
    assert read.to_list() == meant
    assert [type(value) for value in read] == [type(value) for value in meant]


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


def test_blank_lines_at_the_end_are_no_rows(tmp_path: Path):
    path, end = tmp_path / "users.csv", "\r\n"
    text = end.join(["user_id,age", "1,30", "2,40"])
    path.write_bytes((text + 3 * end).encode())
    read = Table(path, "users").read({"user_id": "user_id", "score": "age"})
    assert read.rows() == [("1", 30.0), ("2", 40.0)]
    # elsewhere, a row may have been lost
    path.write_bytes((text.replace(f"{end}2", f"{end}{end}2") + end).encode())
    with pytest.raises(InputError, match="row 2: column 'user_id' is empty"):
        Table(path, "users").read({"user_id": "user_id"})


NUMBERS = (Role.NUMBER, Role.ANY)


@pytest.mark.parametrize("role", NUMBERS)
@pytest.mark.parametrize("marker", NO_NUMBER)
def test_a_marker_among_numbers_is_no_value_and_said(marker: str, role: Role):
    text = pl.Series(["1", marker, "2.5", None, marker])
    values, notes = parse_text(text, "x", role, has_decimal_comma=False)
    assert values.to_list() == [1, None, 2.5, None, None]
    said = f"'{marker}' in column 'x' is taken as missing"
    assert notes == ([said] if marker else [])


@pytest.mark.parametrize("marker", NO_NUMBER)
def test_a_marker_among_names_is_a_name_unless_it_can_be_none(marker: str):
    text = pl.Series(["a", marker, "b"])
    values, notes = parse_text(text, "x", Role.LABEL, has_decimal_comma=False)
    is_none = marker in NO_NAME
    assert values.to_list() == ["a", None if is_none else marker, "b"]
    said = f"'{marker}' in column 'x' is taken as missing"
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


def refuse(text: str) -> int:
    return refuse_ragged(text.encode(), "users.csv", ",", 3)[0]


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
        "id,name,gender\n",
    ],
)
def test_even_records_are_let_through(text):
    refuse(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "id,name,gender\n1,Ann,F\n2,Bob, Smith,M\n",
            r"row 2: 4 fields, where the header has 3 \(1 such",
        ),
        ("id,name,gender\n1,Ann\n2,Bob\n3,C,M\n", r"row 1: 2 fields, .* has 3 \(2 such rows\)\. "),
        ('id,name,gender\n1,"a",F,\n', "row 1: 4 fields, "),
        # as R writes them: a name for each row, and none for these names
        ('"id","name","gender"\n"1",1,"Ann","F"\n', "row 1: 4 fields, "),
    ],
)
def test_a_record_with_more_or_fewer_fields_is_refused_by_its_row(text, told):
    with pytest.raises(InputError, match=rf"^users\.csv, {told}"):
        refuse(text)


FIELDS = st.lists(st.text('ab",;', max_size=4), min_size=2, max_size=4)


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


@pytest.mark.parametrize(
    ("rows", "n_lost"),
    [
        (['1,"Ann,F', "2,Bob,M", '3,Eve",F', "4,Dan,M"], 2),
        (['1,"two', 'lines, and a comma",F', "2,Bob,M"], 0),
    ],
)
def test_rows_within_quotes_are_counted(rows: list[str], n_lost: int):
    file = _file("\n".join(["user_id,name,gender", *rows]))
    file.read({"x": "gender"}, {"x": Role.ANY})
    file.read({"x": "name"}, {"x": Role.ANY})
    assert [note.split(" lines that look like rows")[0] for note in file.notes] == (
        [f"check: t.csv: {n_lost}"] if n_lost else []
    )


def _with_stray_quote(frame: pl.DataFrame, path: Path) -> Path:
    """A file where the last row but three opens a quote that the last closes."""
    rows = frame.with_columns(title=pl.lit("x")).write_csv().splitlines()
    rows[-4], rows[-1] = f'{rows[-4][:-1]}"x', f'{rows[-1]}"'
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize("table", ["predictions", "users", "test", "values", "in parts"])
def test_rows_within_quotes_are_the_first_thing_to_check(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    n = 40
    users = pl.DataFrame({"user_id": range(n), "plan": ["a", "b"] * (n // 2)})
    pairs = users.select("user_id").join(pl.DataFrame({"item_id": [1, 2]}), how="cross")
    predictions = pairs.with_columns(score=1 / (pl.row_index() + 1))
    # the rows that are lost are of users without predictions
    tables = {"predictions": predictions.head(-8), "test": pairs.head(-8), "users": users}
    if table == "values":
        tables = {"values": users.with_columns(watched=1 / (pl.row_index() + 1)), "users": users}
    if table == "in parts":
        for name in ("predictions", "test"):
            tables[name].write_parquet(tmp_path / f"{name}.parquet")
            tables[name] = tmp_path / f"{name}.parquet"
        monkeypatch.setattr("fairrec.auditing.audit.is_large", lambda *_: True)
        table = "users"
    tables[table] = _with_stray_quote(tables[table], tmp_path / f"{table}.csv")
    warnings = fairrec.audit(**tables, by="plan", min_support=5).warnings
    told = f"check: {table}.csv: 3 lines that look like rows stand within quotes"
    assert any(one.startswith(told) for one in warnings), warnings
