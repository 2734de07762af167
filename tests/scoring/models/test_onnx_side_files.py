"""The files that an ONNX model names, against what the package `onnx` finds."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data

from fairrec.core.errors import InputError, plain
from fairrec.scoring.onnx_model import OnnxModel, find_side_files, refuse_outside


def outside(name: str, location: str) -> TensorProto:
    """A tensor whose numbers are in a file of their own."""
    tensor = numpy_helper.from_array(np.arange(6, dtype=np.float32), name)
    set_external_data(tensor, location, offset=0, length=24, checksum="none")
    tensor.ClearField("raw_data")
    return tensor


def graph_of(name: str, nodes: list[onnx.NodeProto], tensors: list[TensorProto]) -> onnx.GraphProto:
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [6])
    return helper.make_graph(nodes, name, [], [output], tensors)


def loadable(location: str, producer: str = "") -> onnx.ModelProto:
    """A model that onnxruntime loads, with six numbers outside."""
    node = helper.make_node("Identity", ["w"], ["y"])
    graph = graph_of("loadable", [node], [outside("w", location)])
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, producer_name=producer, opset_imports=opset, ir_version=8)


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
    assert find_side_files(file) == (
        *("first.bin", "function.bin", "indices.bin", "inner.bin"),
        *("list 1.bin", "list 2.bin", "sub/ünd.bin", "values.bin"),
    )


def test_a_model_with_its_weights_inside_names_none(tmp_path: Path):
    file = tmp_path / "model.onnx"
    graph = graph_of("whole", [], [numpy_helper.from_array(np.arange(1000.0), "location")])
    graph.doc_string = "location weights.bin"
    onnx.save(helper.make_model(graph), file)
    assert find_side_files(file) == ()


def test_a_file_cut_off_anywhere_is_an_error_or_names_fewer(tmp_path: Path):
    content = everywhere().SerializeToString()
    whole, file = 8, tmp_path / "model.onnx"
    n_refused = 0
    for length in range(1, len(content), 7):
        file.write_bytes(content[:length])
        try:
            assert len(find_side_files(file)) < whole
        except ValueError:
            n_refused += 1
    assert n_refused > 50
    for odd in (b"", b"no model at all", b"\x3a" * 100_000):
        file.write_bytes(odd)
        with pytest.raises(ValueError):
            find_side_files(file)


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


def test_only_a_file_in_the_form_of_onnxruntime_has_all_weights_inside(tmp_path: Path):
    file = tmp_path / "model.onnx"
    # the producer stands where the other form has its mark
    file.write_bytes(loadable("w.bin", producer="ORTModel exporter").SerializeToString())
    assert file.read_bytes()[4:8] == b"ORTM"
    np.arange(6, dtype=np.float32).tofile(tmp_path / "w.bin")
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "model.ORT")
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.add_session_config_entry("session.save_model_format", "ORT")
    onnxruntime.InferenceSession(file, options)
    assert find_side_files(file) == ("w.bin",)
    assert find_side_files(tmp_path / "model.ORT") == ()


def test_a_name_with_a_null_is_refused(tmp_path: Path):
    # onnxruntime would read w.bin
    file = tmp_path / "model.onnx"
    file.write_bytes(loadable("w.bin\0x").SerializeToString())
    with pytest.raises(InputError, match=r"model\.onnx: .*null"):
        OnnxModel(file).identity()


def test_a_number_without_end_is_refused_at_once(tmp_path: Path):
    file = tmp_path / "model.onnx"
    file.write_bytes(b"\xff" * 400_000)
    start = time.perf_counter()
    with pytest.raises(ValueError, match="a number without end"):
        find_side_files(file)
    assert time.perf_counter() - start < 1


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for models, with links that lead out of it."""
    home = tmp_path / "models"
    home.mkdir()
    numbers = np.arange(6, dtype=np.float32).tobytes()
    (tmp_path / "secret.bin").write_bytes(numbers)
    (home / "own.bin").write_bytes(numbers)
    (home / "link.bin").symlink_to("../secret.bin")
    (home / "beside.bin").symlink_to("own.bin")
    (home / "up").symlink_to("..")
    return home


@pytest.mark.parametrize(
    "location",
    [
        *("../secret.bin", "up/secret.bin", "link.bin", "a/../../secret.bin", ".."),
        *("/etc/passwd", "/dev/zero", "/proc/self/environ", "*/_ORT_MEM_ADDR_/*"),
    ],
)
def test_weights_outside_the_folder_of_the_model_are_refused_unread(location, folder: Path):
    file = folder / "m.onnx"
    file.write_bytes(loadable(location).SerializeToString())
    for refused in (lambda: OnnxModel(file).open(), lambda: OnnxModel(file).identity()):
        with pytest.raises(InputError, match=r"model's folder\. Give a complete") as error:
            refused()
        assert plain(location) in str(error.value)


@pytest.mark.parametrize("location", ["own.bin", "./own.bin", "beside.bin"])
def test_weights_within_the_folder_are_taken(location, folder: Path):
    file = folder / "m.onnx"
    file.write_bytes(loadable(location).SerializeToString())
    refuse_outside(file, find_side_files(file))
    assert "weights" in OnnxModel(file).identity()


def test_a_model_in_a_cache_of_links_has_its_weights_where_it_leads(tmp_path: Path):
    (blobs := tmp_path / "blobs").mkdir()
    (shown := tmp_path / "snapshot").mkdir()
    (blobs / "b1").write_bytes(loadable("own.bin").SerializeToString())
    (blobs / "b2").write_bytes(np.arange(6, dtype=np.float32).tobytes())
    (shown / "m.onnx").symlink_to("../blobs/b1")
    (shown / "own.bin").symlink_to("../blobs/b2")
    refuse_outside(shown / "m.onnx", ("own.bin",))


def test_a_file_in_the_format_of_onnxruntime_names_no_others(tmp_path: Path):
    content = b"\0\0\0\0ORTM" + b"\xff" * 9
    (tmp_path / "model.ort").write_bytes(content)
    assert find_side_files(tmp_path / "model.ort") == ()


@pytest.mark.parametrize("kind", [1, 5])
def test_fields_of_numbers_are_passed_over(tmp_path: Path, kind: int):
    """Eight or four bytes, which hold no name of a file."""
    size = 8 if kind == 1 else 4
    unknown = bytes([15 << 3 | kind]) + b"\x0a" * size
    model = loadable("weights.bin").SerializeToString()
    (tmp_path / "model.onnx").write_bytes(unknown + model)
    assert find_side_files(tmp_path / "model.onnx") == ("weights.bin",)
    (tmp_path / "cut.onnx").write_bytes(model + unknown[:-1])
    with pytest.raises(ValueError):
        find_side_files(tmp_path / "cut.onnx")
