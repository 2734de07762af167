"""Codes of attributes mean the same for all users, whatever part they are in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from fairrec.inputs.formats import FileRows
from fairrec.inputs.tables import Table
from fairrec.inputs.users import UsersSlice, encode_attributes, read_users

USERS = pl.DataFrame(
    {
        "user_id": [5, 3, 9, 1],
        "langs": ["en|fr", "en", "de", None],
        "age": [20.0, 35.0, 50.5, 61.0],
    }
)
ASKED = ("langs:each", "age:10", "age:q2")


def test_values_are_those_of_audited_users_and_of_all():
    is_audited = np.array([True, True, False, True])
    columns, found = encode_attributes(Table(USERS, "users"), ASKED, is_audited)
    by_name = {one.spec.name: one for one in found}
    assert [*by_name] == ["langs[de]", "langs[en]", "langs[fr]", "age"]
    width, quantiles = (one for one in found if one.spec.name == "age")
    # half a year makes no difference unless somebody who is audited has it
    assert width.audited.values == ("20-29", "30-39", "60-69")
    assert width.everyone.values == ("[20, 30)", "[30, 40)", "[50, 60)", "[60, 70)")
    assert quantiles.audited.values == ("q1 [20, 35]", "q2 [61, 61]")
    assert columns["audited 3"].to_list() == [0, 1, -1, 2]
    assert columns["all 3"].to_list() == [0, 1, 2, 3]
    assert columns["audited 3"].dtype == pl.Int8


def test_users_of_a_part_are_sorted_and_have_their_attributes(tmp_path: Path):
    columns, found = encode_attributes(Table(USERS, "users"), ["age:10"], np.ones(4, dtype=bool))
    file = tmp_path / "users.parquet"
    pl.DataFrame({"id": USERS["user_id"], **columns}).write_parquet(file)

    def some(stop: int) -> UsersSlice:
        rows = (FileRows(file, 0, stop),)
        return UsersSlice("users", file, rows, columns=("user_id", "age"), attributes=found)

    mine = read_users(Table(some(3), "users"), ["age:10"])
    assert mine.ids.to_list() == [3, 5, 9]
    (age,) = mine.attributes(np.arange(3))
    assert age.labels.to_list() == ["[30, 40)", "[20, 30)", "[50, 60)"]
    assert len(read_users(Table(some(0), "users"), ["age:10"]).ids) == 0
