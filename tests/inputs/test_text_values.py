"""Thousands that could be decimals are refused, and what stands for no value is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fairrec
from fairrec.core.errors import InputError
from fairrec.inputs.frames import Role
from fairrec.inputs.tables import Table
from fairrec.inputs.text_files import NO_NAME, NO_NUMBER, TextFile, may_be_in_thousands, parse_text
from tests.builders import audit, make_tables

NUMBERS = (Role.NUMBER, Role.ANY)


def _file(values: list[str], separator: str = ";") -> TextFile:
    lines = [f"a{separator}x", *(f"1{separator}{value}" for value in values)]
    return TextFile("\n".join(lines).encode(), "t.csv", separator)


def _read(values: list[str], role: Role, separator: str = ";") -> list[Any]:
    return _file(values, separator).read({"x": "x"}, {"x": role})["x"].to_list()


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


def test_a_name_is_what_is_written():
    assert _read(["900", "1.900"], Role.LABEL) == ["900", "1.900"]
    assert _read(["900", "1.900"], Role.NAME) == ["900", "1.900"]
    assert _read(["2.5", "1.9"], Role.LABEL) == [2.5, 1.9]


def test_numbers_show_whether_their_text_has_to_be_looked_at():
    assert may_be_in_thousands(pl.Series([900.0, 1.906, -12.5, None]))
    assert may_be_in_thousands(pl.Series([1.0, 2.0]))
    assert not may_be_in_thousands(pl.Series([900.0, 0.906]))
    assert not may_be_in_thousands(pl.Series([900.0, 1.9065]))
    assert not may_be_in_thousands(pl.Series([*[1.0] * 200, 1000.5]))


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
        fairrec.audit(values=path, **options)
    assert [*fairrec.audit(values=path, metrics="y", **options).metrics] == ["y"]
    with pytest.raises(InputError, match=r"column 'x' holds '1\.906'"):
        fairrec.audit(values=path, metrics="y", **{**options, "by": "x:100"})


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


def test_whole_numbers_and_truth_stay_so_beside_a_marker():
    whole, _ = parse_text(pl.Series(["1", "NULL"]), "x", Role.LABEL, has_decimal_comma=False)
    assert whole.to_list() == [1, None]
    truth, _ = parse_text(pl.Series(["true", "NA"]), "x", Role.ANY, has_decimal_comma=False)
    assert truth.to_list() == [True, None]


def test_a_marker_is_no_value_in_an_audit(tmp_path: Path):
    path = tmp_path / "v.csv"
    rows = [f"{user},{'FM'[user % 2]},{20 + user},{user}" for user in range(8)]
    rows[2], rows[3], rows[5] = '2,NULL,"",2', "3,M,NA,3", "5,M,25,NULL"
    path.write_text("\n".join(["user_id,gender,age,rev", *rows]))
    result = fairrec.audit(
        values=path, by="gender,age:10", permutations=0, min_support=1, max_undefined=1
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
