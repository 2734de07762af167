"""Frames of pandas are read the same with pyarrow and without it."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairrec.core.errors import InputError
from fairrec.inputs.frames import PandasFrame, open_frame
from fairrec.inputs.tables import Table
from tests.builders import as_lists, audit, make_tables, numbers_of, one_each

ROOT = Path(__file__).parents[2]
ONE = uuid.UUID(int=1)
BREAKS = [0, 10, 100, 200]

Make = Callable[[], Any]

READ: dict[str, tuple[Make, pl.DataType | type[pl.DataType], list[Any]]] = {
    "whole numbers": (lambda: np.array([1, 2], dtype=np.int32), pl.Int32, [1, 2]),
    "floats with a gap": (lambda: [1.5, np.nan], pl.Float64, [1.5, None]),
    "true/false": (lambda: [True, False], pl.Boolean, [True, False]),
    "nullable whole numbers": (lambda: pd.array([1, None], dtype="Int64"), pl.Int64, [1, None]),
    "nullable floats": (lambda: pd.array([1.5, None], dtype="Float64"), pl.Float64, [1.5, None]),
    "text": (lambda: ["a", None], pl.String, ["a", None]),
    "objects, every gap": (
        lambda: pd.Series(["a", None, np.nan, pd.NA, pd.NaT], dtype=object),
        pl.String,
        ["a", None, None, None, None],
    ),
    "objects, whole": (lambda: pd.Series([1, None], dtype=object), pl.Int64, [1, None]),
    "objects, numbers": (lambda: pd.Series([1, 2.5], dtype=object), pl.Float64, [1.0, 2.5]),
    "objects, of NumPy": (
        lambda: pd.Series([np.int64(1), np.float64(2.5), 3], dtype=object),
        pl.Float64,
        [1.0, 2.5, 3.0],
    ),
    "objects, decimals": (
        lambda: pd.Series([Decimal("1.5"), Decimal("NaN")], dtype=object),
        pl.Decimal(38, 1),
        [Decimal("1.5"), None],
    ),
    "objects, true/false": (
        lambda: pd.Series([True, None], dtype=object),
        pl.Boolean,
        [True, None],
    ),
    "uuids": (lambda: [ONE, None], pl.String, [str(ONE), None]),
    "categories": (lambda: pd.Categorical(["b", None, "a"]), pl.String, ["b", None, "a"]),
    "categories in order": (
        lambda: pd.Categorical(["b", "a"], categories=["b", "a"], ordered=True),
        pl.Enum(["b", "a"]),
        ["b", "a"],
    ),
    "cut": (
        lambda: pd.cut(pd.Series([150, 5, np.nan]), BREAKS),
        pl.Enum(["(0, 10]", "(10, 100]", "(100, 200]"]),
        ["(100, 200]", "(0, 10]", None],
    ),
    "intervals": (
        lambda: pd.arrays.IntervalArray.from_breaks([0, 1, 2]),
        pl.String,
        ["(0, 1]", "(1, 2]"],
    ),
    "periods": (lambda: pd.period_range("2020-01", periods=1, freq="M"), pl.String, ["2020-01"]),
    "times": (
        lambda: pd.Series(["2020-01-02", None], dtype="datetime64[ns]"),
        pl.Datetime("us"),
        [datetime.datetime(2020, 1, 2), None],
    ),
    "times of a zone": (
        lambda: pd.Series(["2020-01-02"], dtype="datetime64[ns, Europe/Berlin]"),
        pl.Datetime("us", "Europe/Berlin"),
        [datetime.datetime(2020, 1, 2, tzinfo=ZoneInfo("Europe/Berlin"))],
    ),
    "durations": (
        lambda: pd.Series([2000, None], dtype="timedelta64[ns]"),
        pl.Duration("us"),
        [datetime.timedelta(microseconds=2), None],
    ),
    "dates": (
        lambda: pd.Series([datetime.date(2020, 1, 2), None], dtype=object),
        pl.Date,
        [datetime.date(2020, 1, 2), None],
    ),
    "lists": (
        lambda: pd.Series([[1, 2], [], None, (3,)], dtype=object),
        pl.List(pl.Int64),
        [[1, 2], [], None, [3]],
    ),
    "lists of text": (lambda: [["a", "b"], []], pl.List(pl.String), [["a", "b"], []]),
    "arrays": (
        lambda: [np.array([1.5, 2], dtype=np.float32), np.array([], dtype=np.float32)],
        pl.List(pl.Float32),
        [[1.5, 2.0], []],
    ),
    "lists of other types": (lambda: [[1], [0.5]], pl.List(pl.Float64), [[1.0], [0.5]]),
    "arrays of other types": (
        lambda: [np.array([1, 2]), np.array([0.5]), None],
        pl.List(pl.Float64),
        [[1, 2], [0.5], None],
    ),
    "arrays of text": (
        lambda: [np.array(["a", None], dtype=object), np.array(["b"], dtype=object), None],
        pl.List(pl.String),
        [["a", None], ["b"], None],
    ),
    "series": (
        lambda: pd.Series([pl.Series([1, 2]), pl.Series([2**60 + 1, None]), None], dtype=object),
        pl.List(pl.Int64),
        [[1, 2], [2**60 + 1, None], None],
    ),
    "lists that are empty": (lambda: [[], []], pl.List(pl.Null), [[], []]),
}
"""How a column is made -> the type and the values it is read with."""


def _read(values: Any) -> pl.Series:
    frame = pd.DataFrame({"x": pd.Series(values), "y": 1})
    return PandasFrame(frame, "the users table").read({"x": "x"}, {})["x"]


@pytest.mark.parametrize("name", READ)
def test_columns_of_pandas_are_read_as_what_they_are(name: str):
    make, kind, values = READ[name]
    read = _read(make())
    assert read.dtype == kind
    assert read.to_list() == values


WITHOUT_PYARROW = """
import sys

class NotInstalled:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError("No module named 'pyarrow'", name=name)

sys.meta_path.insert(0, NotInstalled())
import warnings
warnings.simplefilter("error")
from tests.inputs import test_frames as all
for name in all.READ:
    all.test_columns_of_pandas_are_read_as_what_they_are(name)
for test in all.OF_AUDITS:
    test()
assert "pyarrow" not in sys.modules
print("read", len(all.READ), len(all.OF_AUDITS))
"""


@pytest.mark.slow
def test_pandas_needs_no_pyarrow():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PYARROW],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout == f"read {len(READ)} {len(OF_AUDITS)}\n"


def test_a_frame_of_pandas_gives_the_same_result():
    tables = make_tables()
    options: dict[str, Any] = {"by": "gender,age:20,member", "metrics": "mrr@3,urd,urp"}
    predictions, users, items, history = tables
    expected = audit(predictions, users, items=items, history=history, **options)
    held = [pd.DataFrame(table.to_dict(as_series=False)) for table in tables]
    lists = pd.DataFrame(as_lists(predictions).to_dict(as_series=False))
    for given_predictions in (held[0], lists):
        result = audit(given_predictions, held[1], items=held[2], history=held[3], **options)
        assert numbers_of(result) == numbers_of(expected)


def test_an_index_with_a_name_is_a_column():
    predictions, users = one_each({"a": 1, "b": 2}), {"group": ["x", "y"]}
    expected = audit(predictions, pd.DataFrame({"user_id": ["a", "b"], **users}), "group")
    named = pd.DataFrame(users, index=pd.Index(["a", "b"], name="user_id"))
    assert numbers_of(audit(predictions, named, "group")) == numbers_of(expected)
    two = pd.DataFrame(predictions.to_dict(as_series=False)).set_index(["user_id", "item_id"])
    assert numbers_of(audit(two, named, "group")) == numbers_of(expected)
    # a column of that name is meant where there are both
    both = named.assign(user_id=["b", "a"])
    assert Table(both, "users").read({"user_id": "user_id"})["user_id"].to_list() == ["b", "a"]


def test_an_index_without_a_name_is_named_in_the_remedy():
    frame = pd.DataFrame({"group": ["x", "y"]}, index=["a", "b"])
    remedy = r"no column 'user_id'.*rename_axis\('user_id'\)\.reset_index\(\)"
    with pytest.raises(InputError, match=remedy):
        audit(one_each({"a": 1, "b": 2}), frame, "group")
    with pytest.raises(InputError) as caught:
        audit(one_each({"a": 1, "b": 2}), frame.reset_index(drop=True), "group")
    assert "reset_index" not in str(caught.value)


def test_two_columns_of_one_name_are_refused():
    frame = pd.DataFrame([["a", "x", "y"]], columns=["user_id", "g", "g"])
    with pytest.raises(InputError, match=r"users table: several columns are named 'g'. Give each"):
        Table(frame, "users")


@pytest.mark.parametrize(
    ("values", "types"),
    [
        ([1, "1"], "int and str"),
        ([1.0, "1"], "float and str"),
        ([True, "a"], "bool and str"),
        ([[1], ["1"]], "int and str"),
        ([1, [1]], "int and list"),
        ([{1}, {2}], "set"),
        ([int, str], "type"),
        ([1j, 2j], "complex"),
        ([{"a": 1}, {"a": 2}], "dict"),
    ],
)
@pytest.mark.parametrize("column", ["plan", "user_id"])
def test_mixed_kinds_and_other_objects_are_refused_where_they_are_read(column, values, types):
    frame = pd.DataFrame({"user_id": [1, 2], "plan": ["a", "b"], "other": 1})
    frame[column] = pd.Series(values, dtype=object)
    table = Table(frame, "users")
    assert table.read({"=other": "other"}).height == 2
    told = f"column '{column}' cannot be read: it holds values of type {types}. .*.astype\\(str\\)"
    with pytest.raises(InputError, match=told):
        table.read({column: column})


OF_AUDITS = [
    test_a_frame_of_pandas_gives_the_same_result,
    test_an_index_with_a_name_is_a_column,
    test_an_index_without_a_name_is_named_in_the_remedy,
    test_two_columns_of_one_name_are_refused,
]


def test_columns_backed_by_arrow_are_read():
    import pyarrow as pa

    for kind, values in {pa.string(): ["a", None], pa.list_(pa.int64()): [[1], None]}.items():
        assert _read(pd.Series(values, dtype=pd.ArrowDtype(kind))).to_list() == values
    assert open_frame(pa.table({"a": [1]}), "users").columns == ["a"]


@pytest.mark.parametrize("source", [{"user_id": [1]}, [1, 2], 7, np.zeros((2, 2))], ids=str)
def test_what_is_no_table_is_refused(source: Any):
    with pytest.raises(
        InputError, match=r"users: \w+ is not a table that can be read .*Give a path or"
    ):
        Table(source, "users")


VALUES = {
    "Int64": st.integers(-(2**63), 2**63 - 1),
    "float64": st.floats(allow_nan=False),
    "object": st.text(max_size=4),
    "string": st.text(max_size=4),
    "boolean": st.booleans(),
    "category": st.text(max_size=2),
}


@given(data=st.data(), kind=st.sampled_from([*VALUES]))
def test_values_of_any_kind_come_back_with_their_gaps(data: st.DataObject, kind: str):
    values = data.draw(st.lists(st.none() | VALUES[kind], min_size=1, max_size=12))
    read = _read(pd.Series(values, dtype=kind)).to_list()
    assert read == values
