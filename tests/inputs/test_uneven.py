from __future__ import annotations

import csv
import gzip
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairrec.core.errors import InputError
from fairrec.inputs.tables import Table
from fairrec.inputs.text_files import refuse_ragged


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


def test_lines_before_the_header_do_not_count():
    refuse("sep=;\nid;name;gender\n1;a,b;F\n", ";", n_skipped=1)
    with pytest.raises(InputError, match="row 1: 2 fields"):
        refuse('sep=;\nid;name;gender\n1;"a\nb"\n', ";", n_skipped=1)


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
