"""Columns as the typed inputs of a model."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from fairrec.core.errors import InputError, ScoringError
from fairrec.scoring.features import (
    TensorSpec,
    as_tensor,
    choose_output,
    datatype_of,
    drop_column_axis,
    fill_inputs,
)


def objects(*values: Any) -> np.ndarray:
    return np.array(values, dtype=object)


@pytest.mark.parametrize(
    ("values", "datatype", "expected"),
    [
        (np.array([1, 2]), "INT64", [1, 2]),
        (np.array([1, 2]), "BYTES", ["1", "2"]),
        (objects("7", "-12"), "INT32", [7, -12]),
        (objects("a", "b"), "BYTES", ["a", "b"]),
        (np.array([1.0, 2.0]), "INT8", [1, 2]),
        (np.array([1, 2]), "FP32", [1.0, 2.0]),
        (np.array([True, False]), "BOOL", [True, False]),
        (np.array([True, False]), "INT64", [1, 0]),
        (np.array([], dtype=object), "INT64", []),
    ],
)
def test_values_are_given_in_the_type_of_the_input(values, datatype, expected):
    found = as_tensor(values, TensorSpec("x", datatype, (-1,)), "It")
    assert found.tolist() == expected


def test_missing_numbers_are_nan():
    found = as_tensor(objects(1, None), TensorSpec("x", "FP64", (-1,)), "It")
    assert found[0] == 1
    assert np.isnan(found[1])


@pytest.mark.parametrize(
    ("values", "datatype", "says"),
    [
        (objects("u1"), "INT64", "holds text, such as 'u1'"),
        (objects("007"), "INT64", "holds text, such as '007'"),
        (objects("²"), "INT64", "holds text"),
        (np.array([300]), "INT8", "INT8, which has no 300"),
        (np.array([-1]), "UINT32", "UINT32, which has no -1"),
        (np.array([1.5]), "INT64", "INT64, which has no 1.5"),
        (np.array([2]), "BOOL", "BOOL, which has no 2"),
        (objects(1, None), "INT64", "cannot be missing, but 1 of 2 values are"),
        (objects("a", None), "BYTES", "cannot be missing"),
        (np.array([1]), "COMPLEX", "of type COMPLEX. Known: BOOL"),
    ],
)
def test_values_that_do_not_fit_are_refused(values, datatype, says):
    with pytest.raises(InputError, match=re.escape(says)):
        as_tensor(values, TensorSpec("x", datatype, (-1,)), "The model")


COLUMNS = {"user_id": np.array([1]), "item_id": np.array([2]), "age": np.array([30])}


def specs(*names: str, shape: tuple[int, ...] = (-1,)) -> list[TensorSpec]:
    return [TensorSpec(name, "INT64", shape) for name in names]


def test_inputs_are_found_by_name_or_as_they_are_renamed():
    found = fill_inputs(specs("uid", "age"), COLUMNS, {"uid": "user_id"}, "It")
    assert [(one.name, one.column) for one in found] == [("uid", "user_id"), ("age", "age")]


@pytest.mark.parametrize(
    ("wanted", "renamed", "says"),
    [
        (specs("user_id", "item_id"), {}, "has no input for age"),
        (specs("user_id", "height", "age"), {}, "has an input 'height', but there is no such"),
        (specs("user_id", "age"), {"x": "age"}, "has no such input. It has user_id, age."),
        (specs("user_id", "age"), {"age": "years"}, "there is no column 'years'"),
        (specs("user_id", "age", shape=(-1, 3)), {}, "shape [-1, 3]"),
        (specs("user_id", "age", shape=(-1, 1, 1)), {}, "shape [-1, 1, 1]"),
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
    with pytest.raises(ScoringError, match=r"has no output 'c'\. It has a, b"):
        choose_output(["a", "b"], "c", "It")


def test_true_and_false_among_gaps_are_of_their_own_type():
    assert datatype_of(objects(True, None, False)) == "BOOL"
    # a flag beside a number is neither
    assert datatype_of(objects(True, 2)) == "BYTES"


def test_only_one_column_of_all_pairs_is_taken_for_scores():
    assert drop_column_axis([[1.0], [2.0]], 2).tolist() == [1.0, 2.0]
    assert drop_column_axis([[1.0], [2.0]], 3).shape == (2, 1)
    ragged = [[1.0], [2.0, 3.0]]
    assert drop_column_axis(ragged, 2) is ragged
