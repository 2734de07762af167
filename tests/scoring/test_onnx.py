"""Models in ONNX files, and the files of weights that they name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import polars as pl
import pytest
from onnx import TensorProto, helper, numpy_helper

import fairrec
from fairrec.core.errors import FairRecError, InputError
from fairrec.search.options import Search
from tests.builders import numbers_of
from tests.grouped_options import group_options

N_USERS, N_ITEMS, SIZE = 80, 12, 3
RNG = np.random.default_rng(1)
TASTES = RNG.normal(size=(N_USERS, SIZE)).astype(np.float32)
TRAITS = RNG.normal(size=(N_ITEMS, SIZE)).astype(np.float32)
USERS = pl.DataFrame(
    {
        "user_id": range(N_USERS),
        "gender": ["F", "M"] * (N_USERS // 2),
        "age": RNG.integers(18, 70, N_USERS),
    }
)
CANDIDATES = pl.DataFrame(
    {
        "user_id": range(N_USERS),
        "item_id": [RNG.permutation(N_ITEMS)[:6].tolist() for _ in range(N_USERS)],
        "label": [[1, 0, 0, 0, 0, 0]] * N_USERS,
    }
)


def expected_scores(user_ids: Any, item_ids: Any) -> np.ndarray:
    return (TASTES[user_ids] * TRAITS[item_ids]).sum(axis=1) + USERS["age"].to_numpy()[
        user_ids
    ].astype(np.float32)


def write_model(
    file: Path,
    names: tuple[str, str] = ("user_id", "item_id"),
    shape: tuple[Any, ...] = ("n",),
    outputs: tuple[str, ...] = ("score",),
    kind: int = TensorProto.INT64,
    tastes: np.ndarray = TASTES,
    weights: str | None = None,
) -> Path:
    """The product of two embeddings plus the age.

    Parameters
    ----------
    weights : a file beside the model that holds its numbers
    """
    user, item = names
    axes = [len(shape)]
    nodes = [
        helper.make_node("Cast", [user], ["u"], to=TensorProto.INT64),
        helper.make_node("Gather", ["tastes", "u"], ["taste"]),
        helper.make_node("Gather", ["traits", item], ["trait"]),
        helper.make_node("Mul", ["taste", "trait"], ["both"]),
        helper.make_node("ReduceSum", ["both", "axes"], ["sum"], keepdims=0),
        *[helper.make_node("Add", ["sum", "age"], [name]) for name in outputs],
    ]
    graph = helper.make_graph(
        nodes,
        "ranker",
        [
            helper.make_tensor_value_info(user, kind, shape),
            helper.make_tensor_value_info(item, TensorProto.INT64, shape),
            helper.make_tensor_value_info("age", TensorProto.FLOAT, shape),
        ],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in outputs],
        [
            numpy_helper.from_array(tastes, "tastes"),
            numpy_helper.from_array(TRAITS, "traits"),
            numpy_helper.from_array(np.array(axes), "axes"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    beside = {"save_as_external_data": True, "location": weights, "size_threshold": 100}
    onnx.save(model, file, **(beside if weights else {}))
    return file


def audit(scorer: Any, **options: Any) -> Any:
    return fairrec.audit(
        CANDIDATES,
        **group_options(
            users=USERS, by="gender", metrics="auc", permutations=9, scorer=scorer, **options
        ),
    )


@pytest.mark.parametrize("shape", [("n",), ("n", 1)])
def test_a_file_gives_the_result_of_the_same_function(shape, tmp_path: Path):
    file = write_model(tmp_path / "ranker.onnx", shape=shape)
    by_file = audit(fairrec.OnnxModel(file, features="users:age"))
    assert numbers_of(by_file)["metrics"] == numbers_of(audit(expected_scores))["metrics"]


def test_inputs_and_outputs_are_named(tmp_path: Path):
    names, outputs = ("uid", "iid"), ("logit", "other")
    file = write_model(tmp_path / "ranker.onnx", names, outputs=outputs)
    inputs = {"uid": "user_id", "iid": "item_id"}
    model = fairrec.OnnxModel(file, features="users:age", inputs=inputs, output="logit")
    assert numbers_of(audit(model))["metrics"] == numbers_of(audit(expected_scores))["metrics"]


def test_a_ledger_is_of_the_weights_beside_the_file_too(tmp_path: Path):
    how = Search("exact", ledger=tmp_path / "ledger.db")
    file = write_model(tmp_path / "ranker.onnx", weights="ranker.weights")
    model = fairrec.OnnxModel(file, features="users:age")
    before = file.read_bytes()
    assert [audit(model, search=how).summary.search.users_paid for _ in range(2)] == [N_USERS, 0]
    # trained again: the same layers, other numbers
    (tmp_path / "ranker.weights").unlink()
    write_model(file, weights="ranker.weights", tastes=-TASTES)
    assert file.read_bytes() == before
    with pytest.raises(InputError, match="another model"):
        audit(model, search=how)


@pytest.mark.parametrize(
    ("made", "options", "says"),
    [
        ({}, {}, "has an input 'age', but there is no such column"),
        ({"shape": ("n", 2)}, {"features": "users:age"}, "has shape [-1, 2]"),
        ({"outputs": ("a", "b")}, {"features": "users:age"}, "2 outputs (a, b). Say which"),
        (
            {"kind": TensorProto.INT8},
            {"features": "users:age", "inputs": {"user_id": "big"}},
            "there is no column 'big'",
        ),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_scored(made, options, says, tmp_path):
    file = write_model(tmp_path / "ranker.onnx", **made)
    with pytest.raises(FairRecError, match=re.escape(says)):
        audit(fairrec.OnnxModel(file, **options))


@pytest.mark.parametrize("content", [None, b"", b"no model at all"])
def test_a_file_that_is_no_model_is_refused(content, tmp_path: Path):
    file = tmp_path / "ranker.onnx"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError, match=r"onnx .*ranker\.onnx: "):
        audit(fairrec.OnnxModel(file))
