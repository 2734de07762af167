"""The files that an ONNX model names, against what the package `onnx` finds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data

from fairrec.scoring.models.onnx_file import OnnxModel
from fairrec.scoring.models.onnx_side_files import side_files


def outside(name: str, location: str) -> TensorProto:
    """A tensor whose numbers are in a file of their own."""
    tensor = numpy_helper.from_array(np.arange(6, dtype=np.float32), name)
    set_external_data(tensor, location, offset=0, length=24, checksum="none")
    tensor.ClearField("raw_data")
    return tensor


def graph_of(name: str, nodes: list[onnx.NodeProto], tensors: list[TensorProto]) -> onnx.GraphProto:
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [6])
    return helper.make_graph(nodes, name, [], [output], tensors)


def everywhere() -> onnx.ModelProto:
    """A model with weights outside in each place that can hold a tensor."""
    constant = helper.make_node("Constant", [], ["c"], value=outside("c", "sub/ünd.bin"))
    inner = graph_of("inner", [constant], [outside("i", "inner.bin"), outside("j", "first.bin")])
    branch = helper.make_node("If", ["a"], ["y"], then_branch=inner, else_branch=inner)
    several = helper.make_node("Own", [], ["z"], domain="own")
    several.attribute.append(
        helper.make_attribute("list", [outside("l", "list 1.bin"), outside("m", "list 2.bin")])
    )
    sparse = helper.make_sparse_tensor(outside("s", "values.bin"), outside("t", "indices.bin"), [9])
    graph = graph_of("outer", [branch, several], [outside("a", "first.bin")])
    graph.sparse_initializer.append(sparse)
    graph.initializer.append(numpy_helper.from_array(np.arange(1000.0), "inside"))
    function = helper.make_function(
        "own",
        "Own",
        [],
        ["o"],
        [helper.make_node("Constant", [], ["o"], value=outside("f", "function.bin"))],
        [helper.make_opsetid("", 17)],
    )
    return helper.make_model(graph, functions=[function], ir_version=8)


def test_every_place_that_can_hold_a_tensor_is_looked_at(tmp_path: Path):
    file = tmp_path / "model.onnx"
    file.write_bytes(everywhere().SerializeToString())
    assert side_files(file) == (
        *("first.bin", "function.bin", "indices.bin", "inner.bin"),
        *("list 1.bin", "list 2.bin", "sub/ünd.bin", "values.bin"),
    )


def test_a_model_with_its_weights_inside_names_none(tmp_path: Path):
    file = tmp_path / "model.onnx"
    graph = graph_of("whole", [], [numpy_helper.from_array(np.arange(1000.0), "location")])
    graph.doc_string = "location weights.bin"
    onnx.save(helper.make_model(graph), file)
    assert side_files(file) == ()


def test_a_file_cut_off_anywhere_is_an_error_or_names_fewer(tmp_path: Path):
    content = everywhere().SerializeToString()
    whole, file = 8, tmp_path / "model.onnx"
    n_refused = 0
    for length in range(1, len(content), 7):
        file.write_bytes(content[:length])
        try:
            assert len(side_files(file)) < whole
        except ValueError:
            n_refused += 1
    assert n_refused > 50
    for odd in (b"", b"no model at all", b"\x3a" * 100_000):
        file.write_bytes(odd)
        with pytest.raises(ValueError):
            side_files(file)


def test_the_identity_tells_which_file_holds_what(tmp_path: Path):
    file = tmp_path / "model.onnx"
    graph = graph_of("pair", [], [outside("a", "one"), outside("b", "two"), outside("c", "gone")])
    onnx.save(helper.make_model(graph), file)
    seen = set()
    for one, two in ((b"x", b"y"), (b"y", b"x"), (b"xy", b""), (b"x", b"y")):
        (tmp_path / "one").write_bytes(one)
        (tmp_path / "two").write_bytes(two)
        seen.add(OnnxModel(file).identity())
    assert len(seen) == 3
    (tmp_path / "gone").write_bytes(b"")
    assert OnnxModel(file).identity() not in seen
