"""Groups from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from fairrec.core.errors import InputError, UnknownNameError
from fairrec.groups.group import Group, is_member
from fairrec.inputs.users import Attribute
from fairrec.mitigation.splitting import read_groups

PEOPLE = (
    Attribute("gender", np.array([0, 1]), ("F", "M")),
    Attribute("age", np.array([0, 1]), (18, 25)),
    Attribute("member", np.array([0, 1]), (False, True)),
    Attribute("code", np.array([0, 1]), ("007", "7")),
)


def file_of(folder: Path, text: str) -> Path:
    path = folder / "groups.csv"
    path.write_text(text, encoding="utf-8")
    return path


def members_of(path: Path) -> list[list[int]]:
    return [np.flatnonzero(is_member(g, PEOPLE)).tolist() for g in read_groups(path, PEOPLE)]


def test_groups_of_a_csv_file(tmp_path):
    path = file_of(tmp_path, "gender,age,member\nF,,\n,25,\nM,25,true\n,18,\n")
    assert [g.label for g in read_groups(path, PEOPLE)][:2] == ["gender=F", "age=25"]
    assert members_of(path) == [[0], [1], [1], [0]]


def test_text_that_looks_like_a_number_is_kept(tmp_path):
    assert members_of(file_of(tmp_path, "code\n007\n7\n")) == [[0], [1]]


def test_groups_of_a_parquet_file(tmp_path):
    path = tmp_path / "groups.parquet"
    table = {"age": [25, None], "gender": [None, "F"], "member": [None, False]}
    pl.DataFrame(table).write_parquet(path)
    assert members_of(path) == [[1], [0]]


def test_whole_numbers_stored_as_floats_are_found(tmp_path):
    # pandas stores whole numbers with a gap so
    path = tmp_path / "groups.parquet"
    pl.DataFrame({"age": [25.0, None], "gender": [None, "F"]}).write_parquet(path)
    assert members_of(path) == [[1], [0]]
    assert members_of(file_of(tmp_path, "age,gender\n25.0,\n,F\n")) == [[1], [0]]


def test_a_group_named_twice_counts_once_and_the_table_of_an_audit_will_do(tmp_path):
    path = file_of(tmp_path, "age,gender,metric,value\n25,M,auc,0.5\n25,M,mrr@5,0.1\n")
    assert read_groups(path, PEOPLE) == [Group.of(gender="M", age=25)]


def test_a_column_that_is_no_attribute_is_refused(tmp_path):
    # left out, the group would be wider than it was meant to be
    path = file_of(tmp_path, "gender,agee\nM,25\n")
    with pytest.raises(UnknownNameError, match=r"No attribute 'agee'\. Did you mean 'age'"):
        read_groups(path, PEOPLE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sex,years\nF,25\n", r"groups.csv: no column is an attribute of this audit \(gender, age"),
        ("gender,age\nF,25\n,\n", r"groups.csv, row 2: the group has no condition. Fill in one."),
        ("gender\n", "groups.csv: the table is empty"),
        ("", "groups.csv: cannot be read as CSV"),
    ],
)
def test_bad_groups_are_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_groups(file_of(tmp_path, text), PEOPLE)


def test_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"none.csv: does not exist. Check the path."):
        read_groups(tmp_path / "none.csv", PEOPLE)
