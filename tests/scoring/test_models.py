"""Python functions and trained runs as models, and the features that models are given."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from pytest import approx

from fairrec.core.errors import InputError, ScoringError
from fairrec.inputs.tables import Table
from fairrec.scoring import model
from fairrec.scoring.features import (
    TensorSpec,
    as_tensor,
    choose_output,
    fill_inputs,
    join_features,
)
from fairrec.scoring.model import FunctionModel, load_function
from fairrec.scoring.options import parse_features
from tests.grouped_options import on_command_line


def test_a_function_is_given_features_by_their_names():
    model = FunctionModel(
        lambda user_ids, item_ids, age: age + item_ids, name="f", features="users:age"
    )
    columns = {"user_id": np.array([1]), "item_id": np.array([2]), "age": np.array([30])}
    assert [one.name for one in model.bind(columns)] == ["user_id", "item_id", "age"]
    assert model.answer(columns).tolist() == [32]
    # scores under other features are those of another model, for a ledger
    assert model.identity() == "f users:age"
    assert FunctionModel(max, name="f").identity() == "f"


MODULE = """
import functools
limit = 3
def score(user_ids, item_ids):
    return [0.0] * len(user_ids)
def one_argument(user_ids):
    return user_ids
class Ranker:
    def score(self, user_ids, item_ids):
        return [1.0] * len(user_ids)
ranker = Ranker()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "own_rankers"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "good.py").write_text(MODULE)
    (package / "broken.py").write_text("raise RuntimeError('no weights here')")
    (package / "needy.py").write_text("import no_such_package_anywhere")
    yield tmp_path
    import sys

    for name in [name for name in sys.modules if name.startswith("own_rankers")]:
        del sys.modules[name]


def test_a_function_is_found_from_the_current_folder(folder: Path):
    function, name = load_function("own_rankers.good:score")
    assert function(["a", "b"], [1, 2]) == [0.0, 0.0]
    assert re.fullmatch("scorer own_rankers.good:score of file [0-9a-f]+", name)
    method, _ = load_function("own_rankers.good:ranker.score")
    assert method(["a"], [1]) == [1.0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("own_rankers.good", "expected package.module:function, got"),
        ("no_such_module:score", "No module named 'no_such_module'. Set PYTHONPATH; the current"),
        ("own_rankers.needy:score", "No module named 'no_such_package_anywhere'"),
        ("own_rankers.broken:score", "RuntimeError: no weights here"),
        ("own_rankers.good:scoer", "Did you mean 'score'?"),
        ("own_rankers.good:limit", "3 is not a callable object"),
        ("own_rankers.good:one_argument", "cannot be called as score(user_ids, item_ids)"),
    ],
)
def test_import_trouble_is_explained(text: str, says: str, folder: Path):
    with pytest.raises(InputError, match=re.escape(says)) as caught, on_command_line():
        load_function(text)
    assert str(caught.value).startswith((f"--scorer {text}", "invalid --scorer: "))


@pytest.mark.parametrize(
    ("features", "says"),
    [
        ("age", "invalid features: expected TABLE:COLUMN"),
        ("age,users:gender", "invalid features: expected TABLE:COLUMN"),
        ("users:age,items:age", "two columns would be called 'age'"),
        ("users:user_id", "two columns would be called 'user_id'"),
    ],
)
def test_what_names_no_column_or_one_twice_is_refused(features, says):
    with pytest.raises(InputError, match=re.escape(says)):
        parse_features(features)


USER_TABLE = pl.DataFrame(
    {
        "user_id": ["b", "a", "c"],
        "age": [20, 30, None],
        "height": [1.5, None, 1.7],
        "member": [True, False, True],
        "born": [date(2000, 1, 2), date(1990, 3, 4), None],
        "since": [timedelta(1), timedelta(2), None],
        "bytes": [b"\xff", b"a", None],
    }
)
ITEM_TABLE = pl.DataFrame(
    {"item_id": [2, 1], "genres": [["x", "y"], []], "odd": [{"a": 1}, {"a": 2}]}
)


def joined(features: str, users=("a", "b"), items=(1, 2, 9)):
    tables = {"users": Table(USER_TABLE, "users"), "items": Table(ITEM_TABLE, "items")}
    tables = {name: table for name, table in tables.items() if name in features}
    return join_features(parse_features(features), tables, pl.Series([*users]), pl.Series([*items]))


def test_values_follow_the_order_of_users_and_items():
    found = joined("users:age,users:member,items:genres,items:categories")
    assert found.per_user["age"].tolist() == [30, 20]
    assert found.per_user["member"].tolist() == [False, True]
    # lists are text joined with '|'; an item that is not in the table has no value
    assert found.per_item["genres"].tolist() == ["", "x|y", None]
    # categories are found by their usual names, and ids that look like numbers among numbers
    assert found.per_item["categories"].tolist() == ["", "x|y", None]
    assert joined("items:genres", items=["1", "2"]).per_item["genres"].tolist() == ["", "x|y"]


def test_what_is_missing_stays_missing():
    found = joined("users:age,users:height,users:born", users=["a", "c"])
    assert found.per_user["age"].tolist() == [30, None]
    height = found.per_user["height"].tolist()
    assert height[1] == 1.7
    assert height[0] != height[0], "NaN"
    assert found.per_user["born"].tolist() == ["1990-03-04", None]


@pytest.mark.parametrize(
    ("features", "says"),
    [
        ("users:shoe", "no column 'shoe', which features asks for. Columns here: user_id, age"),
        ("items:odd", "feature 'odd' holds Struct"),
        ("users:since", "feature 'since' holds Duration"),
    ],
)
def test_features_that_are_not_there_are_refused(features, says):
    with pytest.raises(InputError, match=re.escape(says)):
        joined(features)


def objects(*values: Any) -> np.ndarray:
    return np.array(values, dtype=object)


@pytest.mark.parametrize(
    ("values", "datatype", "expected"),
    [
        (np.array([1, 2]), "BYTES", ["1", "2"]),
        (objects("7", "-12"), "INT32", [7, -12]),
        (np.array([1.0, 2.0]), "INT8", [1, 2]),
        (np.array([1, 2]), "FP32", [1.0, 2.0]),
        (objects(1, None), "FP64", [1.0, approx(np.nan, nan_ok=True)]),
        (np.array([True, False]), "INT64", [1, 0]),
        (np.array([], dtype=object), "INT64", []),
    ],
)
def test_values_are_given_in_the_type_of_the_input(values, datatype, expected):
    assert as_tensor(values, TensorSpec("x", datatype, (-1,)), "It").tolist() == expected


@pytest.mark.parametrize(
    ("values", "datatype", "says"),
    [
        (objects("u1"), "INT64", "INT64, which has no 'u1'"),
        (objects("007"), "INT64", "INT64, which has no '007'"),
        (np.array([300]), "INT8", "INT8, which has no 300"),
        (np.array([1.5]), "INT64", "INT64, which has no 1.5"),
        (objects(1, None), "INT64", "cannot be missing, but 1 of 2 values are"),
        (np.array([1]), "COMPLEX", "of type COMPLEX. Known: BOOL"),
    ],
)
def test_values_that_do_not_fit_are_refused(values, datatype, says):
    with pytest.raises(InputError, match=re.escape(says)):
        as_tensor(values, TensorSpec("x", datatype, (-1,)), "The model")


COLUMNS = {"user_id": np.array([1]), "item_id": np.array([2]), "age": np.array([30])}


def specs(*names: str, shape: tuple[int, ...] = (-1,)) -> list[TensorSpec]:
    return [TensorSpec(name, "INT64", shape) for name in names]


@pytest.mark.parametrize(
    ("wanted", "renamed", "says"),
    [
        (specs("user_id", "item_id"), {}, "has no input for age"),
        (specs("user_id", "height", "age"), {}, "has an input 'height', but there is no such"),
        (specs("user_id", "age"), {"x": "age"}, "has no such input. It has user_id, age."),
        (specs("user_id", "age"), {"age": "years"}, "there is no column 'years'"),
        (specs("user_id", "age", shape=(-1, 3)), {}, "shape [-1, 3]"),
    ],
)
def test_inputs_that_cannot_be_filled_are_refused(wanted, renamed, says):
    with pytest.raises(InputError, match=re.escape(says)):
        fill_inputs(wanted, COLUMNS, renamed, "The model")


def test_the_output_is_the_only_one_the_one_named_score_or_the_one_asked_for():
    assert choose_output(["logit"], None, "It") == "logit"
    assert choose_output(["logit", "score"], None, "It") == "score"
    assert choose_output(["a", "b"], "b", "It") == "b"
    with pytest.raises(ScoringError, match=r"output=\.\.\."):
        choose_output(["a", "b"], None, "It")
    with pytest.raises(ScoringError, match=r"has no output 'c' \(a, b\)"):
        choose_output(["a", "b"], "c", "It")


def test_without_a_package_that_loads_runs_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr(model, "entry_points", lambda group: [])
    with pytest.raises(InputError, match=r"pip install 'fairrec\[paper\]'"):
        model.load_run(Path("a"))
